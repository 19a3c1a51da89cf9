"""The window measures a change: on a fake recording with one number that rises, from the marks to the table."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from services.events import Event
from services.sampling.change.judge import LOAD
from services.series import Series
from tests.unit.sampling.change_series import remembering
from tests.widgets.fake_sources import NOW, FakeRecording, OpenWindow, open_window
from widgets.charts.compare_panel import ComparePanel
from widgets.charts.page import ChartsPage
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
        "write latency (disk.write_latency)": "higher, by far",
        "Questions (load.questions)": "no difference shown",
    }
    assert made.summary.text().startswith("1 number differs, 1 shows no difference, 0 are not known. ")


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
