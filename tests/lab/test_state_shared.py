"""The state in a team's shared MariaDB, by URL: the same answers as from a file, and two consoles side by side."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from services.discovery.model import PrimariesApart
from services.errors import StoreError
from services.history import migrations_state
from services.history.state import file as state_file
from services.history.state.positions import PositionSeen
from services.history.state.rows import NodeSighting
from services.history.state.store import StateStore
from services.procedures.journal.journal import StoredJournal
from tests.lab.estate.estate import Estate
from tests.lab.estate.vault import VARIABLES

DATABASE = "pilothouse_state"
NEXT = migrations_state.NEWEST + 1


@pytest.fixture
def url(galera_estate: Estate) -> Iterator[str]:
    """A database of its own on n1, dropped afterwards."""
    host = galera_estate.host("n1")
    password = galera_estate.environment()[VARIABLES["pilot"]]
    host.sh("mariadb --no-defaults", stdin=f"CREATE OR REPLACE DATABASE {DATABASE} CHARACTER SET utf8mb4;")
    yield f"mysql+pymysql://pilot:{password}@{host.address}/{DATABASE}?charset=utf8mb4"
    host.sh("mariadb --no-defaults", stdin=f"DROP DATABASE {DATABASE};")


def test_that_a_shared_store_remembers_like_a_file(url: str) -> None:
    check_remembering(url)


def check_remembering(url: str) -> None:
    """Write with one console, read with another."""
    with StateStore.open(url) as one:
        one.set_setting("theme", "dark")
        one.set_setting("theme", "dark")  # no row changes: still an update, not a second insert
        assert one.record_console_start("0.1") >= 1
        one.remember_nodes((NodeSighting("n1", 100.0, "c", "n", "", 2**40),))
        one.set_setting("motto", "kein Wort – 2 s")
        with StateStore.open(url) as two:
            assert two.get_setting("theme") == "dark"
            assert two.node_history("n1")[0].seqno == 2**40
            assert two.get_setting("motto") == "kein Wort – 2 s"
            two.remember_positions((PositionSeen("n1", "c", "running", 7, 200.0, "check"),))
            (position,) = one.positions("n1")
            assert (position.seqno, position.top_seqno, position.read_by) == (7, 2**40, "check")
            check_split(one, two)
        assert one.last_unclean_end() is None
        one.record_console_end()


def check_split(one: StateStore, two: StateStore) -> None:
    """One console sees it, another settles it: both know."""
    one.splits().note(PrimariesApart("c", "Aufträge", 1.0, (("n1", "n2"), ("n3",)), "e"), "check")
    assert not two.splits().note(PrimariesApart("c", "Aufträge", 2.0, (("n1",), ("n3",)), "e"), "watch")
    assert [s.settled_words for s in two.splits().settle("c", "ada", "geleert – é")] == ["geleert – é"]
    assert one.splits().open() == ()


def test_that_two_consoles_remember_positions_in_a_shared_store_side_by_side(url: str) -> None:
    def write(store: StateStore, first: int) -> None:
        for number in range(first, 40, 2):
            store.remember_positions((PositionSeen(f"n{number // 10}", "c", "running", number, number, "watch"),))

    with StateStore.open(url) as one, StateStore.open(url) as two, ThreadPoolExecutor(2) as pool:
        for written in [pool.submit(write, *pair) for pair in ((one, 0), (two, 1))]:
            written.result()
        assert [one.positions(f"n{n}")[0].top_seqno for n in range(4)] == [9, 19, 29, 39]


def test_that_a_shared_store_keeps_the_journal_of_procedures_and_lets_one_console_write_a_run(url: str) -> None:
    check_journal(url)


def check_journal(url: str) -> None:
    """Write runs with two consoles: numbers without holes, data larger than TEXT holds, one writer a run."""
    with StateStore.open(url) as one, StateStore.open(url) as two:
        first, second = StoredJournal(one), StoredJournal(two)
        run_id = first.new_run("freeze-gcache", "uuid", "Take n2 down – é")
        first.append(run_id, "note", "", {"text": "é" * 200_000})
        assert second.entries(run_id) == first.entries(run_id)
        second.append(run_id, "note")
        with pytest.raises(StoreError, match="written by another console"):
            first.append(run_id, "note")
        assert len(second.entries(run_id)) == 2
        assert second.runs() == (run_id,)
        check_race(first, second)


def check_race(first: StoredJournal, second: StoredJournal) -> None:
    """Let two engines that both read the run write it at once, again and again: each time exactly one of them may."""
    run_id = first.new_run("x", "uuid", "t")
    barrier = threading.Barrier(2)
    outcomes: list[str] = []

    def write(journal: StoredJournal) -> None:
        for _ in range(20):
            journal.entries(run_id)
            barrier.wait(10.0)
            try:
                journal.append(run_id, "note")
                outcomes.append("written")
            except StoreError as problem:
                outcomes.append("refused" if "another console" in str(problem) else str(problem))
            journal.let_go(run_id)
            barrier.wait(10.0)

    threads = [threading.Thread(target=write, args=(journal,)) for journal in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["refused"] * 20 + ["written"] * 20
    assert [entry.seq for entry in first.entries(run_id)] == list(range(1, 21))


def test_that_a_shared_store_of_a_newer_version_is_refused(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as newer:
        newer.setattr(state_file, "STEPS", (*migrations_state.STEPS, (NEXT, lambda _: None)))
        newer.setattr(state_file, "NEWEST", NEXT)
        StateStore.open(url).close()
    with pytest.raises(StoreError, match="newer Pilothouse") as caught:
        StateStore.open(url)
    assert url.split(":")[2].split("@", maxsplit=1)[0] not in caught.value.as_text()
