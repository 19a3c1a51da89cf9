"""mongo-rolling-upgrade takes hours: what a colleague changes meanwhile, and what an earlier run has done already."""

from __future__ import annotations

from dataclasses import replace

from services.facts.model import NodeFacts
from services.facts.mongodb.sharding import Shard
from services.procedures.conditions.config_servers.strangers import NoOtherRouter, NoOtherShard
from services.procedures.conditions.mongodb.leads_not import LeadsNot
from services.procedures.conditions.mongodb.others_follow import OthersFollow
from services.procedures.conditions.mongodb.others_hold import OthersHold
from services.procedures.conditions.mongodb.release import RunsRelease
from services.procedures.conditions.mongodb.spared import Spared
from services.procedures.conditions.mongodb.stepped_down import AnotherLeads, NeedNotStepDown
from services.procedures.conditions.mongodb.strangers import NoOtherMember
from services.procedures.plan.actions import Ask, WaitFor
from services.procedures.plan.checks import Verdict
from services.procedures.plan.condition import Condition
from services.procedures.plan.host_facts import HostFacts
from services.procedures.plan.invariants.plans import violations
from services.procedures.plan.model import Plan
from tests.unit.discovery.mongo_scenes import hosts, member, row, view
from tests.unit.procedures.catalogue.mongodb.test_mongo_rolling_upgrade import (
    PROCEDURE,
    _as,
    _members,
    _sharded,
    check,
    facts,
)


def _waits(plan: Plan, step_id: str) -> tuple[Condition, ...]:
    action = plan.step(step_id).action
    assert isinstance(action, WaitFor)
    return action.conditions


def test_that_who_came_in_the_hours_between_is_looked_for_at_the_end() -> None:
    """The run told of every server that it runs the version: a fourth member and a mongos ran the old one."""
    plan = PROCEDURE.plan(_sharded("3.0.15", mirrored=True), {"version": "3.2.22"})
    assert violations(plan) == ()
    # Behind the balancer, which is as it was by then; it is the last look of the plan as well.
    assert [one.step_id for one in plan.steps[-2:]] == ["balancer-on", "nobody-else"]
    member, router, *looked_again = _waits(plan, "nobody-else")
    assert member == NoOtherMember(("m1", "m2", "m3"), ("m1:27018", "m2:27018", "m3:27018"))
    assert isinstance(router, NoOtherRouter)
    assert (router.host, router.names) == ("r1", ("r1:27017", "r2:27017"))
    assert {type(one).__name__ for one in looked_again} == {"BalancerIs", "SetWhole"}
    assert plan.expects == (
        "Every server of the plan runs 3.2.22, every set is healthy, and the balancer is as before.",
    )
    alone = PROCEDURE.plan(facts(*_members()), {"version": "3.2.22"})
    assert [type(one) for one in _waits(alone, "nobody-else")] == [NoOtherMember]
    assert [one.step("nobody-else").done for one in (plan, alone)] == [
        "No member and no mongos was added meanwhile", "No member was added meanwhile"
    ]  # fmt: skip


def test_that_a_shard_that_came_in_the_hours_between_is_looked_for_at_the_end() -> None:
    told = _sharded("3.0.15", mirrored=True)
    shards = (Shard("rs0", hosts("rs0/m1:27018,m2:27018,m3:27018")),)
    nodes = [one.node for one in told.hosts if one.node is not None]
    named = [_naming(node, shards) for node in nodes]
    plan = PROCEDURE.plan(facts(*named), {"version": "3.2.22"})
    assert violations(plan) == ()
    assert NoOtherShard("r1", ("rs0",)) in _waits(plan, "nobody-else")
    assert plan.step("nobody-else").done == "No member, no mongos and no shard was added meanwhile"


def _naming(node: NodeFacts, shards: tuple[Shard, ...]) -> NodeFacts:
    mongo = node.mongo
    if mongo is None or mongo.cluster is None:
        return node
    return replace(node, mongo=replace(mongo, cluster=replace(mongo.cluster, shards=shards)))


def test_that_before_each_server_goes_down_the_votes_of_the_others_are_counted_again() -> None:
    """A colleague took votes away while others were replaced: the last one was asked for with one vote of two left."""
    rows = (row(1, "PRIMARY"), row(2), row(3, "ARBITER"))
    plan = PROCEDURE.plan(facts(*_members(rows)), {"version": "3.2.22"})
    assert violations(plan) == ()
    for host in ("m1", "m2", "m3"):
        spared = Spared(("m1", "m2", "m3"), f"{host}:27018")
        assert spared in _waits(plan, f"{host}:calm")  # before the primary steps down, too
        assert spared in plan.step(f"{host}:replace").before


def test_that_what_was_accepted_at_the_beginning_does_not_stop_the_run() -> None:
    two = PROCEDURE.plan(facts(*_members((row(1, "PRIMARY"), row(2)))), {"version": "3.2.22"})
    never = (row(1, "PRIMARY"), row(2, priority=0.0), row(3, "ARBITER"))
    last = PROCEDURE.plan(facts(*_members(never)), {"version": "3.2.22"}).step("m1:replace")
    for step in (*two.steps, last):
        assert not any(isinstance(one, Spared) for one in step.before), step.step_id


