"""The journal: newest first, filtered, exported, a way back into the past."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester, QSignalSpy
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QTableView
from pytestqt.qtbot import QtBot

from services.errors import BadInput
from services.events import Event
from services.types import Health
from tests.widgets.builders import AT
from widgets.common.event_words import lasted
from widgets.common.look.text import format_clock, format_moment
from widgets.common.look.theme import apply_text_size, apply_theme
from widgets.journal.events_model import KIND, KINDS, LASTED, TIME, WHAT, EventsModel, as_csv
from widgets.journal.page import JournalPage

EVENTS = (
    Event(AT - 300, "state", "db4 stopped", Health.BAD, "orders", "db4"),
    Event(AT - 200, "transfer", "SST from db2 to db4", Health.TRANSFER, "orders", "db4", spans=True, key="t"),
    Event(AT - 150, "gap", "no samples from db3", Health.UNKNOWN, "orders", "db3", until=AT - 100, spans=True),
    Event(AT - 50, "variable", "sync_binlog on db1: 1 to 0", Health.WARN, "orders", "db1"),
)


@pytest.fixture
def large_text(qapp: QApplication) -> Iterator[None]:
    apply_text_size(qapp, 150)
    yield
    apply_text_size(qapp, 100)


@pytest.fixture
def page(qtbot: QtBot, qapp: QApplication) -> JournalPage:
    apply_theme(qapp, "light")
    made = JournalPage()
    qtbot.addWidget(made)
    made.resize(1000, 600)
    made.show()
    made.show_events(EVENTS)
    return made


def test_that_the_newest_event_stands_on_top(page: JournalPage) -> None:
    assert [e.text for e in page.shown()] == [e.text for e in reversed(EVENTS)]


@pytest.mark.parametrize(
    ("words", "kind", "least", "texts"),
    [
        ("DB4", "", Health.GOOD, ["SST from db2 to db4", "db4 stopped"]),
        ("db4 sst", "", Health.GOOD, ["SST from db2 to db4"]),
        ("", "gap", Health.GOOD, ["no samples from db3"]),
        ("", "", Health.WARN, ["sync_binlog on db1: 1 to 0", "db4 stopped"]),
        ("nothing", "", Health.GOOD, []),
    ],
)
def test_that_the_filter_lets_through_what_it_says(
    page: JournalPage, words: str, kind: str, least: Health, texts: list[str]
) -> None:
    page.set_filter(words=words, kind=kind, least=least)
    assert [e.text for e in page.shown()] == texts


def test_that_a_new_event_is_inserted_not_reset() -> None:
    model = EventsModel()
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    model.show_events(EVENTS[:2])
    inserted, reset = QSignalSpy(model.rowsInserted), QSignalSpy(model.modelReset)
    model.show_events(EVENTS)
    model.show_events(EVENTS)
    assert (inserted.count(), reset.count()) == (1, 0)
    assert model.rows == tuple(reversed(EVENTS))
    assert tester.model() is model


def test_that_what_is_told_late_stands_at_the_time_it_shows() -> None:
    model = EventsModel()
    QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    model.show_events(EVENTS)
    reset, inserted = QSignalSpy(model.modelReset), QSignalSpy(model.rowsInserted)
    late = replace(EVENTS[0], at=AT - 170, text="db1 was silent, as is known now")
    model.show_events((*EVENTS, late))
    assert [event.at for event in model.rows] == sorted((e.at for e in (*EVENTS, late)), reverse=True)
    assert (reset.count(), inserted.count(), inserted.at(0)[1:]) == (0, 1, [2, 2])


def test_that_spans_say_how_long_they_lasted() -> None:
    assert [lasted(e) for e in EVENTS] == ["", "still on", "50 s", ""]


def test_that_an_outage_that_was_not_over_when_watching_stopped_is_told_as_that(page: JournalPage) -> None:
    left = Event(AT - 400, "connection", "db4 does not answer", until=AT - 340, spans=True, unseen_end=True)
    at_once = replace(left, until=left.at)
    page.show_events((left, at_once))
    cells = page.findChild(QTableView).model()  # type: ignore[union-attr]
    at = format_clock(AT - 340, seconds=False)
    words = f"db4 does not answer; still in progress when Pilothouse stopped watching (at {at})"
    assert cells.index(1, WHAT).data() == words
    assert [cells.index(row, LASTED).data() for row in (1, 0)] == ["1 min or more", "not known"]
    (row, _) = csv.DictReader(io.StringIO(as_csv((left, at_once))))
    assert (row["until"], row["text"]) == ("", words)
    page.set_filter(words="stopped watching")
    assert len(page.shown()) == 2


def test_that_sentences_keep_their_room_where_text_is_large_and_the_other_columns_give_way(
    page: JournalPage, large_text: None
) -> None:
    page.resize(960, 600)
    table = page.findChild(QTableView)
    assert table is not None
    widths = {column: table.columnWidth(column) for column in (TIME, WHAT, KIND, LASTED)}
    assert widths[WHAT] >= 510, widths
    assert widths[KIND] < widths[LASTED] < widths[TIME] < widths[WHAT]
    assert sum(widths.values()) <= table.viewport().width(), "nothing lies behind the edge"
    tips = [table.model().index(1, column).data(int(Qt.ItemDataRole.ToolTipRole)) for column in (TIME, KIND, LASTED)]
    assert tips == [format_moment(AT - 150), "gap in the samples", "50 s"]


def test_that_columns_have_their_whole_width_where_there_is_room(page: JournalPage) -> None:
    page.resize(1440, 600)
    table = page.findChild(QTableView)
    assert table is not None
    assert [table.columnWidth(column) for column in (TIME, WHAT, KIND)] == [176, 880, 152]
    for words in KINDS.values():
        assert table.fontMetrics().horizontalAdvance(words) + 24 <= table.columnWidth(KIND), words


def test_that_events_of_other_inventories_are_left_out_and_told_until_they_are_wanted(
    page: JournalPage, qtbot: QtBot, tmp_path: Path
) -> None:
    other = Event(AT - 120, "state", "n1: Stopped", Health.BAD, node_id="n1", inventory="b")
    page.know_others((other,))
    assert other not in page.shown()
    words = "1 event of the last day belongs to another inventory"
    (line,) = (label for label in page.findChildren(QLabel) if label.text() == words)
    assert line.isVisible()
    (turn,) = (made for made in page.findChildren(QPushButton) if made.text() == "Show")
    qtbot.mouseClick(turn, Qt.MouseButton.LeftButton)
    assert page.shown()[1] == other
    assert page.findChild(QTableView).model().index(1, WHAT).data() == "another inventory: n1: Stopped"  # type: ignore[union-attr]
    page.export(tmp_path / "journal.csv")
    assert "another inventory: n1: Stopped" in (tmp_path / "journal.csv").read_text(encoding="utf-8")
    qtbot.mouseClick(turn, Qt.MouseButton.LeftButton)
    assert other not in page.shown()
    page.know_others(())
    assert not line.isVisible()


def test_that_activating_a_row_leads_to_its_moment(page: JournalPage) -> None:
    table = page.findChild(QTableView)
    assert table is not None
    spy = QSignalSpy(page.moment_chosen)
    table.activated.emit(table.model().index(0, 2))
    assert spy.at(0) == [AT - 50]


def test_that_csv_reads_back_with_times_in_utc(page: JournalPage, tmp_path: Path) -> None:
    page.set_filter(kind="gap")
    page.export(tmp_path / "journal.csv")
    with (tmp_path / "journal.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 1
    assert rows[0]["at"].endswith("+00:00")
    assert (rows[0]["kind"], rows[0]["health"], rows[0]["text"]) == ("gap", "unknown", "no samples from db3")


@pytest.mark.parametrize(
    "said", ['=HYPERLINK("http://x")', " =cmd|' /C calc'!A0", "\u3000@SUM(1)", "\n+1", "\uff1dcmd", "-1+1"]
)
def test_that_a_servers_text_is_no_formula_to_a_spreadsheet(said: str) -> None:
    text = as_csv((Event(AT, "note", said, Health.GOOD, node_id=said, cluster_id=said),))
    row = next(csv.DictReader(io.StringIO(text)))
    assert {row[cell][0] for cell in ("text", "node", "cluster")} == {"'"}


def test_that_an_export_that_fails_is_a_sentence(page: JournalPage, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="could not be written"):
        page.export(tmp_path / "nowhere" / "journal.csv")


def test_that_an_empty_journal_says_what_will_stand_there(qtbot: QtBot) -> None:
    made = JournalPage()
    qtbot.addWidget(made)
    assert made.shown() == ()
    assert made.empty_title() == "Nothing has happened yet"
    made.show_events(EVENTS)
    made.set_filter(words="zzz")
    assert made.empty_title() == "No event matches the filter"


def test_that_a_screen_reader_hears_how_serious_an_event_is() -> None:
    model = EventsModel()
    model.show_events(EVENTS)
    assert model.index(0, 1).data(int(Qt.ItemDataRole.AccessibleTextRole)) == "warning"


@pytest.mark.parametrize(("width", "what"), [(1028, (480, 640)), (2328, (880, 880))])
def test_that_the_kind_stands_near_its_sentence_however_wide_the_page_is(
    qtbot: QtBot, qapp: QApplication, width: int, what: tuple[int, int]
) -> None:
    page = JournalPage()
    qtbot.addWidget(page)
    page.show_events(EVENTS)
    page.resize(width, 600)
    page.show()
    qapp.processEvents()
    table = page.findChild(QTableView)
    assert table is not None
    header = table.horizontalHeader()
    assert what[0] <= header.sectionSize(WHAT) <= what[1]
    assert header.length() == table.viewport().width()


def test_that_the_keyboard_reads_a_sentence_whole_that_its_column_cuts(page: JournalPage) -> None:
    """Where a rollback had put the rows stood in a tooltip alone."""
    long = "d2 rolled back writes that the rest of its set does not have; the saved documents are in " + "/data/db" * 12
    page.show_events((*EVENTS, Event(AT, "state", long, Health.BAD, "orders", "d2")))
    table = page.findChild(QTableView)
    assert table is not None
    whole = [one for one in page.findChildren(QLabel) if one.text().endswith(long)]
    assert whole == []
    table.setCurrentIndex(table.model().index(0, WHAT))
    (said,) = [one for one in page.findChildren(QLabel) if one.text().endswith(long)]
    assert said.isVisible()
    table.setCurrentIndex(table.model().index(1, WHAT))
    assert not said.isVisible()
