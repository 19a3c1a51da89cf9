"""The lock where two inventories know one shard as two clusters: with its mongos, and as a set of its own."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from services.clock import ManualClock
from services.connections.ports import Output
from services.connections.reads.read import CommandRead
from services.connections.reads.registry import command_of
from services.procedures.engine.lock import ClusterLock, LockHeld, LockNotTaken, lock_path, lock_text
from services.procedures.gather.gather import _lock
from services.procedures.gather.reader import Reader
from services.procedures.journal.codec import decode, encode
from services.procedures.plan.host_facts import LockSeen
from services.procedures.plan.model import Plan
from tests.unit.procedures.scripted_sessions import ScriptedSession, out
from tests.unit.procedures.two_on_one_host import MISSING, Estate, Roads

WHOLE, FIRST, SECOND = "cluster-77", "set-5f00", "set-5f01"
PARTS = ((FIRST, ("n1",)), (SECOND, ("n2",)))


def _plan(cluster: str, *hosts: str, parts: tuple[tuple[str, tuple[str, ...]], ...] = ()) -> Plan:
    on = tuple((key, key.partition(":")[0]) for key in hosts if ":" in key)
    return Plan("mongo-x", "x", "x", cluster, "shop", hosts, (hosts,), (), (), on=on, parts=parts)


EVERYTHING = _plan(WHOLE, "n1", "n2", parts=PARTS)
SET_ALONE = _plan(FIRST, "n1", parts=((FIRST, ("n1",)),))


def _console(estate: Estate, run_id: str, owner: str, plan: Plan) -> tuple[ClusterLock, Roads]:
    roads = Roads(estate)
    roads.arm(run_id, plan.hosts)
    return ClusterLock(roads, run_id, owner, ManualClock()), roads


def _locked(estate: Estate) -> dict[str, set[str]]:
    return {host: {path for path in files if "/lock-" in path} for host, files in estate.files.items()}


@pytest.mark.parametrize(("first", "then"), [(EVERYTHING, SET_ALONE), (SET_ALONE, EVERYTHING)])
def test_that_two_consoles_meet_on_a_shard_which_one_of_them_knows_without_its_mongos(first: Plan, then: Plan) -> None:
    estate = Estate()
    ann, _ = _console(estate, "47", "ann@desk", first)
    ann.take(first)
    before = _locked(estate)
    bob, _ = _console(estate, "9", "bob@laptop", then)
    with pytest.raises(LockHeld, match="ann@desk runs mongo-x") as held:
        bob.take(then)
    assert (held.value.held_on, held.value.holder.run_id) == ("n1", "47")
    assert _locked(estate) == before  # what it took of the others was given back
    assert ann.release() == ()
    assert _locked(estate) == {"n1": set(), "n2": set()}
    assert bob.take(then).hosts == then.machines


def test_that_each_part_is_locked_on_its_own_hosts_and_the_cluster_on_all() -> None:
    estate = Estate()
    lock, _ = _console(estate, "47", "ann@desk", EVERYTHING)
    lock.take(EVERYTHING)
    assert _locked(estate) == {
        "n1": {lock_path(WHOLE), lock_path(FIRST)},
        "n2": {lock_path(WHOLE), lock_path(SECOND)},
    }


def test_that_a_set_which_is_the_cluster_itself_is_locked_once() -> None:
    estate = Estate()
    lock, _ = _console(estate, "47", "ann@desk", SET_ALONE)
    lock.take(SET_ALONE)
    assert _locked(estate)["n1"] == {lock_path(FIRST)}


def test_that_runs_for_two_shards_of_one_cluster_go_on_at_once_where_they_share_no_host() -> None:
    """Two sets are independent: each has its own primary, its own configuration, its own majority."""
    estate = Estate()
    one, other = (_plan(WHOLE, host, parts=((name, (host,)),)) for name, (host,) in PARTS)
    ann, _ = _console(estate, "47", "ann@desk", one)
    bob, _ = _console(estate, "48", "ann@desk", other)
    assert (ann.take(one).hosts, bob.take(other).hosts) == (("n1",), ("n2",))
    assert (ann.check(), bob.check()) == ((), ())
    both, _ = _console(estate, "9", "bob@laptop", EVERYTHING)
    with pytest.raises(LockHeld):  # what is for the whole cluster waits for both
        both.take(EVERYTHING)


def test_that_runs_for_two_shards_with_a_host_in_common_wait_for_each_other() -> None:
    """One console works on a host for one cluster: what one restarts or fills the other would take for a fault."""
    estate = Estate()
    one, other = (_plan(WHOLE, key, parts=((name, (key,)),)) for name, key in ((FIRST, "n1"), (SECOND, "n1:3307")))
    ann, _ = _console(estate, "47", "ann@desk", one)
    ann.take(one)
    bob, _ = _console(estate, "48", "ann@desk", other)
    with pytest.raises(LockHeld) as held:
        bob.take(other)
    assert held.value.held_on == "n1"
    assert _locked(estate)["n1"] == {lock_path(WHOLE), lock_path(FIRST)}


def test_that_a_majority_of_each_part_is_needed_too() -> None:
    """Of a cluster of two hosts and a part of one, both may be asked but this one: a run for the part meets nobody."""
    estate = Estate()
    plan = _plan(WHOLE, "n1", "n2", "n1:3307", parts=((SECOND, ("n2",)),))
    plan = replace(plan, on=(("n1:3307", "n3"),))
    assert plan.machines == ("n1", "n2", "n3")
    lock, roads = _console(estate, "47", "ann@desk", plan)
    roads.away = "n2"
    with pytest.raises(LockNotTaken, match="Only 0 of the 1 hosts of a replica set could be locked") as refused:
        lock.take(plan)
    assert "n2 (No route to host)" in str(refused.value)
    assert _locked(estate) == {"n1": set(), "n2": set()}


def test_that_a_lock_taken_over_on_a_part_is_lost_to_the_run_for_the_whole_cluster() -> None:
    estate = Estate()
    ann, _ = _console(estate, "47", "ann@desk", EVERYTHING)
    ann.take(EVERYTHING)
    bob, _ = _console(estate, "9", "bob@laptop", SET_ALONE)
    taken = bob.take(SET_ALONE, take_over=True)
    assert taken.taken_from is not None
    assert taken.taken_from.owner == "ann@desk"
    assert ann.check() == ("n1",)
    assert ann.release() == ()  # its own goes, bob's stays
    assert _locked(estate) == {"n1": {lock_path(FIRST)}, "n2": set()}
    assert bob.check() == ()


def test_that_a_run_takes_its_locks_again_and_makes_those_that_a_restarted_host_lost() -> None:
    estate = Estate()
    first, _ = _console(estate, "47", "ann@desk", EVERYTHING)
    first.take(EVERYTHING)
    again, _ = _console(estate, "47", "ann@desk", EVERYTHING)
    assert again.take(EVERYTHING).hosts == ("n1", "n2")
    estate.files["n1"].clear()
    assert again.check() == ()
    assert _locked(estate)["n1"] == {lock_path(WHOLE), lock_path(FIRST)}
    again.release()
    assert _locked(estate) == {"n1": set(), "n2": set()}


def test_that_parts_are_kept_with_a_plan_and_a_plan_without_is_as_before() -> None:
    assert decode(Plan, json.loads(json.dumps(encode(EVERYTHING)))) == EVERYTHING
    plan = _plan(WHOLE, "n1", "n2")
    assert "parts" not in encode(plan)  # type: ignore[operator]
    assert plan.locks == ((WHOLE, ("n1", "n2")),)


class _Host(ScriptedSession):
    """Has the lock of one run."""

    def __init__(self, cluster_id: str) -> None:
        super().__init__("n1")
        self._path = lock_path(cluster_id)

    def run(self, read: CommandRead, *, limit_s: float = 10.0) -> Output:
        del limit_s
        held = LockSeen("ann@desk", "47", 1.0, "mongo-x", "c")
        there = command_of(read).argv[-1] == self._path
        return Output(0, lock_text(held).encode(), b"") if there else out(errors=MISSING, code=1)


@pytest.mark.parametrize(("lies", "seen"), [(WHOLE, True), (FIRST, True), (SECOND, False)])
def test_that_a_preflight_sees_the_lock_of_the_cluster_and_of_the_set(lies: str, seen: bool) -> None:
    reader = Reader(_Host(lies), ManualClock())
    assert (_lock(reader, WHOLE, FIRST) is not None) is seen
    assert (_lock(reader, WHOLE, "") is not None) is (lies == WHOLE)
    assert reader.problems == []
