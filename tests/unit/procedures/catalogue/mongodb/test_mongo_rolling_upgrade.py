"""mongo-rolling-upgrade: the order of each release, what is refused, and the plan's gates."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from services.discovery.families.mongodb.claims import set_id
from services.facts.model import NodeFacts
from services.facts.mongodb.sharding import Router, Shard, ShardedCluster
from services.procedures.catalogue import procedure_named
from services.procedures.catalogue.mongodb.rolling_upgrade.steps import NOT_BACK
from services.procedures.conditions.config_servers.metadata import MetadataSame
from services.procedures.conditions.config_servers.strangers import NoOtherRouter
from services.procedures.conditions.mongodb.balancer import BalancerIs, NothingMoves
from services.procedures.conditions.mongodb.follows import SuccessorFollows
from services.procedures.conditions.mongodb.in_cluster import InCluster
from services.procedures.conditions.mongodb.spared import Spared
from services.procedures.conditions.mongodb.steady import SetSteady
from services.procedures.conditions.mongodb.stepped_down import AnotherLeads
from services.procedures.conditions.mongodb.whole import SetWhole
from services.procedures.plan.actions import WaitFor
from services.procedures.plan.checks import Check, Verdict
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.invariants.plans import violations
from services.procedures.plan.model import Plan
from services.procedures.plan.parts.mongodb.rights import MongoRights
from services.procedures.plan.wording import wording
from tests.unit.discovery.mongo_scenes import NOW, down, hosts, member, mirror, place, router, row, view

PROCEDURE = procedure_named("mongo-rolling-upgrade")
FREE = MongoRights(logged_in=False)
THREE = (row(1, "PRIMARY"), row(2), row(3))
CONFIG = tuple(row(n, "PRIMARY" if n == 2 else "SECONDARY", prefix="c") for n in (1, 2, 3))


def _members(rows: Any = THREE, **more: Any) -> tuple[NodeFacts, ...]:
    return tuple(member(one.id, view(one.id, rows, **more)) for one in rows)


def _as(version: str, node: NodeFacts, **more: Any) -> NodeFacts:
    assert node.mongo is not None
    server = replace(node.mongo.server, version=version, **more)
    return replace(node, mongo=replace(node.mongo, server=server))


def facts(*nodes: NodeFacts, rights: MongoRights = FREE) -> Facts:
    told = tuple(HostFacts(n.host, n.host, n, parts=(rights,)) for n in nodes)
    return Facts(float(NOW), "5f00", "shop", members=tuple(h.host for h in told), hosts=told)


def _sharded(version: str, *, mirrored: bool, balancer: bool | None = True) -> Facts:
    text = "c1:27019,c2:27019,c3:27019"
    cluster = ShardedCluster("77", hosts(text if mirrored else f"csrs/{text}"), balancer=balancer)
    config = (
        tuple(mirror(n, cluster) for n in (1, 2, 3))
        if mirrored
        else tuple(
            member(one.id, view(one.id, CONFIG, name="csrs", id="c5", config_servers=True), config="replica-set")
            for one in CONFIG
        )
    )
    every = (*_members(), *config, router(1, cluster), router(2, cluster))
    return facts(*(_as(version, node) for node in every))


def _turn(plan: Plan) -> list[str]:
    return [step.step_id.partition(":")[0] for step in plan.steps if step.step_id.endswith(":replace")]


def check(code: str, known: Facts, version: str = "3.2.22", **inputs: str) -> Check:
    return next(one for one in PROCEDURE.preflight(known, {"version": version, **inputs}) if one.code == code)


def test_that_the_primary_of_a_set_comes_last_and_nobody_is_replaced_while_it_leads() -> None:
    plan = PROCEDURE.plan(facts(*_members()), {"version": "3.2.22"})
    assert violations(plan) == ()
    assert _turn(plan) == ["m2", "m3", "m1"]
    ids = [step.step_id for step in plan.steps]
    assert ids[-3:] == ["m1:caught-up", "nobody-else", "last-look"]  # it served, and nobody looked whether it follows
    assert ids.index("m1:step-down") == ids.index("m1:replace") - 1
    for host in ("m1", "m2", "m3"):
        assert AnotherLeads(("m1", "m2", "m3"), host) in plan.step(f"{host}:replace").before
    assert wording(plan.step("m1:step-down").action) == (
        'db.getSiblingDB("admin").runCommand({replSetStepDown: 600, secondaryCatchUpPeriodSecs: 30})',
    )


def test_that_to_3_2_shards_come_first_then_mirrors_in_reverse_then_mongos_with_the_balancer_off_all_along() -> None:
    plan = PROCEDURE.plan(_sharded("3.0.15", mirrored=True), {"version": "3.2.22"})
    assert violations(plan) == ()
    assert _turn(plan) == ["m2", "m3", "m1", "c3", "c2", "c1", "r1", "r2"]
    assert [plan.steps[n].step_id for n in (0, 1, -2, -1)] == [
        "balancer-off", "nothing-moves", "balancer-on", "nobody-else"
    ]  # fmt: skip
    last = plan.steps[-1].action
    assert isinstance(last, WaitFor)
    assert {NoOtherRouter, BalancerIs, SetWhole} < {type(one) for one in last.conditions}, "the last look is in it"
    assert plan.quorums == (("m1", "m2", "m3"), ("c3", "c2", "c1"))
    where, typed = wording(plan.steps[0].action)
    assert where == "// at r1, or r2 where it does not answer"
    assert typed == (
        'db.getSiblingDB("config").runCommand({update: "settings", updates: [{q: {_id: "balancer"}, '
        'u: {$set: {stopped: true}}, upsert: true}], writeConcern: {w: "majority", wtimeout: 20000}})'
    )


def test_that_from_3_4_on_config_servers_come_first_and_mongos_last() -> None:
    plan = PROCEDURE.plan(_sharded("3.2.22", mirrored=False), {"version": "3.4.24"})
    assert violations(plan) == ()
    assert _turn(plan) == ["c1", "c3", "c2", "m2", "m3", "m1", "r1", "r2"]


def test_that_a_balancer_that_is_off_stays_off_and_one_not_known_blocks_because_the_lab_can_always_read_it() -> None:
    off = _sharded("3.2.21", mirrored=False, balancer=False)
    assert "balancer-off" not in [step.step_id for step in PROCEDURE.plan(off, {"version": "3.2.22"}).steps]
    assert check("BALANCER", off).verdict is Verdict.PASS
    unknown = _sharded("3.2.21", mirrored=False, balancer=None)
    assert check("BALANCER", unknown).verdict is Verdict.BLOCK


@pytest.mark.parametrize(
    ("now", "version", "fine"),
    [
        ("3.2.5", "3.2.22", True),
        ("3.2.22", "3.4.24", True),
        ("3.0.15", "3.4.24", False),
        ("3.2.22", "3.2.21", False),
        ("4.4.29", "5.0.31", True),
        ("4.2.1", "5.0.31", False),
        ("3.2.22", "3.3.1", False),
    ],
)
def test_that_no_release_is_left_out_and_none_is_gone_back(now: str, version: str, fine: bool) -> None:
    known = facts(*(_as(now, node) for node in _members()))
    assert (check("ONE-RELEASE", known, version).verdict is Verdict.PASS) is fine


def test_that_what_the_new_release_lacks_is_refused() -> None:
    assert "mirrored config servers" in check("TOO-OLD", _sharded("3.2.22", mirrored=True), "3.4.24").evidence
    old = facts(*(_as("3.6.23", node) for node in _members(protocol=0)))
    assert "rs0 has protocolVersion 0" in check("TOO-OLD", old, "4.0.28").evidence
    mmap = facts(*(_as("4.0.28", node, engine="mmapv1") for node in _members()))
    assert check("TOO-OLD", mmap, "4.2.24").verdict is Verdict.BLOCK


def test_that_an_upgrade_that_was_not_finished_blocks_on_invented_facts_because_the_lab_has_3_2_alone() -> None:
    behind = facts(*(_as("4.0.28", node, compatibility="3.6") for node in _members()))
    assert check("COMPATIBILITY", behind, "4.2.24").verdict is Verdict.BLOCK
    fine = facts(*(_as("4.0.28", node, compatibility="4.0") for node in _members()))
    assert check("COMPATIBILITY", fine, "4.2.24").verdict is Verdict.PASS
    assert check("COMPATIBILITY", facts(*(_as("4.0.28", n) for n in _members())), "4.2.24").unknown


def test_that_a_set_where_nobody_else_may_lead_is_told_and_alone_it_does_not_step_down() -> None:
    never = (row(1, "PRIMARY"), row(2, priority=0.0), row(3, priority=0.0))
    assert check("ANOTHER-LEADS", facts(*_members(never))).verdict is Verdict.WARN
    alone = PROCEDURE.plan(facts(*_members((row(1, "PRIMARY"),))), {"version": "3.2.22"})
    assert violations(alone) == ()
    assert [s.step_id for s in alone.steps] == [
        "m1:calm", "m1:replace", "m1:back", "m1:caught-up", "nobody-else", "last-look"
    ]  # fmt: skip


def test_that_a_primary_that_nobody_can_follow_is_replaced_where_it_is_and_does_not_step_down() -> None:
    """Its step-down is refused, and the last step wanted another one to lead: the run ended before its last server."""
    never = (row(1, "PRIMARY"), row(2, priority=0.0), row(3, "ARBITER"))
    plan = PROCEDURE.plan(facts(*_members(never)), {"version": "3.2.22"})
    assert violations(plan) == ()
    assert _turn(plan) == ["m2", "m3", "m1"]
    assert not any(step.step_id.endswith(":step-down") for step in plan.steps)
    assert not any(isinstance(one, AnotherLeads) for one in plan.step("m1:replace").before)
    assert AnotherLeads(("m1", "m2", "m3"), "m2") in plan.step("m2:replace").before


def test_that_a_set_of_two_votes_is_told_to_take_no_writes_meanwhile() -> None:
    two = check("ANOTHER-LEADS", facts(*_members((row(1, "PRIMARY"), row(2)))))
    assert (two.verdict, "without one of its 2 votes it has no majority" in two.evidence) == (Verdict.WARN, True)
    assert check("ANOTHER-LEADS", facts(*_members())).verdict is Verdict.PASS
    blind = facts(*(member(one.id, view(one.id, THREE, votes=None, majority=None)) for one in THREE))
    assert check("ANOTHER-LEADS", blind).verdict is Verdict.WARN


def test_that_nobody_of_the_cluster_is_left_out_and_told_to_be_done() -> None:
    """A mongos, a mirrored config server, a shard or an arbiter that was not read was just not in the plan."""
    whole = _sharded("3.0.15", mirrored=True)
    assert check("EVERY-SERVER", whole).verdict is Verdict.PASS
    gone = replace(whole, members=tuple(m for m in whole.members if m != "c3"))
    assert "2 of 3 mirrored config servers were read" in check("EVERY-SERVER", gone).evidence
    silent = replace(whole, members=(*whole.members, "r9"), hosts=(*whole.hosts, HostFacts("r9", "r9", down(9, "r"))))
    assert "r9 was not read" in check("EVERY-SERVER", silent).evidence
    rows = (row(1, "PRIMARY"), row(2), row(3, "ARBITER"))
    arbiter = facts(*_members(rows)[:2])
    found = check("EVERY-SERVER", arbiter)
    assert (found.verdict, "the arbiter m3:27018 was not read" in found.evidence) == (Verdict.BLOCK, True)


def test_that_a_shard_and_a_mongos_that_only_the_metadata_name_are_not_left_out() -> None:
    shards = (Shard("rs0", hosts("rs0/m1:27018")), Shard("rs1", hosts("rs1/k1:27018")))
    routers = (Router(place("r1:27017"), pinged_at=float(NOW)), Router(place("r7:27017"), pinged_at=float(NOW)),
               Router(place("r8:27017"), pinged_at=NOW - 900.0))  # fmt: skip
    cluster = ShardedCluster("77", hosts("csrs/c1:27019"), shards, routers, balancer=True)
    node = router(1, cluster)
    assert node.mongo is not None
    node = replace(node, mongo=replace(node.mongo, server=replace(node.mongo.server, at=float(NOW))))
    found = check("EVERY-SERVER", facts(*_members(), node))
    assert found.verdict is Verdict.BLOCK
    assert found.evidence == (
        "the shard rs1 is not a replica set that was read; the mongos r7:27017 is not in the inventory, "
        "or does not answer"
    )


def test_that_an_arbiter_that_tells_nobody_its_set_is_replaced_in_the_one_that_counts_it() -> None:
    """Two sets of one name: it was put into both, and the plan broke its own laws."""
    rows = (row(1, "PRIMARY"), row(2), row(3, "ARBITER"))
    mute = member(3, view(3, rows))
    assert mute.mongo is not None
    mute = replace(mute, mongo=replace(mute.mongo, set=None))
    others = tuple(row(n, "PRIMARY" if n == 1 else "SECONDARY", prefix="k") for n in (1, 2, 3))
    twin = tuple(member(one.id, view(one.id, others, id="77")) for one in others)
    plan = PROCEDURE.plan(facts(*_members(rows)[:2], mute, *twin), {"version": "3.2.22"})
    assert violations(plan) == ()
    assert sorted(_turn(plan)) == ["k1", "k2", "k3", "m1", "m2", "m3"]


@pytest.mark.parametrize("balancer", [True, False])
def test_that_before_each_server_the_balancer_is_looked_at_again(*, balancer: bool) -> None:
    """A colleague who switched it on in the hours between was not noticed, nor one who moves a chunk by hand."""
    plan = PROCEDURE.plan(_sharded("3.0.15", mirrored=True, balancer=balancer), {"version": "3.2.22"})
    assert violations(plan) == ()
    off, idle = BalancerIs("r1", on=False, others=("r2",)), NothingMoves("r1", ("r2",))
    for host in ("m1", "m2", "m3"):
        waits = plan.step(f"{host}:calm").action
        assert isinstance(waits, WaitFor)
        assert {off, idle} <= set(waits.conditions)
    for host in ("c1", "c2", "c3"):
        assert {off, idle} <= set(plan.step(f"{host}:replace").before)
    alone = PROCEDURE.plan(facts(*_members()), {"version": "3.2.22"})
    waits = [alone.step(f"m{n}:calm").action for n in (1, 2)]
    assert all(isinstance(one, WaitFor) for one in waits)
    kinds = [[type(one) for one in wait.conditions] for wait in waits if isinstance(wait, WaitFor)]
    assert kinds == [
        [SetSteady, SuccessorFollows, Spared],
        [SetSteady, Spared],
    ]  # the primary steps down: somebody has what it has


def test_that_a_config_server_is_back_with_its_metadata_and_a_mongos_with_its_cluster() -> None:
    """One that was started on an empty folder answers, and runs the version: the next one was asked for."""
    plan = PROCEDURE.plan(_sharded("3.0.15", mirrored=True), {"version": "3.2.22"})
    same, ours = MetadataSame(("c3", "c2", "c1")), InCluster("r1", "77")
    for host in ("c1", "c2", "c3"):
        assert same in plan.step(f"{host}:replace").before
        back = plan.step(f"{host}:back").action
        assert isinstance(back, WaitFor)
        assert same in back.conditions
    assert ours in plan.step("r1:replace").before
    back = plan.step("r1:back").action
    assert isinstance(back, WaitFor)
    assert ours in back.conditions


def test_that_no_way_back_is_promised_that_the_checks_refuse() -> None:
    plan = PROCEDURE.plan(facts(*_members()), {"version": "3.2.22"})
    assert any(step.why == NOT_BACK for step in plan.steps)
    assert "does not downgrade" in NOT_BACK
    back = facts(*(_as("3.2.22", node) for node in _members()))
    assert check("ONE-RELEASE", back, "3.2.5").verdict is Verdict.BLOCK


def test_that_there_is_nothing_to_do_where_every_server_runs_it_and_half_done_goes_on() -> None:
    done = facts(*(_as("3.2.22", node) for node in _members()))
    assert PROCEDURE.plan(done, {"version": "3.2.22"}).nothing_to_do
    half = facts(*(_as("3.2.22" if node.host == "m2" else "3.2.5", node) for node in _members()))
    plan = PROCEDURE.plan(half, {"version": "3.2.22"})
    assert plan.step("m2:replace").already != ()  # it is skipped by what the server says then


@pytest.mark.parametrize("version", ["", "3.2", "3.2.x", "latest", "3.2.22-rc0"])
def test_that_a_version_is_written_whole(version: str) -> None:
    assert PROCEDURE.faults(facts(*_members()), {"version": version}) != ()


def test_that_the_locks_of_the_shards_and_of_the_config_set_are_taken_too() -> None:
    plan = PROCEDURE.plan(_sharded("3.2.22", mirrored=False), {"version": "3.4.24"})
    assert dict(plan.parts) == {"c5": ("c1", "c2", "c3"), set_id(view(1, THREE)): ("m1", "m2", "m3")}
