"""The window measures a change: on a fake recording with one number that rises, from the marks to the table."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.mark_shelf import SessionShelf, StateShelf
from app.window.charts.kept_feed import KeptFeed
from app.window.session import RecordingOpener
from services.events import Event
from services.history.marked_change import ChangeMark
from services.procedures.service.person import person_here
from services.sampling.change.judge import LOAD
from services.series import Series
from tests.unit.sampling.change_series import remembering
from tests.widgets.fake_sources import NOW, FakeOps, FakeRecording, OpenWindow, open_window
from widgets.bridge.ops import Ops
from widgets.charts.compare.panel import ComparePanel
from widgets.charts.page import ChartsPage
from widgets.common.look.theme import apply_theme
from widgets.timeline.strip import EventStrip

SECONDS = 1_500
BEFORE, AFTER = (NOW - 1_400.0, NOW - 800.0), (NOW - 700.0, NOW - 100.0)


class Stepped(FakeRecording):
    """Its load is steady, its write latency rises from 8 to 11 ms half way; it offers nothing else."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = NOW - SECONDS
        self.past = {self.begun: next(iter(self.past.values()))}
        noise = remembering(np.random.default_rng(6), 2, SECONDS, 0.4)
        self._of = {
            LOAD: 1_000.0 + 30.0 * noise[0],
            "disk.write_latency": 8.0 + noise[1] + np.where(np.arange(SECONDS) >= SECONDS // 2, 3.0, 0.0),
        }
        self.recorded = (
            Event(NOW - 790.0, "run", "Run 47 begins: x", key="run:47:"),
            Event(NOW - 780.0, "step", "Run 47, step 3: y", key="run:47:set"),
            Event(NOW - 770.0, "run", "Run 47 is done: x", key="run:47:done"),
        )

    def series(self, server: str, metric: str, start: float, end: float, points: int) -> Series:
        if metric not in self._of:
            return Series(metric, np.empty(0), np.empty(0), missing="It is not offered.", lacks="not offered")
        t = self.begun + np.arange(SECONDS)
        inside = (t >= start) & (t < end)
        return Series(metric, t[inside], self._of[metric][inside])


@pytest.fixture
def opened(qtbot: QtBot, qapp: QApplication) -> Iterator[OpenWindow]:
    with open_window(qapp, Stepped()) as made:
        made.window.show_page("charts")
        made.controller.look_at(NOW)
        made.controller.pump.beat()
        yield made


def panel(opened: OpenWindow) -> ComparePanel:
    page = opened.window.findChild(ChartsPage)
    assert page is not None
    return page.compare


def rows(made: ComparePanel) -> dict[str, str]:
    table = made.table
    cells = [[table.item(row, column) for column in range(table.columnCount())] for row in range(table.rowCount())]
    texts = [[cell.text() for cell in row if cell is not None] for row in cells]
    return {row[1]: row[-1] for row in texts}


def test_that_marks_become_a_table_of_what_differs_and_what_does_not(opened: OpenWindow, qtbot: QtBot) -> None:
    made = panel(opened)
    made.open_panel()
    made.take(*BEFORE)
    made.take(*AFTER)
    qtbot.waitUntil(made.table.isVisible, timeout=10_000)
    assert rows(made) == {
        "write latency (disk.write_latency)": "higher, by a large margin",
        "Questions (load.questions)": "no difference shown",
    }
    assert made.summary.text().startswith("1 metric differs, 1 shows no difference, 0 are not known. ")


def test_that_windows_in_the_wrong_order_are_refused_in_words(opened: OpenWindow, qtbot: QtBot) -> None:
    made = panel(opened)
    made.open_panel()
    made.take(*AFTER)
    made.take(*BEFORE)
    qtbot.waitUntil(lambda: "begins before" in made.summary.text(), timeout=10_000)
    assert not made.table.isVisible()


def test_that_every_node_is_compared_where_that_is_chosen(opened: OpenWindow, qtbot: QtBot) -> None:
    made = panel(opened)
    made.open_panel()
    made.whom.setCurrentIndex(1)
    made.take(*BEFORE)
    made.take(*AFTER)
    cluster = opened.controller.cluster()
    assert cluster is not None
    watched = [node for node in cluster.nodes if node.host]
    qtbot.waitUntil(lambda: made.table.rowCount() == 2 * len(watched), timeout=10_000)
    assert not made.table.isColumnHidden(0)


def test_that_a_run_of_the_events_is_offered_and_its_windows_are_compared(opened: OpenWindow, qtbot: QtBot) -> None:
    made = panel(opened)
    made.open_panel()
    assert [made.run.itemText(n) for n in range(made.run.count())] == ["around a run…", "Run 47 begins: x"]
    made.run.setCurrentIndex(1)
    made.run.activated.emit(1)
    qtbot.waitUntil(made.table.isVisible, timeout=10_000)
    assert "10 min" in made.sides["before"].text()
    assert "higher" in rows(made)["write latency (disk.write_latency)"]


def test_that_both_stretches_are_marked_on_the_event_strip_by_keys(opened: OpenWindow, qtbot: QtBot) -> None:
    strip, made = opened.window.findChild(EventStrip), panel(opened)
    assert strip is not None
    opened.window.show_page("topology")
    for key, at in zip((Qt.Key.Key_B, Qt.Key.Key_B, Qt.Key.Key_A, Qt.Key.Key_A), (*BEFORE, *AFTER), strict=True):
        opened.controller.look_at(at)
        opened.settle()
        strip.set_cursor(at)
        qtbot.keyClick(strip, key)
    assert opened.window.page() == "charts"
    assert made.marks == ((*BEFORE, "before"), (*AFTER, "after"))
    qtbot.waitUntil(made.table.isVisible, timeout=10_000)


def test_that_marks_are_kept_found_again_in_the_next_window_and_removed(
    qtbot: QtBot, qapp: QApplication, tmp_path: Path
) -> None:
    shelf = StateShelf(tmp_path / "state.sqlite", "orders")
    with open_window(qapp, Stepped(), shelf=shelf) as opened:
        opened.window.show_page("charts")
        made = panel(opened)
        made.open_panel()
        made.take(*BEFORE)
        made.take(*AFTER)
        made.kept.name.setText("write cache off")
        qtbot.keyClick(made.kept.name, Qt.Key.Key_Return)
        qtbot.waitUntil(lambda: made.kept.said.text().startswith("Kept."), timeout=30_000)
        assert not made.kept.name.isVisible()
    (mark,) = shelf.all()
    assert (mark.name, mark.before, mark.after, mark.made_by) == ("write cache off", BEFORE, AFTER, person_here())
    with open_window(qapp, Stepped(), shelf=shelf) as opened:
        opened.window.show_page("charts")
        opened.controller.look_at(NOW)
        opened.controller.pump.beat()
        made = panel(opened)
        made.open_panel()
        qtbot.waitUntil(made.kept.box.isVisible, timeout=30_000)
        made.kept.box.activated.emit(1)
        qtbot.waitUntil(made.table.isVisible, timeout=30_000)
        assert made.marks == ((*BEFORE, "before"), (*AFTER, "after"))
        assert person_here() in made.kept.said.text()
        qtbot.mouseClick(made.kept.remove, Qt.MouseButton.LeftButton)
        qtbot.waitUntil(lambda: "was removed" in made.kept.said.text(), timeout=30_000)
        assert made.kept.name.text() == "write cache off"
        assert made.marks == ((*BEFORE, "before"), (*AFTER, "after"))
    assert shelf.all() == ()


def test_that_a_name_that_is_refused_is_said_and_stays_in_its_field(opened: OpenWindow, qtbot: QtBot) -> None:
    made = panel(opened)
    made.open_panel()
    made.take(*BEFORE)
    made.take(*AFTER)
    made.kept.name.setText("password = hunter2")
    made.kept.keep.click()
    qtbot.waitUntil(lambda: "contain a password" in made.kept.said.text(), timeout=30_000)
    assert made.kept.name.isVisible()
    assert made.kept.name.text() == "password = hunter2"


def test_that_a_mark_that_came_with_a_recording_is_chosen_and_can_not_be_removed(
    qtbot: QtBot, qapp: QApplication
) -> None:
    with open_window(qapp, Stepped(), shelf=SessionShelf((ChangeMark(0, "redo", BEFORE, AFTER, NOW),))) as opened:
        opened.window.show_page("charts")
        made = panel(opened)
        made.open_panel()
        qtbot.waitUntil(made.kept.box.isVisible, timeout=30_000)
        made.kept.box.activated.emit(1)
        assert "part of the recording" in made.kept.said.text()
        assert not made.kept.remove.isVisible()


def test_that_a_demo_keeps_marks_for_its_window_only_and_a_replay_in_the_data_folder(tmp_path: Path) -> None:
    demo = RecordingOpener(tmp_path / "x", autoplay=True, start_s=None)
    assert isinstance(demo.shelf(), SessionShelf)
    replay = RecordingOpener(tmp_path / "x", autoplay=False, start_s=None, options=Namespace(data=tmp_path))
    shelf = replay.shelf()
    assert isinstance(shelf, StateShelf)
    assert shelf.file == tmp_path / "state.sqlite"
    (tmp_path / "in the way").write_text("")
    nowhere = RecordingOpener(
        tmp_path / "x", autoplay=False, start_s=None, options=Namespace(data=tmp_path / "in the way")
    )
    assert isinstance(nowhere.shelf(), SessionShelf)


def test_that_nothing_that_was_to_be_kept_is_dropped_for_a_newer_call(qtbot: QtBot, qapp: QApplication) -> None:
    apply_theme(qapp, "light")
    page, shelf, ops = ChartsPage(), SessionShelf(), FakeOps()
    qtbot.addWidget(page)
    KeptFeed(page, shelf, cast("Ops", ops))
    panel = page.compare
    panel.open_panel()
    panel.take(*BEFORE)
    panel.take(*AFTER)
    panel.kept.name.setText("redo")
    panel.kept.keep.click()
    panel.close_panel()
    panel.open_panel()
    listing, keeping, again = tuple(ops.waiting)
    ops.do(keeping)
    ops.do(again)
    assert [mark.name for mark in shelf.all()] == ["redo"]
    assert panel.kept.current() is not None
    ops.answer(listing, ())  # it was overtaken: it knows less
    assert panel.kept.current() is not None
