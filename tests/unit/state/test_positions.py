"""Every position ever read: the newest and the highest of each host, cluster and source, by whomever."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from services.errors import StoreError
from services.history import migrations_state
from services.history.state import file as state_file
from services.history.state.positions import PositionSeen
from services.history.state.rows import NodeSighting
from services.history.state.store import StateStore

UUID = "2db77be0-e5aa-11f1-ae7d-76e16c615942"


def seen(seqno: int, at: float, source: str = "running", by: str = "check", uuid: str = UUID) -> PositionSeen:
    return PositionSeen("n1", uuid, source, seqno, at, by)


def test_that_the_newest_and_the_highest_are_kept_of_each_source(tmp_path: Path) -> None:
    with StateStore.open(tmp_path / "s") as store:
        store.remember_positions((seen(100, 1.0), seen(275, 2.0, by="run 4"), seen(90, 3.0, by="plan")))
        store.remember_positions((seen(80, 2.5, "recovered", "run 5"),))
    with StateStore.open(tmp_path / "s") as store:
        running, recovered = store.positions("n1")
        assert (running.source, running.seqno, running.at, running.read_by) == ("running", 90, 3.0, "plan")
        assert (running.top_seqno, running.top_at, running.top_read_by) == (275, 2.0, "run 4")
        assert (recovered.source, recovered.seqno, recovered.top_read_by) == ("recovered", 80, "run 5")
        assert store.positions("n2") == ()


def test_that_an_older_look_that_comes_late_replaces_nothing_newer(tmp_path: Path) -> None:
    with StateStore.open(tmp_path / "s") as store:
        store.remember_positions((seen(100, 10.0), seen(99, 9.0), seen(120, 8.0)))
        (memory,) = store.positions("n1")
        assert (memory.seqno, memory.at, memory.top_seqno, memory.top_at) == (100, 10.0, 120, 8.0)


def test_that_what_is_no_position_is_not_kept(tmp_path: Path) -> None:
    with StateStore.open(tmp_path / "s") as store:
        store.remember_positions((seen(-1, 1.0), seen(5, 1.0, uuid="")))
        assert store.positions("n1") == ()


def test_that_a_thousand_polls_are_one_row(tmp_path: Path) -> None:
    with StateStore.open(tmp_path / "s") as store:
        for second in range(0, 1000, 10):
            store.remember_positions(tuple(seen(second + n, second + n / 10) for n in range(10)))
        (memory,) = store.positions("n1")
        assert (memory.seqno, memory.top_seqno) == (999, 999)


def test_that_a_node_that_was_watched_has_a_position_and_who_read_it(tmp_path: Path) -> None:
    with StateStore.open(tmp_path / "s") as store:
        store.remember_nodes((NodeSighting("n1", 100.0, UUID, "g", "", 5),))
        store.remember_nodes((NodeSighting("n1", 120.0, UUID, "g", "", 7),), "topology")
        store.remember_nodes((NodeSighting("n1", 140.0, UUID, "g", "", None),))
        (memory,) = store.positions("n1")
        assert (memory.source, memory.seqno, memory.read_by) == ("running", 7, "topology")


def test_that_two_consoles_on_one_file_remember_side_by_side(tmp_path: Path) -> None:
    failures: list[StoreError] = []

    def write(store: StateStore, first: int) -> None:
        try:
            for number in range(first, first + 40, 2):
                store.remember_positions((seen(number, float(number)),))
        except StoreError as problem:
            failures.append(problem)

    with StateStore.open(tmp_path / "s") as one, StateStore.open(tmp_path / "s") as two:
        threads = [threading.Thread(target=write, args=pair) for pair in ((one, 0), (two, 1))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        (memory,) = one.positions("n1")
    assert failures == []
    assert (memory.seqno, memory.top_seqno) == (39, 39)


def test_that_what_an_older_program_knew_of_nodes_is_the_first_thing_known_of_positions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "s"
    rows = "INSERT INTO node_seen (host, cluster_uuid, node_uuid, server_uuid, seqno, seqno_at, first_seen, last_seen)"
    with monkeypatch.context() as third:
        third.setattr(state_file, "STEPS", migrations_state.STEPS[:3])
        third.setattr(state_file, "NEWEST", 3)
        with StateStore.open(file) as old, old._engine.begin() as connection:
            for node, seqno, at in (("a", 275, 1.0), ("b", 90, 3.0), ("c", None, None)):
                values = f"VALUES ('n1', '{UUID}', '{node}', '', :seqno, :at, 0, 9)"
                connection.exec_driver_sql(f"{rows} {values}", {"seqno": seqno, "at": at})
    with StateStore.open(file) as store:
        (memory,) = store.positions("n1")
        assert (memory.source, memory.seqno, memory.at, memory.read_by) == ("running", 90, 3.0, "watch")
        assert (memory.top_seqno, memory.top_at) == (275, 1.0)
    assert (tmp_path / "s.v3.bak").exists()
