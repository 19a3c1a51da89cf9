"""Edges that meet, shapes beside their words, sentences that take the room there is."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QComboBox, QLineEdit, QPushButton, QTableView, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from services.events import Event
from services.procedures.plan.checks import Check, Verdict
from services.types import Health
from tests.widgets import builders as b
from widgets.common.commands.shortcuts import PLACES
from widgets.common.controls.boxes import CutButton, HealthMark
from widgets.common.controls.labels import PlainLabel
from widgets.common.look.theme import apply_theme
from widgets.common.messages import MessageBar
from widgets.inventory.connection_dialog import ConnectionDialog
from widgets.journal.page import JournalPage
from widgets.procedures.words import checks_words
from widgets.timeline.placement import Mark, place_labels


@pytest.fixture(autouse=True)
def light(qapp: QApplication) -> None:
    apply_theme(qapp, "light")


def end_of(part: QWidget, page: QWidget) -> int:
    return part.mapTo(page, QPoint(part.width(), 0)).x()


@pytest.mark.parametrize("width", [1208, 1600, 900])
def test_that_the_journals_filter_ends_where_its_table_ends(qtbot: QtBot, width: int) -> None:
    page = JournalPage()
    qtbot.addWidget(page)
    page.resize(width, 500)
    page.show_events((Event(b.AT, "state", "db2: Synced"),))
    page.show()
    export = next(one for one in page.findChildren(QPushButton) if one.text().startswith("Export"))
    table = page.findChild(QTableView)
    assert table is not None
    qtbot.waitUntil(lambda: abs(end_of(export, page) - end_of(table, page)) <= 2)


@pytest.mark.parametrize("action", ["", "Retry now"])
@pytest.mark.parametrize("sentences", [("One line.",), ("One line.", "Another one.", "A third.")])
def test_that_the_shape_of_a_message_stands_beside_its_first_line(
    qtbot: QtBot, action: str, sentences: tuple[str, ...]
) -> None:
    bar = MessageBar()
    qtbot.addWidget(bar)
    bar.resize(700, 100)
    bar.say(Health.WARN, sentences, action)
    bar.show()
    bar.adjustSize()
    QApplication.processEvents()
    mark, words = bar.findChild(HealthMark), bar.findChild(PlainLabel)
    assert mark is not None
    assert words is not None
    first_line = words.y() + words.contentsRect().y() + words.fontMetrics().lineSpacing() / 2
    assert abs(mark.y() + mark.height() / 2 - first_line) <= 1.5
    button = next((one for one in bar.findChildren(QPushButton) if one.isVisible()), None)
    assert button is None or abs(button.y() + button.height() / 2 - first_line) <= 2.5


def test_that_all_fields_of_a_connection_begin_at_one_edge(qtbot: QtBot) -> None:
    dialog = ConnectionDialog()
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(dialog)
    dialog.resize(880, 1200)
    dialog.show()
    form = dialog.form
    fields: tuple[QLineEdit | QComboBox, ...] = (form.address, form.name, form.ssh_user, form.sql_user, form.tls)
    qtbot.waitUntil(lambda: len({field.mapTo(form, QPoint()).x() for field in fields}) == 1)


def test_that_a_sentence_of_the_strip_is_cut_only_where_another_one_stands() -> None:
    (alone,) = place_labels([Mark(100.0, (Event(1, "state", "w" * 60),))], _measured, 0.0, 1000.0)
    assert alone.width == _measured("w" * 60)
    first, second = Mark(100.0, (Event(1, "state", "w" * 60),)), Mark(300.0, (Event(2, "state", "b" * 60, Health.BAD),))
    labels = place_labels([first, second, Mark(310.0, (Event(3, "state", "c" * 60, Health.BAD),))], _measured, 0, 1000)
    ends = [(label.row, label.left, label.left + label.width) for label in labels]
    assert all(
        right <= left or row != other
        for index, (row, _, right) in enumerate(ends)
        for other, left, _ in ends[index + 1 :]
    )


def _measured(text: str) -> float:
    return 7.0 * len(text)


def test_that_zooming_is_called_that_on_the_sheet_of_keys() -> None:
    pairs = {(one.act, one.words) for place in PLACES for one in place.shortcuts if one.act.startswith("zoom")}
    assert pairs == {("zoom-in", "Zoom in"), ("zoom-out", "Zoom out")}


def test_that_a_button_breaks_its_words_before_it_cuts_them(qtbot: QtBot) -> None:
    made = CutButton("Start the cluster after all nodes went down")
    qtbot.addWidget(made)
    whole = made.fontMetrics().horizontalAdvance(made.text()) + 40
    made.resize(whole, 30)
    assert made.shown_text() == made.text()
    one = made.heightForWidth(whole)
    made.resize(whole * 3 // 4, 60)
    assert made.shown_text().replace("\n", " ") == made.text()
    assert made.shown_text().count("\n") == 1
    assert made.heightForWidth(whole * 3 // 4) == one + made.fontMetrics().lineSpacing()
    made.resize(whole // 4, 60)
    assert made.shown_text().endswith("…"), "two lines are its most"


@pytest.mark.parametrize("words", ["Start the cluster after all nodes went down...", "Retry now"])
def test_that_a_button_is_as_high_as_its_broken_words(qtbot: QtBot, words: str) -> None:
    page = QWidget()
    rows = QVBoxLayout(page)
    made = CutButton(words)
    rows.addWidget(made)
    rows.addStretch(1)
    qtbot.addWidget(page)
    page.resize(260, 400)
    page.show()
    qtbot.waitExposed(page)
    lines = made.shown_text().count("\n") + 1
    assert made.height() == made.sizeHint().height() + (lines - 1) * made.fontMetrics().lineSpacing()


def test_that_the_line_of_a_checklist_cuts_no_position_in_its_middle() -> None:
    state = "3deafd00-eb63-11f1-9f49-b73968f2bfac"
    long = f"s1: grastate {state}:-1, recovered not yet, last seen {state}:15 - no candidate"
    warned = Check("POSITIONS", "The positions of the nodes", Verdict.WARN, long)
    assert checks_words((warned,)) == "0 pass · 1 warning: The positions of the nodes"
    short = replace(warned, evidence="db1: 18.2 GB free")
    assert checks_words((short,)).endswith(": db1: 18.2 GB free")
