"""The command palette: found by a few letters, used without the mouse."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtTest import QSignalSpy
from PySide6.QtWidgets import QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from services.types import Health
from widgets.common.commands.fuzzy import ranked, ranked_by_title, score
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


def test_that_letters_in_order_find_an_entry(palette: CommandPalette, qtbot: QtBot) -> None:
    qtbot.keyClicks(field(palette), "jrn")
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
    qtbot.keyClicks(field(palette), "jrn")
    palette.close_palette()
    palette.open_with(ENTRIES)
    assert palette.shown() == ENTRIES


def test_that_a_screen_reader_hears_the_marked_entry(palette: CommandPalette, qtbot: QtBot) -> None:
    qtbot.keyClick(field(palette), Qt.Key.Key_Down)
    assert field(palette).accessibleDescription() == "node db2 orders · Donor/Desynced"


def test_that_the_beginning_of_a_word_beats_its_middle() -> None:
    assert ranked("to", ["autonomous", "topology"]) == [1, 0]


def test_that_an_unbroken_run_beats_scattered_letters() -> None:
    assert ranked("db1", ["d-big-1", "xdb1"])[0] in {0, 1}
    better, worse = score("node", "add node"), score("node", "nice old dull edge case")
    assert better is not None
    assert worse is not None
    assert better > 0


@given(st.text(min_size=1, max_size=12), st.text(max_size=40))
def test_that_a_fit_means_all_letters_in_order(needle: str, text: str) -> None:
    fits = score(needle, text) is not None
    assert fits == all(_subsequence(word, text.casefold()) for word in needle.casefold().split())


def _subsequence(word: str, text: str) -> bool:
    letters = iter(text)
    return all(letter in letters for letter in word)


def test_that_letters_scattered_over_a_sentence_never_stand_before_the_word_that_was_typed() -> None:
    refusal = "No server of orders answers: its cluster is not known yet."
    entries = [("Run: Restart the nodes one at a time", refusal), ("Switch between light and dark", "theme")]
    assert ranked_by_title("dark", entries) == [1]
    assert ranked_by_title("theme", entries)[0] == 1  # its letters are in 'Restart the nodes one at a time' too
    assert ranked_by_title("restart", entries) == [0]
    assert ranked_by_title("orders", entries) == [0]


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
