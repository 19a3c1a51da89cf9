"""The write-ahead journal: numbered, synced, one writer a run, nothing secret, readable after a kill."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import event

from services.clock import ManualClock
from services.errors import BadInput, StoreError
from services.history.state.store import StateStore
from services.procedures.journal.entries import obligation_taken
from services.procedures.journal.journal import DrivenElsewhere, MemoryJournal, StoredJournal, json_text
from services.procedures.journal.obligations import open_obligations
from services.procedures.plan.run_model import Journal
from services.secrets import Secret
from tests.unit.procedures.plans import FREEZE

ROOT = Path(__file__).parents[4]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[StateStore]:
    with StateStore.open(tmp_path / "state", clock=ManualClock(1_800_000_000.0)) as opened:
        yield opened


@pytest.fixture(params=["stored", "memory"])
def journal(request: pytest.FixtureRequest, store: StateStore) -> Journal:
    return StoredJournal(store) if request.param == "stored" else MemoryJournal(ManualClock(1_800_000_000.0))


def test_that_entries_are_numbered_without_holes_and_come_back_in_order(journal: Journal) -> None:
    first = journal.new_run("freeze-gcache", "uuid", "Take n2 down")
    other = journal.new_run("freeze-gcache", "uuid", "Take n3 down")
    for number in range(5):
        journal.append(first, "note", "stop-n2" if number else "", {"about": "x", "text": f"é{number}\udcff"})
        journal.append(other, "note")
    entries = journal.entries(first)
    assert [e.seq for e in entries] == [1, 2, 3, 4, 5]
    assert [(e.data or {})["text"] for e in entries] == [f"é{n}\udcff" for n in range(5)]
    assert {e.run_id for e in entries} == {first}
    assert [e.step_id for e in entries][:2] == ["", "stop-n2"]
    assert entries[0].at == 1_800_000_000.0
    assert journal.runs() == (other, first)
    assert journal.append(first, "note") == journal.entries(first)[-1]


def test_that_a_run_that_was_only_reserved_has_no_entries_and_is_not_listed(journal: Journal) -> None:
    run_id = journal.new_run("x", "c", "t")
    assert journal.entries(run_id) == ()
    assert journal.runs() == ()


@pytest.mark.parametrize("unknown", ["7", "", "abc", "-1", "١", "9" * 30])
def test_that_an_unknown_run_is_bad_input_to_reader_and_writer(journal: Journal, unknown: str) -> None:
    with pytest.raises(BadInput, match="no run"):
        journal.entries(unknown)
    with pytest.raises((BadInput, StoreError)):
        journal.append(unknown, "note")


def test_that_a_secret_never_gets_into_the_journal(journal: Journal, tmp_path: Path) -> None:
    run_id = journal.new_run("x", "c", "t")
    with pytest.raises(StoreError, match="no secret"):
        journal.append(run_id, "note", "", {"deep": [{"in": Secret("hunter2")}]})
    assert journal.entries(run_id) == ()
    assert all(b"hunter2" not in file.read_bytes() for file in tmp_path.iterdir())


def test_that_data_larger_than_a_small_text_column_comes_back_whole(journal: Journal) -> None:
    run_id = journal.new_run("x", "c", "t")
    journal.append(run_id, "note", "", {"text": "x" * 300_000})
    assert len(str((journal.entries(run_id)[0].data or {})["text"])) == 300_000


def test_that_a_second_engine_on_the_same_run_is_refused_and_writes_nothing(tmp_path: Path) -> None:
    with StateStore.open(tmp_path / "s") as one, StateStore.open(tmp_path / "s") as two:
        first, second = StoredJournal(one), StoredJournal(two)
        run_id = first.new_run("x", "c", "t")
        first.append(run_id, "note")
        assert len(second.entries(run_id)) == 1
        first.append(run_id, "note")
        with pytest.raises(StoreError, match="written by another console"):
            second.append(run_id, "note")
        first.append(run_id, "note")
        assert [e.seq for e in first.entries(run_id)] == [1, 2, 3]


def test_that_looking_at_a_run_does_not_hide_the_other_writer_from_the_engine(tmp_path: Path) -> None:
    with StateStore.open(tmp_path / "s") as one, StateStore.open(tmp_path / "s") as two:
        engine, other = StoredJournal(one), StoredJournal(two)
        run_id = engine.new_run("x", "c", "t")
        engine.append(run_id, "note")
        other.entries(run_id)
        other.append(run_id, "note")
        assert len(engine.entries(run_id)) == 2  # the page that shows the run reads through the same journal
        with pytest.raises(StoreError, match="written by another console"):
            engine.append(run_id, "note")


def test_that_a_run_taken_back_after_another_console_went_on_with_it_goes_on_from_what_was_read(tmp_path: Path) -> None:
    with StateStore.open(tmp_path / "s") as one, StateStore.open(tmp_path / "s") as two:
        engine, other = StoredJournal(one), StoredJournal(two)
        run_id = engine.new_run("x", "c", "t")
        engine.append(run_id, "note")
        engine.let_go(run_id)
        other.entries(run_id)
        other.append(run_id, "note")
        engine.entries(run_id)
        assert engine.append(run_id, "note").seq == 3


def test_that_a_refused_writer_may_go_on_after_it_has_read_the_run_again(tmp_path: Path) -> None:
    with StateStore.open(tmp_path / "s") as one, StateStore.open(tmp_path / "s") as two:
        engine, other = StoredJournal(one), StoredJournal(two)
        run_id = engine.new_run("x", "c", "t")
        other.append(run_id, "note")
        for _ in range(2):
            with pytest.raises(StoreError, match="written by another console"):
                engine.append(run_id, "note")
        engine.entries(run_id)
        assert engine.append(run_id, "note").seq == 2


def test_that_appends_of_many_threads_get_every_number_once(journal: Journal) -> None:
    run_id = journal.new_run("x", "c", "t")

    def write() -> None:
        for _ in range(10):
            journal.append(run_id, "note")

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [e.seq for e in journal.entries(run_id)] == list(range(1, 41))


def test_that_every_commit_of_the_journal_is_synced_and_other_writes_stay_as_they_were(store: StateStore) -> None:
    levels: list[int] = []

    @event.listens_for(store._engine, "commit")
    def _committing(connection: object) -> None:
        cursor = connection.connection.cursor()  # type: ignore[attr-defined]
        levels.append(cursor.execute("PRAGMA synchronous").fetchone()[0])

    journal = StoredJournal(store)
    run_id = journal.new_run("x", "c", "t")
    journal.append(run_id, "note")
    store.set_setting("a", "b")
    assert levels == [2, 2, 1]  # FULL, FULL, NORMAL


KILLED = """
import os, signal, sys
from services.history.state.store import StateStore
from services.procedures.journal.journal import StoredJournal
journal = StoredJournal(StateStore.open(sys.argv[1]))
run_id = journal.new_run("x", "c", "t")
for number in range(7):
    journal.append(run_id, "note", "", {"text": str(number)})
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is POSIX's")
def test_that_what_was_appended_is_there_after_a_kill(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "s")], cwd=ROOT, check=False)
    assert done.returncode == -signal.SIGKILL
    with StateStore.open(tmp_path / "s") as store:
        journal = StoredJournal(store)
        assert [(e.data or {})["text"] for e in journal.entries("1")] == [str(n) for n in range(7)]
        assert journal.append("1", "note").seq == 8


