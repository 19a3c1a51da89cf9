"""The smallest window, 960 x 600: nothing overlaps, no words are cut in the middle of a letter, none is too small."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import pytest
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from tests.widgets import builders as b
from tests.widgets.fake_sources import FakeRecording, OpenWindow, open_window
from widgets.common.look.theme import apply_theme
from widgets.journal.page import JournalPage
from widgets.timeline.replay_bar import ReplayBar
from widgets.topology.edge_label import far_words
from widgets.topology.node_item import wrapped
from widgets.topology.view import TopologyView


@pytest.fixture
def opened(qapp: QApplication) -> Iterator[OpenWindow]:
    with open_window(qapp, FakeRecording()) as made:
        made.window.resize(960, 600)
        yield made


@pytest.mark.parametrize("page", ["topology", "journal"])
def test_that_the_replay_bar_says_its_position_whole(opened: OpenWindow, qtbot: QtBot, page: str) -> None:
    opened.window.show_page(page)
    opened.controller.look_at(b.AT - 253.0)
    qtbot.wait(20)
    bar = opened.window.findChild(ReplayBar)
    words = next(made for made in bar.findChildren(QLabel) if made.text().endswith("of 10 min"))
    assert words.fontMetrics().horizontalAdvance(words.text()) <= words.width()


def test_that_the_journals_fields_stand_side_by_side_and_its_table_needs_no_scrolling_across(
    opened: OpenWindow, qtbot: QtBot
) -> None:
    opened.window.show_page("journal")
    opened.controller.look_at(b.AT)
    qtbot.wait(20)
    page = opened.window.findChild(JournalPage)
    fields: list[QWidget] = [page._count, page._words, page._kind, page._least]
    for left, right in pairwise(fields):
        assert left.geometry().right() < right.geometry().left()
    assert page._table.horizontalScrollBar().maximum() == 0


def test_that_from_afar_a_state_takes_two_lines_and_a_transfer_is_one_that_can_be_read(
    qtbot: QtBot, qapp: QApplication
) -> None:
    apply_theme(qapp, "light")
    view = TopologyView()
    qtbot.addWidget(view)
    view.resize(411, 450)
    view.show_snapshot(b.sst_running(), {}, b.AT)
    view.show()
    qtbot.waitExposed(view)
    fonts = view.canvas.paint_state.fonts
    lines = wrapped("Joining: receiving SST", fonts.far_state_width, 168.0, 2)
    assert " ".join(lines) == "Joining: receiving SST"
    said = {far_words(label, fonts, label.rect.width()) for label in view.canvas.edges.labels()}
    assert {"SST · 36 %", "lag 0.4 s"} <= said
