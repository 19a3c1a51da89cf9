"""One selection and one moment for the whole window, on a fake source."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from services.events import Event
from services.types import Health
from tests.widgets import builders as b
from tests.widgets.fake_sources import NOW, FakeLiveSource, OpenWindow, open_window
from widgets.charts.page import ChartsPage
from widgets.journal.page import JournalPage
from widgets.timeline.strip import EventStrip

TRANSFER = Event(NOW - 120.0, "transfer", "SST from db2 to db4", Health.TRANSFER, until=NOW - 60.0, spans=True, key="s")


@pytest.fixture
def source() -> FakeLiveSource:
    made = FakeLiveSource(b.estate(b.sst_running(), b.tree_with_broken()))
    made.past = {NOW - 1000.0: b.estate(b.healthy(), b.tree_with_broken())}
    made.told = [TRANSFER]
    return made


@pytest.fixture
def opened(qtbot: QtBot, qapp: QApplication, source: FakeLiveSource) -> Iterator[OpenWindow]:
    with open_window(qapp, source) as made:
        yield made


def part(opened: OpenWindow, kind: type) -> object:
    found = opened.window.findChildren(kind)
    assert len(found) == 1
    return found[0]


def label_texts(widget: QWidget) -> set[str]:
    return {label.text() for label in widget.findChildren(QLabel)}


def charts(opened: OpenWindow) -> ChartsPage:
    found = part(opened, ChartsPage)
    assert isinstance(found, ChartsPage)
    return found


def strip(opened: OpenWindow) -> EventStrip:
    found = part(opened, EventStrip)
    assert isinstance(found, EventStrip)
    return found


def test_that_something_is_selected_from_the_start(opened: OpenWindow) -> None:
    node = opened.controller.node()
    assert node is not None
    assert opened.window.tree.selected() == node.node_id


@pytest.mark.parametrize("way", ["tree", "canvas", "controller"])
def test_that_a_node_chosen_anywhere_is_chosen_everywhere(opened: OpenWindow, way: str) -> None:
    window = opened.window
    if way == "tree":
        window.tree.node_selected.emit("db3")
    elif way == "canvas":
        window.topology.node_selected.emit("db3")
    else:
        opened.controller.select_node("db3")
    assert window.tree.selected() == "db3"
    assert window.topology.canvas.selected == "db3"
    assert opened.controller.node() is not None
    QApplication.processEvents()  # charts are made one a turn
    opened.settle()
    assert "CPU of db3" in [spec.title for spec in charts(opened).specs()]
    assert label_texts(window.inspector) >= {"db3"}


def test_that_a_node_of_another_cluster_brings_its_cluster(opened: OpenWindow) -> None:
    other = b.tree_with_broken()
    opened.controller.select_node(other.nodes[0].node_id)
    cluster = opened.controller.cluster()
    assert cluster is not None
    assert cluster.cluster_id == other.cluster_id
    assert charts(opened).header_texts()[0] == other.name


def test_that_legends_name_the_nodes_in_the_order_of_their_names(qtbot: QtBot, opened: OpenWindow) -> None:
    opened.controller.select_node("db1")
    qtbot.waitUntil(lambda: "flow" in [spec.key for spec in charts(opened).specs()])
    flow = next(spec for spec in charts(opened).specs() if spec.key == "flow")
    labels = [curve.label for curve in flow.curves]
    assert labels == sorted(labels)


def test_that_a_moment_of_the_past_is_looked_at_by_every_part(
    qtbot: QtBot, opened: OpenWindow, source: FakeLiveSource
) -> None:
    opened.controller.look_at(NOW - 500.0)
    qtbot.waitUntil(lambda: opened.controller.estate.clusters[0].name == "orders" and not _has(opened, "db4"))
    assert strip(opened).cursor_at() == NOW - 500.0
    assert charts(opened).crosshair() == NOW - 500.0
    assert "main" not in str(source.asked_from).lower()


def _has(opened: OpenWindow, node_id: str) -> bool:
    cluster = opened.controller.cluster()
    return cluster is not None and cluster.node(node_id) is not None


def test_that_the_past_stays_while_news_arrive(qtbot: QtBot, opened: OpenWindow, source: FakeLiveSource) -> None:
    opened.controller.look_at(NOW - 500.0)
    qtbot.waitUntil(lambda: not _has(opened, "db4"))
    source.newest = b.estate(b.sst_running())
    opened.controller.pump.beat()
    assert not _has(opened, "db4")


def test_that_end_returns_to_the_present(qtbot: QtBot, opened: OpenWindow) -> None:
    opened.controller.look_at(NOW - 500.0)
    qtbot.waitUntil(lambda: not _has(opened, "db4"))
    qtbot.keyClick(opened.window, Qt.Key.Key_End)
    assert opened.controller.moment is None
    assert _has(opened, "db4")
    assert strip(opened).cursor_at() is None
    assert charts(opened).crosshair() is None
    assert strip(opened).view().live


def test_that_a_line_of_the_journal_moves_the_whole_window(qtbot: QtBot, opened: OpenWindow) -> None:
    journal = opened.window.findChild(JournalPage)
    assert journal is not None
    journal.moment_chosen.emit(TRANSFER.at)
    assert opened.controller.moment == TRANSFER.at
    assert strip(opened).cursor_at() == TRANSFER.at


def test_that_strip_and_charts_show_the_same_span(opened: OpenWindow) -> None:
    strip(opened).range_changed.emit(NOW - 300.0, NOW - 100.0, False)
    assert (charts(opened).view().start, charts(opened).view().end) == (NOW - 300.0, NOW - 100.0)
    charts(opened).range_changed.emit(NOW - 60.0, NOW, True)
    assert (strip(opened).view().start, strip(opened).view().live) == (NOW - 60.0, True)


def test_that_a_console_that_just_started_shows_the_minute_it_knows(
    qtbot: QtBot, qapp: QApplication, source: FakeLiveSource
) -> None:
    source.begun = NOW - 20.0
    with open_window(qapp, source) as opened:
        qtbot.waitUntil(lambda: not opened.ops.busy())
        opened.controller.pump.beat()
        assert charts(opened).view().span == pytest.approx(60.0)
        source.present += 200.0
        opened.controller.pump.beat()
        assert charts(opened).view().span == pytest.approx(300.0)
        assert strip(opened).view().span == pytest.approx(300.0)


def test_that_a_span_somebody_chose_is_kept(qtbot: QtBot, qapp: QApplication, source: FakeLiveSource) -> None:
    source.begun = NOW - 20.0
    with open_window(qapp, source) as opened:
        charts(opened).range_changed.emit(NOW - 900.0, NOW, True)
        source.present += 1.0
        opened.controller.pump.beat()
        assert strip(opened).view().span == pytest.approx(900.0)


def test_that_the_inspector_tells_what_samples_say_of_the_machine(opened: OpenWindow) -> None:
    opened.controller.select_node("db1")
    opened.settle()
    words = dict(opened.window.inspector.rows("Machine"))
    assert words["CPU"].startswith("us ")
    assert words["in COMMIT"].endswith("threads")
    assert words["disk write"].endswith("ms")


def test_that_a_state_found_at_the_start_is_not_said_to_have_just_begun(
    opened: OpenWindow, source: FakeLiveSource
) -> None:
    cluster = b.healthy()
    nodes = tuple(replace(node, watched_since=node.state_since) for node in cluster.nodes)
    source.newest = b.estate(replace(cluster, nodes=nodes))
    opened.controller.pump.beat()
    opened.controller.select_node("db1")
    opened.settle()
    assert dict(opened.window.inspector.rows("Replication"))["state since"].startswith("before ")


def test_that_the_spark_is_called_by_its_title_in_the_catalogue(opened: OpenWindow, source: FakeLiveSource) -> None:
    cluster = b.healthy()
    nodes = tuple(replace(node, spark_metric="galera.recv_queue") for node in cluster.nodes)
    source.newest = b.estate(replace(cluster, nodes=nodes))
    opened.controller.pump.beat()
    opened.controller.select_node("db1")
    opened.settle()
    title = next(metric.title for metric in source.catalogue() if metric.key == "galera.recv_queue")
    assert f"{title}, last 60 s" in label_texts(opened.window.inspector)


def test_that_the_inspector_tells_the_way_back_by_ist_of_the_node_chosen(opened: OpenWindow) -> None:
    """The fake's samples are around 20: seconds of reach, bytes per second."""
    opened.controller.select_node("db3")
    opened.settle()
    shown = dict(opened.window.inspector.rows("Return by IST"))
    assert shown["this donor"].endswith(" s")
    assert shown["1 h away"].startswith("needs ")
    opened.controller.select_node("report1")
    opened.settle()
    assert opened.window.inspector.rows("Return by IST") == ()
