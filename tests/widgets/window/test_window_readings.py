"""What samples say beside the drawing is made on a worker; the window's thread puts it in place, one part a frame."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from services.errors import UserError
from services.facts.model import NodeFacts
from services.series import Series
from tests.widgets import builders as b
from tests.widgets.fake_sources import NOW, FakeLiveSource, OpenWindow, open_window, settle
from widgets.common import spark as spark_module
from widgets.common.spark import Spark
from widgets.timeline.strip import EventStrip
from widgets.topology.inspector import prepared as inspector_told
from widgets.topology.inspector.panel import Action
from widgets.topology.inspector.prepared import Told

METRIC = "galera.recv_queue"


class FakeMemory(FakeLiveSource):
    """A live estate whose samples can be held back; notes the thread of each reading."""

    def __init__(self) -> None:
        cluster = b.healthy()
        nodes = tuple(
            replace(node, spark_metric=METRIC, facts=NodeFacts(node.host, NOW, galera=node.facts and node.facts.galera))
            for node in cluster.nodes
        )
        super().__init__(b.estate(replace(cluster, nodes=nodes)))
        self.open = threading.Event()
        self.open.set()
        self.readers: set[str] = set()
        self.broken = False

    def tail(self, server: str, metric: str, since: float) -> Series:
        self.readers.add(threading.current_thread().name)
        assert self.open.wait(10.0)
        if self.broken:
            raise UserError("no memory of that")
        return super().tail(server, metric, since)

    def poll(self) -> None:
        """Bring a newer snapshot, with new facts of every node."""
        self.present += 1.0
        cluster = self.newest.clusters[0]
        nodes = tuple(replace(node, facts=NodeFacts(node.host, self.present)) for node in cluster.nodes)
        self.newest = replace(self.newest, clusters=(replace(cluster, nodes=nodes),))


@pytest.fixture
def source() -> FakeMemory:
    return FakeMemory()


@pytest.fixture
def opened(qapp: QApplication, source: FakeMemory) -> Iterator[OpenWindow]:
    with open_window(qapp, source) as made:
        yield made
        source.open.set()


class Threads:
    """Notes the thread of each call of a function."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.of: dict[str, set[str]] = {"path": set(), "words": set()}
        begin, words = Spark.__init__, inspector_told.content

        def noted(made: Spark, *given: object) -> None:
            self.of["path"].add(threading.current_thread().name)
            begin(made, *given)  # type: ignore[arg-type]

        def said(*given: object, **more: object) -> object:
            self.of["words"].add(threading.current_thread().name)
            return words(*given, **more)  # type: ignore[arg-type]

        monkeypatch.setattr(spark_module.Spark, "__init__", noted)
        monkeypatch.setattr(inspector_told, "content", said)