def test_that_a_locked_store_is_an_error_and_the_next_append_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.history.state.file.BUSY_S", 0.1)
    with (
        StateStore.open(tmp_path / "s") as store,
        closing(sqlite3.connect(tmp_path / "s", isolation_level=None)) as other,
    ):
        journal = StoredJournal(store)
        run_id = journal.new_run("x", "c", "t")
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="locked"):
            journal.append(run_id, "note")
        other.execute("ROLLBACK")
        assert journal.append(run_id, "note").seq == 1


def test_that_damaged_json_names_the_run_and_the_entry(store: StateStore, tmp_path: Path) -> None:
    journal = StoredJournal(store)
    run_id = journal.new_run("x", "c", "t")
    journal.append(run_id, "note")
    with closing(sqlite3.connect(tmp_path / "state")) as connection, connection:
        connection.execute("UPDATE procedure_entry SET data = '{'")
    with pytest.raises(StoreError, match="The journal of run 1 is damaged: entry 1"):
        journal.entries(run_id)


def test_that_obligations_of_all_runs_are_found_without_reading_everything_else(store: StateStore) -> None:
    for journal in (StoredJournal(store), MemoryJournal()):
        for _ in range(2):
            run_id = journal.new_run("x", "c", "t")
            journal.append(run_id, "planned", "", {"plan": {"un": "read"}})
            journal.append(run_id, *obligation_taken("freeze", FREEZE))
        entries = journal.obligation_entries()
        assert {e.kind for e in entries} == {"obligation-taken"}
        assert [o.run_id for o in open_obligations(entries)] == ["1", "2"]


