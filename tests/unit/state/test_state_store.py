"""What the state remembers between runs, and how it tells an unclean end."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from services.clock import ManualClock
from services.discovery.families.galera.kind import GALERA
from services.discovery.model import ClusterSnapshot, NodeView
from services.errors import StoreError
from services.facts.model import GaleraFacts, NodeFacts, ServerFacts
from services.history.state import store as state_store
from services.history.state.rows import NodeSighting, sightings
from services.history.state.store import StateStore, default_path


def test_that_settings_are_kept_and_replaced(tmp_path: Path) -> None:
    with StateStore.open(tmp_path / "state.sqlite3") as store:
        assert store.get_setting("theme", "light") == "light"
        store.set_setting("theme", "dark")
        store.set_setting("theme", "dark; DROP TABLE setting")
    with StateStore.open(str(tmp_path / "state.sqlite3")) as store:
        assert store.get_setting("theme") == "dark; DROP TABLE setting"


def test_that_a_run_which_ended_by_itself_is_not_told(tmp_path: Path) -> None:
    for _ in range(2):
        with StateStore.open(tmp_path / "s") as store:
            store.record_console_start("0.1")
            assert store.last_unclean_end() is None
            store.record_console_end()
            assert store.last_unclean_end() is None


DYING = """
import os, sys
from services.history.state.store import StateStore
store = StateStore.open(sys.argv[1])
store.record_console_start("0.1")
store.record_console_alive()
os.kill(os.getpid(), 9)
"""


def test_that_a_killed_console_is_told_once_at_the_next_start(tmp_path: Path) -> None:
    file = tmp_path / "s"
    died = subprocess.run([sys.executable, "-c", DYING, str(file)], cwd=Path(__file__).parents[3], check=False)
    assert died.returncode == -9
    with StateStore.open(file) as store:
        before = store.last_unclean_end()
        store.record_console_start("0.1")
        end = store.last_unclean_end()
        assert end is not None
        assert before == end
        assert end.version == "0.1"
        assert end.pid != os.getpid()
        assert end.started_at <= end.alive_at
        store.record_console_end()
    with StateStore.open(file) as store:
        store.record_console_start("0.1")
        assert store.last_unclean_end() is None
        store.record_console_end()


def test_that_a_console_which_still_lives_elsewhere_is_not_taken_for_dead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = ManualClock()
    monkeypatch.setattr(state_store.socket, "gethostname", lambda: "other")
    first = StateStore.open(tmp_path / "s", clock=clock)
    first.record_console_start()
    monkeypatch.setattr(state_store.socket, "gethostname", lambda: "here")
    with StateStore.open(tmp_path / "s", clock=clock) as second:
        clock.advance(30)
        assert second.last_unclean_end() is None
        first.record_console_alive()
        clock.advance(59)
        assert second.last_unclean_end() is None
        clock.advance(2)
        end = second.last_unclean_end()
        assert end is not None
        assert end.machine == "other"
    first.close()


def test_that_saying_alive_without_a_start_is_an_error_with_a_sentence(tmp_path: Path) -> None:
    with StateStore.open(tmp_path / "s") as store, pytest.raises(StoreError, match="No run"):
        store.record_console_alive()


def sighting(at: float, seqno: int | None, node: str = "n") -> NodeSighting:
    return NodeSighting("n1", at, "cluster", node, "", seqno)


def test_that_every_incarnation_of_a_node_is_remembered_the_newest_first(tmp_path: Path) -> None:
    with StateStore.open(tmp_path / "s") as store:
        store.remember_nodes((sighting(100.0, 5),))
        store.remember_nodes((sighting(101.0, 7), sighting(200.0, 9, node="m")))
        store.remember_nodes((sighting(102.0, None),))
    with StateStore.open(tmp_path / "s") as store:
        newest, oldest = store.node_history("n1")
        assert (newest.node_uuid, newest.seqno, newest.first_seen, newest.last_seen) == ("m", 9, 200.0, 200.0)
        assert (oldest.node_uuid, oldest.first_seen, oldest.last_seen) == ("n", 100.0, 102.0)
        assert store.node_history("nobody") == ()


def test_that_a_seqno_which_was_not_told_does_not_wipe_the_one_that_was(tmp_path: Path) -> None:
    with StateStore.open(tmp_path / "s") as store:
        store.remember_nodes((sighting(100.0, 5),))
        store.remember_nodes((sighting(200.0, None),))
        (memory,) = store.node_history("n1")
        assert (memory.seqno, memory.seqno_at, memory.last_seen) == (5, 100.0, 200.0)


def test_that_a_poll_each_second_is_written_each_ten_seconds_only(tmp_path: Path) -> None:
    with StateStore.open(tmp_path / "s") as store, StateStore.open(tmp_path / "s") as reader:
        for second in range(10):
            store.remember_nodes((sighting(100.0 + second, second),))
        assert reader.node_history("n1")[0].seqno == 0
        store.remember_nodes((sighting(110.0, 10),))
        assert reader.node_history("n1")[0].seqno == 10
        store.remember_nodes((sighting(111.0, 11),))
        store.close()
        assert reader.node_history("n1")[0].seqno == 11


def test_that_the_last_position_of_a_node_that_fell_silent_is_written_without_the_store_closing(tmp_path: Path) -> None:
    with StateStore.open(tmp_path / "s") as store, StateStore.open(tmp_path / "s") as reader:
        store.remember_nodes((sighting(100.0, 36),))
        for _ in range(2):  # killed at 104: each later look still holds what it said last
            store.remember_nodes((sighting(104.0, 46),))
        assert [p.seqno for p in reader.positions("n1") if p.source == "running"] == [46]
        assert reader.node_history("n1")[0].seqno == 46


def test_that_a_snapshot_gives_sightings_of_the_nodes_that_answered() -> None:
    galera = GaleraFacts(node_uuid="g", state_uuid="old", local_state_uuid="c", last_committed=12)
    answered = NodeFacts("n1", 50.0, server=ServerFacts(server_uuid="u"), galera=galera, sql_at=49.0)
    fresh = NodeFacts("n2", 50.0, galera=GaleraFacts(state_uuid="c", last_committed=-1), sql_at=50.0)
    silent = NodeFacts("n3", 50.0, galera=galera)
    plain = NodeFacts("n4", 50.0, server=ServerFacts(), sql_at=50.0)
    nodes = tuple(NodeView(f.host, f.host, host=f.host, facts=f) for f in (answered, fresh, silent, plain))
    found = sightings(ClusterSnapshot("c", GALERA, "c", 50.0, nodes=(*nodes, NodeView("n5", "n5"))))
    assert found == (NodeSighting("n1", 49.0, "c", "g", "u", 12), NodeSighting("n2", 50.0, "c", "", "", None))


def test_that_threads_and_a_second_console_may_write_at_the_same_time(tmp_path: Path) -> None:
    failures: list[StoreError] = []

    def write(store: StateStore, name: str) -> None:
        try:
            for number in range(25):
                store.set_setting(f"{name}.{number % 3}", str(number))
        except StoreError as problem:
            failures.append(problem)

    with StateStore.open(tmp_path / "s") as one, StateStore.open(tmp_path / "s") as two:
        threads = [threading.Thread(target=write, args=(s, f"t{n}")) for n, s in enumerate((one, one, two, two))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
        assert {two.get_setting(f"t{n}.0") for n in range(4)} == {"24"}


def test_that_the_default_file_is_in_the_platforms_data_folder() -> None:
    assert default_path().name == "state.sqlite3"
    with StateStore.open() as store:
        assert store.name == str(default_path())