def test_that_numbers_words_and_paths_are_made_on_a_worker(
    opened: OpenWindow, source: FakeMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened.settle()
    threads = Threads(monkeypatch)
    source.readers.clear()
    source.poll()
    opened.controller.pump.beat()
    opened.settle()
    assert source.readers
    assert "MainThread" not in source.readers
    made = threads.of["path"] | threads.of["words"]
    assert threads.of["words"]
    assert threads.of["path"]
    assert all(name.startswith("pilothouse-newest") for name in made)


def test_that_the_window_answers_while_samples_are_waited_for(opened: OpenWindow, source: FakeMemory) -> None:
    shown = opened.window.inspector.rows("")
    source.open.clear()
    opened.controller.select_node("db3")
    for _ in range(5):
        QApplication.processEvents()
    assert opened.window.topology.canvas.selected == "db3"
    assert opened.window.inspector.rows("") == shown
    source.open.set()
    opened.settle()
    assert opened.window.inspector.rows("") != shown


def test_that_a_node_left_meanwhile_is_not_shown(opened: OpenWindow, source: FakeMemory) -> None:
    told: list[str] = []
    show = opened.window.inspector.show_node

    def noted(what: Told | None, actions: tuple[Action, ...] = ()) -> None:
        told.append(what.node_id if what is not None else "")
        show(what, actions)

    opened.window.inspector.show_node = noted  # type: ignore[method-assign]
    source.open.clear()
    opened.controller.select_node("db2")
    opened.controller.select_node("db3")
    source.open.set()
    opened.settle()
    assert told
    assert set(told) == {"db3"}


def test_that_what_helps_another_node_cannot_be_pressed_until_the_chosen_one_is_shown(
    opened: OpenWindow, source: FakeMemory
) -> None:
    opened.controller.offer = lambda _cluster, node: (Action("restart", f"Restart {node.name}"),)
    opened.controller.select_node("db1")
    opened.settle()
    source.open.clear()
    source.poll()
    opened.controller.select_node("db1")
    opened.controller.select_node("db3")
    (button,) = (w for w in opened.window.inspector.findChildren(QPushButton) if w.text() == "Restart db1")
    assert not button.isEnabled()
    source.open.set()
    opened.settle()
    (button,) = (w for w in opened.window.inspector.findChildren(QPushButton) if w.text() == "Restart db3")
    assert button.isEnabled()


def test_that_the_present_is_not_shown_over_the_past(qtbot: QtBot, opened: OpenWindow, source: FakeMemory) -> None:
    source.past = {NOW - 1000.0: b.estate(b.sst_running())}
    source.open.clear()
    source.poll()
    opened.controller.pump.beat()
    opened.controller.look_at(NOW - 500.0)
    source.open.set()
    qtbot.waitUntil(lambda: opened.window.topology.canvas.item("db4") is not None, timeout=5000)
    opened.settle()
    assert opened.window.topology.canvas.item("db4") is not None


def test_that_what_discovery_says_is_shown_when_samples_cannot_be_read(opened: OpenWindow, source: FakeMemory) -> None:
    problems: list[UserError] = []
    opened.ops.failed.connect(problems.append)
    source.broken = True
    source.poll()
    source.newest = b.estate(b.sst_running())
    source.newest = replace(
        source.newest,
        clusters=tuple(
            replace(c, nodes=tuple(replace(n, spark_metric=METRIC) for n in c.nodes)) for c in source.newest.clusters
        ),
    )
    opened.controller.pump.beat()
    settle(opened.controller)
    assert problems
    assert opened.window.topology.canvas.item("db4") is not None


class Frames(QObject):
    """Notes which parts were painted in each frame: between two of the event loop's turns."""

    def __init__(self, **parts: QWidget) -> None:
        super().__init__()
        self._parts = {id(widget): name for name, widget in parts.items()}
        self.painted: list[set[str]] = [set()]

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint and id(watched) in self._parts:
            self.painted[-1].add(self._parts[id(watched)])
        return False

    def next(self) -> None:
        self.painted.append(set())


@pytest.mark.parametrize("page", ["topology", "charts"])
def test_that_strip_drawing_and_charts_are_never_painted_in_one_frame(
    qapp: QApplication, qtbot: QtBot, opened: OpenWindow, source: FakeMemory, page: str
) -> None:
    window = opened.window
    window.show_page(page)
    opened.settle()
    qtbot.wait(50)
    strip = window.findChild(EventStrip)
    assert strip is not None
    frames = Frames(strip=strip, drawing=window.topology.canvas.viewport())
    plots = [w for w in window.findChildren(QWidget) if type(w).__name__ == "Plot" and w.isVisible()]
    for number, plot in enumerate(plots):
        frames._parts[id(plot)] = f"plot {number}"
    qapp.installEventFilter(frames)
    for _ in range(3):
        source.poll()
        opened.controller.pump.beat()
        opened.controller.pump._begin()
        while opened.controller.busy():
            frames.next()
            QApplication.processEvents()
    qapp.removeEventFilter(frames)
    with_strip = [painted for painted in frames.painted if "strip" in painted]
    assert with_strip
    assert all(painted == {"strip"} for painted in with_strip)
    others = {name for painted in frames.painted for name in painted} - {"strip"}
    assert others
