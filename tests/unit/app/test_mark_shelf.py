"""Where marks are kept, in the state store and for a demo: the same rules, another life."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.mark_shelf import MarkShelf, SessionShelf, StateShelf
from services.errors import BadInput
from services.history.marked_change import LONGEST_NAME, ChangeMark

BEFORE, AFTER = (1_000.0, 1_600.0), (1_700.0, 2_300.0)
CAME = ChangeMark(0, "came along", BEFORE, AFTER, 3_000.0)


@pytest.fixture(params=["state", "session"])
def shelf(request: pytest.FixtureRequest, tmp_path: Path) -> MarkShelf:
    return (
        StateShelf(tmp_path / "state.sqlite", "orders", (CAME,)) if request.param == "state" else SessionShelf((CAME,))
    )


def test_that_marks_are_kept_listed_newest_first_and_removed(shelf: MarkShelf) -> None:
    assert shelf.all() == (CAME,)
    older = shelf.keep("  redo\n 2 GB ", BEFORE, AFTER)
    newer = shelf.keep("flush 2", BEFORE, AFTER)
    assert older.name == "redo 2 GB"
    assert [mark.name for mark in shelf.all()] == ["flush 2", "redo 2 GB", "came along"]
    assert shelf.remove(older.number)
    assert not shelf.remove(older.number)
    assert not shelf.remove(0)
    assert shelf.all() == (newer, CAME)


@pytest.mark.parametrize("name", ["", "  \n ", "12", "set password = 'x1y2z3'", "mysql://root:hunter2@db1/ tried"])
def test_that_what_is_no_name_is_refused(name: str, shelf: MarkShelf) -> None:
    with pytest.raises(BadInput):
        shelf.keep(name, BEFORE, AFTER)
    assert shelf.all() == (CAME,)


def test_that_stretches_in_the_wrong_order_are_refused(shelf: MarkShelf) -> None:
    with pytest.raises(BadInput):
        shelf.keep("redo", AFTER, BEFORE)
    assert shelf.all() == (CAME,)


def test_that_a_name_is_taken_once_is_one_line_and_short(shelf: MarkShelf) -> None:
    shelf.keep("redo", BEFORE, AFTER)
    with pytest.raises(BadInput, match="already a mark named redo"):
        shelf.keep(" redo ", BEFORE, AFTER)
    long = shelf.keep("a\x1b[31m\u202eb\n" + "x" * 500, BEFORE, AFTER)
    assert len(long.name) <= LONGEST_NAME + 1
    assert not {"\x1b", "\u202e", "\n"} & set(long.name)
    assert long in shelf.all()


def test_that_only_the_state_stores_marks_outlast_the_window_and_no_look_makes_a_file(tmp_path: Path) -> None:
    file = tmp_path / "state.sqlite"
    assert StateShelf(file, "orders").all() == ()
    assert not StateShelf(file, "orders").remove(1)
    with pytest.raises(BadInput):
        StateShelf(file, "orders").keep("", BEFORE, AFTER)
    assert not file.exists()
    kept = StateShelf(file, "orders").keep("redo", BEFORE, AFTER)
    assert StateShelf(file, "orders").all() == (kept,)
    assert (StateShelf.lasts, SessionShelf.lasts) == (True, False)
