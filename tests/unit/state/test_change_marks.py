"""Marked changes: kept with who and when, listed, removed, of one inventory only; what is no mark is refused."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from services.clock import ManualClock
from services.errors import BadInput
from services.history import migrations_state
from services.history.marked_change import MOST
from services.history.state import file as state_file
from services.history.state.store import StateStore

BEFORE, AFTER = (1_000.0, 1_600.0), (1_700.0, 2_300.0)


def test_that_a_mark_is_kept_with_who_and_when_until_it_is_removed(tmp_path: Path) -> None:
    with StateStore.open(tmp_path / "s", clock=ManualClock(5_000.0)) as store:
        kept = store.change_marks("orders").keep("redo 2 GB", BEFORE, AFTER, "ada@desk2")
        store.change_marks("orders").keep("flush 2", BEFORE, AFTER, "eva@desk3")
    with StateStore.open(tmp_path / "s") as store:
        marks = store.change_marks("orders")
        newer, older = marks.all()
        assert older == kept
        assert (older.name, older.before, older.after) == ("redo 2 GB", BEFORE, AFTER)
        assert (older.made_at, older.made_by, newer.made_by) == (5_000.0, "ada@desk2", "eva@desk3")
        assert marks.remove(older.number)
        assert not marks.remove(older.number)
        assert marks.all() == (newer,)


def test_that_marks_are_of_one_inventory(tmp_path: Path) -> None:
    with StateStore.open(tmp_path / "s") as store:
        mine = store.change_marks("orders").keep("redo", BEFORE, AFTER, "ada")
        assert store.change_marks("bills").all() == ()
        assert not store.change_marks("bills").remove(mine.number)
        store.change_marks("bills").keep("redo", BEFORE, AFTER, "ada")
        assert len(store.change_marks("orders").all()) == 1


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (AFTER, BEFORE), ((1.0, 1.0), AFTER), (BEFORE, (1_500.0, 2_000.0)), ((-5.0, 9.0), AFTER),
        (BEFORE, (1_700.0, math.inf)), ((math.nan, 1_600.0), AFTER), (BEFORE, (1_700.0, 1e300)),
    ],
)  # fmt: skip
def test_that_stretches_that_can_not_be_compared_are_refused(
    before: tuple[float, float], after: tuple[float, float], tmp_path: Path
) -> None:
    with StateStore.open(tmp_path / "s") as store:
        with pytest.raises(BadInput):
            store.change_marks("a").keep("redo", before, after, "ada")
        assert store.change_marks("a").all() == ()


def test_that_a_name_is_taken_once(tmp_path: Path) -> None:
    with StateStore.open(tmp_path / "s") as store:
        marks = store.change_marks("a")
        marks.keep("redo", BEFORE, AFTER, "ada")
        with pytest.raises(BadInput, match="already a mark named redo"):
            marks.keep("redo", BEFORE, AFTER, "eva")
        assert len(marks.all()) == 1


def test_that_there_is_an_end_to_how_many_are_kept(tmp_path: Path) -> None:
    with StateStore.open(tmp_path / "s") as store:
        marks = store.change_marks("a")
        for n in range(MOST):
            marks.keep(f"change {n}", BEFORE, AFTER, "ada")
        with pytest.raises(BadInput, match="remove some"):
            marks.keep("one more", BEFORE, AFTER, "ada")
        assert len(marks.all()) == MOST


def test_that_a_store_of_an_older_program_takes_marks_after_a_backup(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "s"
    with monkeypatch.context() as fourth:
        fourth.setattr(state_file, "STEPS", migrations_state.STEPS[:4])
        fourth.setattr(state_file, "NEWEST", 4)
        with StateStore.open(file) as old:
            old.set_setting("kept", "yes")
    with StateStore.open(file) as store:
        assert store.get_setting("kept") == "yes"
        assert store.change_marks("a").all() == ()
        store.change_marks("a").keep("redo", BEFORE, AFTER, "ada")
    assert (tmp_path / "s.v4.bak").exists()