def test_that_a_cut_journal_is_what_a_kill_behind_that_entry_leaves() -> None:
    journal = MemoryJournal()
    run_id = journal.new_run("x", "c", "t")
    for _ in range(4):
        journal.append(run_id, "note")
    cut = journal.cut(run_id, 2)
    assert [e.seq for e in cut.entries(run_id)] == [1, 2]
    assert cut.append(run_id, "note").seq == 3
    assert len(journal.entries(run_id)) == 4


def test_that_json_is_one_line_of_ascii() -> None:
    assert json_text({"a": ("é\n", 1.5, None)}) == '{"a":["\\u00e9\\n",1.5,null]}'
    assert json_text(None) == "{}"


def test_that_the_marks_say_how_far_each_run_goes(tmp_path: Path) -> None:
    with StateStore.open(tmp_path / "state.sqlite") as store:
        journal = StoredJournal(store)
        first, second, _reserved = (journal.new_run("add-node", "c", "t") for _ in range(3))
        for run_id in (first, second, second):
            journal.append(run_id, "note")
        assert journal.marks() == {first: 1, second: 2}


_WRITER = """
import sys
from services.history.state.store import StateStore
from services.procedures.journal.journal import StoredJournal
journal = StoredJournal(StateStore.open(sys.argv[1]))
journal.append("1", "note")
print("written", flush=True)
if sys.stdin.readline() == "let go\\n":
    journal.let_go("1")
    print("let go", flush=True)
    sys.stdin.readline()
"""


@pytest.mark.parametrize("killed", [False, True])
def test_that_a_run_is_written_elsewhere_until_that_program_lets_go_or_is_killed(
    tmp_path: Path, *, killed: bool
) -> None:
    file = tmp_path / "state.sqlite"
    with StateStore.open(file) as store:
        journal = StoredJournal(store)
        run_id = journal.new_run("add-node", "c", "t")
        assert not journal.written_elsewhere(run_id)
        words = [sys.executable, "-c", _WRITER, str(file)]
        with subprocess.Popen(words, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
            assert other.stdin is not None
            assert other.stdout is not None
            assert other.stdout.readline() == "written\n"
            assert journal.written_elsewhere(run_id)
            with pytest.raises(DrivenElsewhere, match="Run 1 is driven by another program"):
                journal.refuse_other_writer(run_id)
            if killed:
                other.kill()
                other.wait()
            else:
                other.stdin.write("let go\n")
                other.stdin.flush()
                assert other.stdout.readline() == "let go\n"
            assert not journal.written_elsewhere(run_id)
            journal.refuse_other_writer(run_id)
            journal.entries(run_id)
            journal.append(run_id, "note")
            assert not journal.written_elsewhere(run_id)
            journal.let_go(run_id)
            assert list(tmp_path.glob("*.lock")) == []
