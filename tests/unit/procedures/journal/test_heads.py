"""Where the journal of a run ended is kept outside it: lines that are cut off its end are missed."""

from __future__ import annotations

import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from services.clock import SystemClock
from services.errors import StoreError
from services.history.state.store import StateStore
from services.inventory.model import Inventory
from services.procedures.engine.parts import Policy
from services.procedures.journal.approval import JournalChanged, NotBound
from services.procedures.journal.heads import FOLDER, Head, HeadFiles, head_of, head_text
from services.procedures.journal.journal import StoredJournal
from services.procedures.plan.run_model import Binding, RunState
from services.secrets import MemoryVault
from tests.unit.procedures.acts.test_service import LONG, SHORT, WorldService, draft_of, until
from tests.unit.procedures.engine_world import FixedKey, Killed, World, WorldLock


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "state.sqlite"


@pytest.fixture
def store(file: Path) -> Iterator[StateStore]:
    with StateStore.open(file) as opened:
        yield opened


def service_on(store: StateStore, folder: Path, world: World | None = None, letter: bytes = b"a") -> WorldService:
    made = WorldService(Inventory(), MemoryVault(), store, SystemClock(), FixedKey(letter), HeadFiles(folder))
    made.world, made.lock = world or World(), WorldLock()
    return made


def lines_of(file: Path) -> int:
    with closing(sqlite3.connect(file)) as base:
        return int(base.execute("SELECT count(*) FROM procedure_entry").fetchone()[0])


def cut(file: Path, seq: int) -> None:
    """Take away all lines behind this one, as somebody does who can write to the database."""
    with closing(sqlite3.connect(file)) as base, base:
        base.execute("DELETE FROM procedure_entry WHERE seq > ?", (seq,))


@pytest.mark.parametrize("way", ["run", "undo", "leave", "release"])
@pytest.mark.parametrize("missing", [1, 2, 5])
def test_that_a_run_whose_last_lines_are_cut_off_is_refused_whichever_way(
    store: StateStore, file: Path, tmp_path: Path, way: str, missing: int
) -> None:
    service = service_on(store, tmp_path)
    run_id = service.new_run(draft_of(LONG))
    service.start(run_id)
    until(lambda: service.view(run_id).steps[1].state.value == "acting")
    assert service.close()
    done, left = list(service.world.done), lines_of(file) - missing
    cut(file, left)
    second = service_on(store, tmp_path, service.world)
    with pytest.raises(JournalChanged) as refused:
        second.drive(run_id, way=way, key="x" if way == "leave" else "")
    assert "is truncated: this workstation wrote more lines than it contains" in str(refused.value)
    assert "Nothing was done" in refused.value.safe
    assert "restored from an older copy" in refused.value.try_[0]
    assert second.view(run_id).binding is Binding.CUT
    assert service.world.done == done
    second.look_at_obligations()
    assert lines_of(file) == left


def test_that_a_note_behind_the_cut_hides_it_from_nobody(store: StateStore, file: Path, tmp_path: Path) -> None:
    service = service_on(store, tmp_path)
    run_id = service.new_run(draft_of(SHORT))
    assert service.drive(run_id) is RunState.DONE
    last = lines_of(file)
    cut(file, last - 3)
    journal = StoredJournal(store, FixedKey(), HeadFiles(tmp_path))
    for number in range(5):
        journal.append(run_id, "note", "", {"text": str(number)})
        assert journal.chain(run_id).binding in {Binding.CUT, Binding.CHANGED}
    journal.let_go(run_id)
    assert lines_of(file) > last
    with pytest.raises(JournalChanged):
        journal.bound_entries(run_id)


class KilledBetween(HeadFiles):
    """The console's process ends behind a line of the journal, before its head is kept."""

    left = 4

    def keep(self, run_id: int, text: str) -> None:
        self.left -= 1
        if self.left < 0:
            raise Killed
        super().keep(run_id, text)


