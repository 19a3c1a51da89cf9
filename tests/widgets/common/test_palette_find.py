"""The command palette: found by a few letters, used without the mouse."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtTest import QSignalSpy
from PySide6.QtWidgets import QLabel, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from services.types import Health
from widgets.common.commands.find import Fit, fit, ranked
from widgets.common.commands.palette import CommandPalette, PaletteEntry

ENTRIES = (
    PaletteEntry("n1", "node", "db1", "orders · Synced", health=Health.GOOD),
    PaletteEntry("n2", "node", "db2", "orders · Donor/Desynced", health=Health.TRANSFER),
    PaletteEntry("c1", "cluster", "orders", "Galera 10.11"),
    PaletteEntry("p1", "page", "Topology", keys="Alt+1"),
    PaletteEntry("p2", "page", "Journal", keys="Alt+3"),
    PaletteEntry("a1", "action", "Add a host…", keys="Ctrl+N"),
)


@pytest.fixture
def palette(qtbot: QtBot) -> Iterator[CommandPalette]:
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(900, 600)
    window.show()
    qtbot.waitExposed(window)
    made = CommandPalette(window)
    made.open_with(ENTRIES)
    yield made  # the window must outlive the test that uses its child
    window.close()


def field(palette: CommandPalette) -> QLineEdit:
    found = palette.findChild(QLineEdit)
    assert found is not None
    return found


def test_that_it_opens_with_everything_and_the_first_marked(palette: CommandPalette) -> None:
    assert palette.isVisible()
    assert palette.shown() == ENTRIES
    assert palette.current() == ENTRIES[0]


def test_that_the_first_letters_of_a_word_find_an_entry(palette: CommandPalette, qtbot: QtBot) -> None:
    qtbot.keyClicks(field(palette), "jour")
    assert [e.title for e in palette.shown()] == ["Journal"]


def test_that_words_may_come_from_title_and_detail(palette: CommandPalette, qtbot: QtBot) -> None:
    qtbot.keyClicks(field(palette), "donor db")
    current = palette.current()
    assert current is not None
    assert current.entry_id == "n2"


def test_that_arrows_walk_around_the_ends_and_enter_takes(palette: CommandPalette, qtbot: QtBot) -> None:
    qtbot.keyClick(field(palette), Qt.Key.Key_Up)
    assert palette.current() == ENTRIES[-1]
    qtbot.keyClick(field(palette), Qt.Key.Key_Down)
    qtbot.keyClick(field(palette), Qt.Key.Key_Down)
    with qtbot.waitSignal(palette.chosen) as chosen:
        qtbot.keyClick(field(palette), Qt.Key.Key_Return)
    assert chosen.args == [ENTRIES[1]]
    assert not palette.isVisible()


def test_that_escape_leaves_without_a_choice(palette: CommandPalette, qtbot: QtBot) -> None:
    chosen, closed = QSignalSpy(palette.chosen), QSignalSpy(palette.closed)
    qtbot.keyClick(field(palette), Qt.Key.Key_Escape)
    assert (chosen.count(), closed.count()) == (0, 1)
    assert not palette.isVisible()


def test_that_nothing_found_takes_nothing(palette: CommandPalette, qtbot: QtBot) -> None:
    spy = QSignalSpy(palette.chosen)
    qtbot.keyClicks(field(palette), "zzz")
    qtbot.keyClick(field(palette), Qt.Key.Key_Return)
    assert palette.shown() == ()
    assert spy.count() == 0
    assert palette.isVisible()


def test_that_opening_again_starts_empty(palette: CommandPalette, qtbot: QtBot) -> None:
    qtbot.keyClicks(field(palette), "jour")
    palette.close_palette()
    palette.open_with(ENTRIES)
    assert palette.shown() == ENTRIES


def test_that_a_screen_reader_hears_the_marked_entry(palette: CommandPalette, qtbot: QtBot) -> None:
    qtbot.keyClick(field(palette), Qt.Key.Key_Down)
    assert field(palette).accessibleDescription() == "node db2 orders · Donor/Desynced"


TABLE = (
    # typed, entries best first; what does not fit is left out
    ("to", ["Topology", "Return to live", "autonomous"], ["taboo"]),
    ("sst", ["SST rate", "Encrypt SST on all nodes"], ["estate and its steps"]),
    ("restart", ["Restart the nodes one at a time", "Run: Restart a node"], ["Rest of the start"]),
    ("rolling-restart", ["rolling-restart"], ["restart rolling stones"]),
    ("flow control", ["Flow control", "Time paused by flow control", "Control the overflow"], ["Control of pauses"]),
    ("oaat", ["Restart one at a time"], ["one time"]),
    ("213.4", ["10.213.4.41"], ["10.213.5.4"]),
    ("io", ["iowait", "disk io", "transactions"], ["in the order"]),
)


@pytest.mark.parametrize(("typed", "best_first", "unfit"), TABLE, ids=[row[0] for row in TABLE])
def test_that_the_ranking_table_holds_whatever_the_order(typed: str, best_first: list[str], unfit: list[str]) -> None:
    entries = [(title, "") for title in (*unfit, *reversed(best_first))]
    assert [entries[i][0] for i in ranked(typed, entries)] == best_first


def test_that_a_title_comes_before_what_is_said_beside_another() -> None:
    entries = [("Journal", "what happened to galera"), ("galera", "Galera 10.11")]
    assert ranked("galera", entries) == [1, 0]
    assert fit("galera", *entries[1]) is Fit.WHOLE
    assert fit("galera", *entries[0]) is Fit.BESIDE


@given(st.text(min_size=1, max_size=12), st.text(max_size=40), st.text(max_size=40))
def test_that_nothing_fits_by_scattered_letters(typed: str, title: str, beside: str) -> None:
    if fit(typed, title, beside) is None:
        return
    initials = "".join(b for a, b in pairwise(f" {title.casefold()}") if not a.isalnum())
    for word in typed.casefold().split():
        assert word in title.casefold() or word in beside.casefold() or word in initials


def test_that_letters_scattered_over_a_sentence_find_nothing() -> None:
    refusal = "No server of orders answers: its cluster is not known yet."
    entries = [("Run: Restart the nodes one at a time", refusal), ("Switch between light and dark", "theme")]
    assert ranked("dark", entries) == [1]
    assert ranked("theme", entries) == [1]
    assert ranked("restart", entries) == [0]
    assert ranked("orders", entries) == [0]


def test_that_what_is_there_in_hundreds_stands_in_the_list_only_once_something_is_typed(
    palette: CommandPalette, qtbot: QtBot
) -> None:
    event = PaletteEntry("moment:1", "event", "db1 left the cluster", searched=True)
    palette.open_with((*ENTRIES, event))
    assert palette.shown() == ENTRIES
    qtbot.keyClicks(field(palette), "left")
    assert palette.shown() == (event,)


def test_that_the_text_itself_may_name_something_and_enter_is_told(palette: CommandPalette, qtbot: QtBot) -> None:
    palette.open_with(ENTRIES, lambda text: (PaletteEntry(f"moment:{text}", "moment", text),))
    qtbot.keyClicks(field(palette), "13:23")
    assert [e.entry_id for e in palette.shown()] == ["moment:13:23"]
    told = [line.text() for line in palette.findChildren(QLabel) if line.text().startswith("Enter")]
    assert told == ["Enter: show this moment on every page"]


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Escape])
def test_that_who_had_the_keys_has_them_again_when_it_goes(qtbot: QtBot, key: Qt.Key) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    first, second = QLineEdit(window), QLineEdit(window)
    second.move(0, 40)
    made = CommandPalette(window)
    with qtbot.waitActive(window):
        window.show()
        window.activateWindow()
    second.setFocus()
    held: list[bool] = []
    made.chosen.connect(lambda _entry: held.append(second.hasFocus()))
    made.open_with(ENTRIES)
    qtbot.keyClick(field(made), key)
    assert not made.isVisible()
    assert (second.hasFocus(), first.hasFocus()) == (True, False)
    assert held == ([True] if key is Qt.Key.Key_Return else [])
