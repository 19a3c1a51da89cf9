"""Our own history in a gathering: what is known before, what is added, and that a store that fails stops nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from services.discovery.families.mongodb.kind import REPLICA_SET
from services.discovery.model import ClusterSnapshot, NodeView, PrimariesApart
from services.errors import StoreError
from services.facts.galera.state_files import ZERO_UUID, Grastate
from services.facts.model import NodeFacts
from services.facts.mongodb.model import MongoFacts
from services.facts.mongodb.server import MongoServer
from services.history.state.positions import PositionSeen
from services.history.state.rows import NodeSighting
from services.history.state.store import StateStore
from services.procedures.gather.memory import keep, remembered, with_two_primaries
from services.procedures.plan.host_facts import Facts
from tests.unit.discovery.families.test_two_primaries import split
from tests.unit.discovery.scenes import AT, STATE, only
from tests.unit.procedures.facts_of_three import UUID, down, facts

OLD = "aaaaaaaa-e5aa-11f1-ae7d-76e16c615942"


class Failing(StateStore):
    """A state on a disk that fails."""

    def remember_positions(self, seen: object) -> None:
        raise StoreError("The state store cannot be written.")

    def positions(self, host: str) -> tuple[()]:
        raise StoreError("The state store cannot be read.")


def test_that_newest_and_highest_of_all_sources_are_remembered_with_who_read_them(tmp_path: Path) -> None:
    with StateStore.open(tmp_path / "s") as store:
        store.remember_nodes((NodeSighting("n1", 50.0, UUID, "g", "", 275),), "topology")
        store.remember_positions((PositionSeen("n1", UUID, "recovered", 80, 90.0, "run 4"),))
        (known,) = remembered(store, "n1")
        assert (known.seqno, known.at, known.source, known.by) == (80, 90.0, "recovered", "run 4")
        assert (known.highest, known.top_at, known.top_source, known.top_by) == (275, 50.0, "running", "topology")
        assert remembered(store, "n2") == ()
        assert remembered(None, "n1") == ()


def test_that_what_a_state_file_claims_is_told_apart_from_what_a_server_told(tmp_path: Path) -> None:
    with StateStore.open(tmp_path / "s") as store:
        store.remember_nodes((NodeSighting("n1", 50.0, UUID, "g", "", 275),), "topology")
        store.remember_positions((PositionSeen("n1", UUID, "grastate", 99_999, 90.0, "plan"),))
        (known,) = remembered(store, "n1")
        assert (known.highest, known.proven, known.claimed) == (99_999, 275, 99_999)
        store.remember_positions((PositionSeen("n1", UUID, "recovered", 100_000, 95.0, "run 4"),))
        (reached,) = remembered(store, "n1")
        assert (reached.proven, reached.claimed) == (100_000, None)


def test_that_the_cluster_a_host_was_seen_running_in_comes_first(tmp_path: Path) -> None:
    """A grastate.dat that says otherwise since is a sighting of a file, not of a member."""
    with StateStore.open(tmp_path / "s") as store:
        store.remember_nodes((NodeSighting("n1", 50.0, UUID, "g", "", 5),))
        store.remember_positions((PositionSeen("n1", OLD, "grastate", 9, 90.0, "plan"),))
        assert [known.cluster_uuid for known in remembered(store, "n1")] == [UUID, OLD]


def test_that_a_gathering_keeps_what_the_state_files_say(tmp_path: Path) -> None:
    stopped = down("n1", grastate=Grastate(UUID, 120))
    crashed = down("n2", grastate=Grastate(UUID, -1))
    emptied = down("n3", grastate=Grastate(ZERO_UUID, 7))
    with StateStore.open(tmp_path / "s") as store:
        found = keep(store, facts(stopped, crashed, emptied, at=9.0), "run 7")
        assert found.problems == ()
        (kept,) = store.positions("n1")
        assert (kept.source, kept.seqno, kept.at, kept.read_by) == ("grastate", 120, 9.0, "run 7")
        assert store.positions("n2") == store.positions("n3") == ()


def test_that_a_store_that_fails_costs_a_sentence_and_nothing_else(tmp_path: Path) -> None:
    with StateStore.open(tmp_path / "good") as good:
        store = Failing(good._engine, "s", good._clock)
        found = keep(store, facts(), "plan")
        assert [p.code for p in found.problems] == ["store-error"]
        assert remembered(store, "n1") == ()


def looked(*, again: ClusterSnapshot | None, store: StateStore) -> Facts:
    known = replace(facts(), cluster_id=STATE, cluster=only(split()))
    return with_two_primaries(store, known, "plan", lambda: again)


def test_that_two_looks_at_two_primaries_are_kept_for_every_later_plan(tmp_path: Path) -> None:
    with StateStore.open(tmp_path / "s") as store:
        found = looked(again=only(split(AT + 2)), store=store)
        assert [seen.sides for seen in found.two_primaries] == [(("db1", "db2"), ("db3",))]
    with StateStore.open(tmp_path / "s") as store:
        calm = with_two_primaries(store, replace(facts(), cluster_id=STATE), "plan", lambda: None)
        (seen,) = calm.two_primaries
        assert (seen.cluster_uuid, seen.at, seen.sides) == (STATE, AT + 2.1, (("db1", "db2"), ("db3",)))
        store.splits().settle(STATE, "ada", "n3 was emptied")
        assert with_two_primaries(store, replace(facts(), cluster_id=STATE), "plan", lambda: None).two_primaries == ()


def test_that_one_look_holds_this_plan_up_and_is_not_kept(tmp_path: Path) -> None:
    with StateStore.open(tmp_path / "s") as store:
        found = looked(again=None, store=store)
        assert [seen.sides for seen in found.two_primaries] == [(("db1", "db2"), ("db3",))]
        assert store.splits().open() == ()


def test_that_a_host_that_was_found_is_known_by_its_address_and_by_its_nodes_name(tmp_path: Path) -> None:
    with StateStore.open(tmp_path / "s") as store:
        store.remember_nodes((NodeSighting("10.0.0.3", 50.0, UUID, "g", "", 5),))
        store.remember_positions((PositionSeen("n3", UUID, "recovered", 9, 40.0, "run 4"),))
        (known,) = remembered(store, "10.0.0.3", "n3")
        assert (known.seqno, known.highest) == (5, 9)
        store.splits().note(PrimariesApart(UUID, "lab", 60.0, (("n1",), ("node-three",)), "e"), "check")
        seen = facts(down("n3", node_name="node-three"))
        assert [two.sides for two in with_two_primaries(store, seen, "plan", lambda: None).two_primaries] == [
            (("n1",), ("n3",))
        ]


def test_that_a_mongod_which_was_found_by_host_and_port_is_not_kept_by_its_address_alone(tmp_path: Path) -> None:
    """It stood twice in the next picture: as what was found, and as what was remembered."""
    member = MongoFacts(MongoServer(role="member"), None, None, None, None, None)
    nodes = tuple(
        NodeView(name, name, name, facts=NodeFacts(name, 9.0, sql_at=9.0, mongo=member)) for name in ("m1", "m2")
    )
    seen = replace(facts(at=9.0), cluster=ClusterSnapshot("58f0", REPLICA_SET, "rs0", 9.0, nodes=nodes))
    with StateStore.open(tmp_path / "state.sqlite") as store:
        keep(store, seen, "plan", {"m2": "10.0.0.2"})
        assert store.hosts_of("58f0") == ("m1",)