@pytest.mark.parametrize("left", [1, 2, 3])
def test_that_a_kill_between_a_line_and_its_head_leaves_a_run_that_goes_on(
    store: StateStore, file: Path, tmp_path: Path, left: int
) -> None:
    heads = KilledBetween(tmp_path)
    heads.left = left
    journal = StoredJournal(store, FixedKey(), heads)
    run_id = journal.new_run("p", "c", "t")
    for number in range(left - 1):
        journal.append(run_id, "note", "", {"text": str(number)})
    with pytest.raises(Killed):
        journal.append(run_id, "note", "", {"text": "the last"})
    journal.let_go(run_id)
    assert lines_of(file) == left
    after = StoredJournal(store, FixedKey(), HeadFiles(tmp_path))
    assert len(after.bound_entries(run_id)) == left
    after.append(run_id, "note", "", {})
    after.let_go(run_id)
    kept = head_of(HeadFiles(tmp_path).read(int(run_id)), int(run_id), FixedKey().key())
    assert kept is not None
    assert kept.seq == left + 1


def test_that_a_head_is_kept_once_for_each_line_and_for_its_owner_alone(store: StateStore, tmp_path: Path) -> None:
    written: list[str] = []

    class Counted(HeadFiles):
        def keep(self, run_id: int, text: str) -> None:
            written.append(text)
            super().keep(run_id, text)

    journal = StoredJournal(store, FixedKey(), Counted(tmp_path))
    run_id = journal.new_run("p", "c", "t")
    before = len(written)
    for _ in range(3):
        journal.append(run_id, "note", "", {})
    journal.let_go(run_id)
    assert len(written) - before == 3
    (kept,) = (tmp_path / FOLDER).iterdir()
    assert stat.S_IMODE(kept.stat().st_mode) & 0o077 == 0


@pytest.mark.parametrize("text", ["", "x", "1 2 00 0123456789abcdef:" + "0" * 64 + "\n"])
def test_that_a_run_without_a_head_or_with_a_strange_one_asks_for_an_approval_and_goes_on_with_it(
    store: StateStore, tmp_path: Path, text: str
) -> None:
    first = service_on(store, tmp_path)
    run_id = first.new_run(draft_of(SHORT))
    first.journal.let_go(run_id)
    (head,) = (tmp_path / FOLDER).iterdir()
    head.write_text(text) if text else head.unlink()
    service = service_on(store, tmp_path)
    view = service.view(run_id)
    assert view.binding is Binding.NO_END
    assert "lines may be missing at its end" in view.sentence
    with pytest.raises(NotBound):
        service.drive(run_id)
    assert service.world.done == []
    assert service.drive(run_id, policy=Policy(approved=view.code, by="ann")) is RunState.DONE
    assert service.journal.chain(run_id).binding is Binding.BOUND


def test_that_a_new_store_begins_with_its_own_numbers(tmp_path: Path) -> None:
    for name in ("one", "two"):
        with StateStore.open(tmp_path / f"{name}.sqlite") as store:
            journal = StoredJournal(store, FixedKey(), HeadFiles(tmp_path))
            run_id = journal.new_run("p", "c", "t")
            for _ in range(4 if name == "one" else 1):
                journal.append(run_id, "note", "", {})
            journal.let_go(run_id)
            assert journal.chain(run_id).binding is Binding.BOUND


def test_that_a_head_belongs_to_one_run_and_one_key() -> None:
    key, head = FixedKey().key(), Head(7, b"\x01" * 32)
    text = head_text(47, head, key)
    assert head_of(text, 47, key) == head
    assert head_of(text, 48, key) is None
    assert head_of(text, 47, FixedKey(b"e").key()) is None
    assert head_of(text.replace(" 7 ", " 6 "), 47, key) is None


def test_that_where_the_end_can_not_be_kept_nothing_more_is_done(store: StateStore, tmp_path: Path) -> None:
    journal = StoredJournal(store, FixedKey(), HeadFiles(tmp_path))
    run_id = journal.new_run("p", "c", "t")
    (tmp_path / FOLDER / f"run-{run_id}.head").unlink()
    (tmp_path / FOLDER / f"run-{run_id}.head").mkdir()
    with pytest.raises(StoreError, match="The end of the journal of run 1 cannot be recorded"):
        journal.append(run_id, "note", "", {})
    journal.let_go(run_id)