def test_that_an_arbiter_that_tells_nobody_its_set_is_counted_by_its_place() -> None:
    rows = (row(1, "PRIMARY"), row(2), row(3, "ARBITER"))
    mute = member(3, view(3, rows))
    assert mute.mongo is not None
    mute = replace(mute, mongo=replace(mute.mongo, set=None))
    plan = PROCEDURE.plan(facts(*_members(rows)[:2], mute), {"version": "3.2.22"})
    assert Spared(("m1", "m2"), "m3:27018") in plan.step("m3:replace").before


def test_that_what_an_earlier_run_replaced_is_neither_waited_for_nor_made_to_step_down_again() -> None:
    """The second run after a failure made a primary step down for nothing: it ran the new version already."""
    half = facts(*(_as("3.2.22" if node.host != "m3" else "3.2.5", node) for node in _members()))
    plan = PROCEDURE.plan(half, {"version": "3.2.22"})
    assert violations(plan) == ()
    for host in ("m1", "m2", "m3"):
        runs = (RunsRelease(host, "3.2.22"),)
        assert (plan.step(f"{host}:calm").already, plan.step(f"{host}:replace").already) == (runs, runs)
    down = plan.step("m1:step-down")
    assert down.already == (NeedNotStepDown(("m1", "m2", "m3"), "m1", "3.2.22"),)
    assert down.proof == (AnotherLeads(("m1", "m2", "m3"), "m1"),)
    evidence = check("ONE-RELEASE", half).evidence
    assert evidence == "m1 3.2.22, already done; m2 3.2.22, already done; m3 3.2.5"


def test_that_what_was_replaced_is_told_by_its_version_where_the_run_is_taken_back() -> None:
    """'This remains: Another member is primary of rs0' was all: which servers run the new version it did not say."""
    plan = PROCEDURE.plan(_sharded("3.2.21", mirrored=False), {"version": "3.2.22"})
    asked = [step for step in plan.steps if isinstance(step.action, Ask)]
    assert len(asked) == len(plan.hosts)
    for step in asked:
        assert isinstance(step.action, Ask)
        assert step.action.deed, step.step_id
        assert [type(one) for one in step.already] == [RunsRelease]


def test_that_a_primary_which_takes_the_lead_back_is_told_as_a_second_election() -> None:
    """'Elects once, it does not lead for ten minutes': seconds after its return it led again, by its priority."""
    first = (row(1, "PRIMARY", priority=2.0), row(2), row(3))
    told = check("ANOTHER-LEADS", facts(*_members(first)))
    assert told.verdict is Verdict.PASS
    assert told.evidence == (
        "rs0: m2, m3; m1 has the highest priority and becomes primary again once it is replaced: a second election"
    )
    assert check("ANOTHER-LEADS", facts(*_members())).evidence == "rs0: m2, m3"
    assert "twice" in PROCEDURE.about.can_break
    assert (
        "until its restart" in PROCEDURE.plan(facts(*_members(first)), {"version": "3.2.22"}).step("m1:step-down").why
    )


def test_that_while_a_person_has_a_member_in_hand_the_majority_of_the_others_is_watched() -> None:
    """Another member died while the question stood, and it still said: stop m2. That would have taken the majority."""
    plan = PROCEDURE.plan(facts(*_members()), {"version": "3.2.22"})
    assert violations(plan) == ()
    watched = {rule.code: rule for rule in plan.watches}
    assert set(watched) == {f"{what}-M{n}" for what in ("MAJORITY", "BEHIND", "LEADS") for n in (1, 2, 3)}
    assert watched["BEHIND-M2"].condition == OthersFollow(("m1", "m3"), "m2:27018")
    rule = watched["MAJORITY-M2"]
    assert rule.condition == OthersHold(("m1", "m3"), "m2:27018")
    assert (rule.from_step, rule.to_step) == ("m2:replace", "m2:back")
    two = (row(1, "PRIMARY"), row(2))
    watched = {rule.code: rule for rule in PROCEDURE.plan(facts(*_members(two)[:2]), {"version": "3.2.22"}).watches}
    assert set(watched) == {"LEADS-M1", "LEADS-M2"}, "without one of two nobody has a majority, which was accepted"
    assert watched["LEADS-M2"].condition == LeadsNot("m2", "3.2.22", ("m1",), "m2:27018")


def test_that_a_member_that_does_not_answer_is_called_by_its_host_and_a_stranger_by_its_place() -> None:
    known = facts(*_members()[:2])
    away = HostFacts("db3", "m3")
    whole = replace(known, members=(*known.members, "db3"), hosts=(*known.hosts, away))
    for code in ("EVERY-SERVER", "SET-WHOLE"):
        assert "db3 (m3:27018) does not answer" in check(code, whole).evidence
        assert "m3:27018 is not in the inventory" in check(code, known).evidence
