"""Good plans break no rule; a good plan with one thing wrong is told exactly that."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.connections.command import Command
from services.procedures.conditions.galera.data.clean_position import CleanPosition
from services.procedures.conditions.galera.membership.no_primary import NoPrimary
from services.procedures.conditions.galera.membership.whole import ClusterWhole
from services.procedures.conditions.galera.transfer.which import TransferWas
from services.procedures.conditions.machine.disk import FreeDisk
from services.procedures.conditions.server.status import StatusIs
from services.procedures.conditions.server.stopped import Stopped
from services.procedures.plan.actions import Ask, Continue, CopiedSecret, EditOptions, PutFile, Run, WaitFor
from services.procedures.plan.condition import Kept
from services.procedures.plan.invariants.plans import declared_off, kept_by, touched, violations
from services.procedures.plan.model import Breach, Plan, Risk, Step, Undo, WatchRule
from services.secrets import Secret
from tests.examples import examples
from tests.unit.procedures.any_values import any_value
from tests.unit.procedures.plans import (
    DISK,
    FREEZE,
    GOOD,
    HOSTS,
    UUID,
    ask,
    edit,
    freeze,
    good_plans,
    plan_of,
    rest,
    start,
    stop,
    unfreeze,
    wait,
    wipe,
)

Mutation = Callable[[Plan], Plan]


@given(good_plans())
def test_that_good_plans_break_no_rule(plan: Plan) -> None:
    assert violations(plan, begun=True) == ()


@given(any_value(Plan))
@settings(max_examples=examples(60))
def test_that_any_plan_at_all_is_judged_without_a_crash(plan: Plan) -> None:
    assert all(isinstance(sentence, str) for sentence in violations(plan, begun=True))


def with_step(which: str, **changes: Any) -> Mutation:
    def change(plan: Plan) -> Plan:
        return replace(plan, steps=tuple(replace(s, **changes) if s.step_id == which else s for s in plan.steps))

    return change


def with_taken(**changes: Any) -> Mutation:
    def change(plan: Plan) -> Plan:
        taken = replace(FREEZE, **changes)
        first = plan.steps[0]
        undo = replace(first.undo, action=taken.release) if first.undo else None
        return replace(plan, steps=(replace(first, takes=taken, undo=undo), *plan.steps[1:]))

    return change


def without(step_id: str) -> Mutation:
    return lambda plan: replace(plan, steps=tuple(s for s in plan.steps if s.step_id != step_id))


def with_watch(**changes: Any) -> Mutation:
    return lambda plan: replace(plan, watches=(replace(DISK, **changes),))


def adding(step: Step, at: int = 2) -> Mutation:
    return lambda plan: replace(plan, steps=(*plan.steps[:at], step, *plan.steps[at:]))


COPIED = EditOptions("/p", "s", (("a", CopiedSecret("n9", "b")),))
SETTLED = StatusIs("n2", "wsrep_local_recv_queue", "<", "10", for_s=9.0)
SECRET = Run(Command(("mariadb",), stdin=Secret("hunter2")))

BREAKS: list[tuple[Mutation, str]] = [
    (without("unfreeze-n1"), "'freeze-n1' takes 'freeze:n1', and no later step discharges it"),
    (with_step("unfreeze-n1", discharges=()), "no later step discharges it"),
    (with_step("unfreeze-n1", proof=()), "'unfreeze-n1' discharges an obligation without a proof"),
    (without("freeze-n1"), "'unfreeze-n1' discharges 'freeze:n1', which no earlier step takes"),
    (lambda plan: replace(plan, steps=plan.steps[::-1]), "discharges 'freeze:n1', which no earlier step takes"),
    (with_step("freeze-n1", undo=None), "undo of step 'freeze-n1' is not the release of 'freeze:n1'"),
    (with_step("freeze-n1", undo=stop("n1").undo), "undo of step 'freeze-n1' is not the release"),
    (
        with_step("unfreeze-n1", undo=Undo("Freeze", freeze("n1").action, takes=replace(FREEZE, danger="other"))),
        "The undo of step 'unfreeze-n1' takes 'freeze:n1', which no earlier step takes so",
    ),
    (with_taken(release_proof=()), "Nothing proves that 'freeze:n1' is released"),
    (with_taken(release=rest("x").action), "The release of 'freeze:n1' changes nothing"),
    (with_taken(host=""), "The obligation 'freeze:n1' names no host"),
    (with_taken(host="n9"), "'freeze-n1' touches n9, which is not a host of the plan"),
    (with_step("stop-n2", host="n9"), "'stop-n2' touches n9"),
    (with_step("stop-n2", host=""), "'stop-n2' changes something, but names no host"),
    (with_step("stop-n2", moves="n9"), "'stop-n2' touches n9"),
    (with_step("start-n2", settles=("n2", "n9")), "'start-n2' touches n9"),
    (with_step("stop-n2", proof=(Stopped("n9", "u"), *stop().proof)), "'stop-n2' touches n9"),
    (with_step("stop-n2", before=(ClusterWhole((*HOSTS, "n9"), 4, UUID),)), "'stop-n2' touches n9"),
    (adding(replace(edit("n3"), undo=Undo("u", COPIED))), "'edit-n3' touches n9"),
    (adding(replace(edit("n3"), action=PutFile("/p", ("a", CopiedSecret("n9", "b"))))), "'edit-n3' touches n9"),
    (with_watch(condition=FreeDisk("n9", "/", 1)), "watch rule 'disk' reads n9"),
    (with_step("start-n2", settles=()), "n2 leaves or joins the quorum, and no step says that it has settled"),
    (adding(stop("n3")), "'stop-n3' moves n3 while n2 has not settled"),
    (adding(replace(stop("n3"), moves="")), "'stop-n3' moves n3 while n2 has not settled"),
    (lambda plan: adding(stop("n3"))(replace(plan, quorums=(("n1", "n2"), ("n2", "n3")))), "moves n3 while n2 has not"),
    (lambda plan: adding(stop("n3"))(replace(plan, quorums=(("n1",),))), "moves n3 while n2 has not settled"),
    (adding(rest("x"), 0), ""),
    (adding(freeze()), "The step id 'freeze-n1' appears 2 times"),
    (adding(replace(freeze(), step_id="again")), "The obligation 'freeze:n1' appears 2 times"),
    (adding(replace(start("n2"), step_id="again"), 4), "The detached work 'start-n2' appears 2 times"),
    (lambda plan: replace(plan, watches=(DISK, DISK)), "The watch rule 'disk' appears 2 times"),
    (with_step("ask-work", step_id=""), "a step id without a name"),
    (with_step("stop-n2", limit_s=0.0), "'stop-n2' has no time limit above zero"),
    (with_step("stop-n2", limit_s=float("nan")), "'stop-n2' has no time limit above zero"),
    (with_step("stop-n2", undo=replace(stop().undo, limit_s=-1.0)), "'stop-n2' has no time limit"),  # type: ignore[type-var]
    (with_step("stop-n2", estimate_s=-1.0), "'stop-n2' has an estimate below zero"),
    (with_watch(every_s=0.0), "watch rule 'disk' is looked at every 0 s"),
    (with_step("stop-n2", before=(SETTLED,)), "'stop-n2' looks only once at what has to be so for 9 s"),
    (with_step("stop-n2", already=(SETTLED,)), "'stop-n2' looks only once"),
    (with_step("stop-n2", proof=(*stop().proof, SETTLED), limit_s=9.0), "'stop-n2' ends after 9 s, and waits for 9 s"),
    (adding(replace(wait("x"), action=WaitFor((SETTLED,), "x"), limit_s=5.0)), "ends after 5 s, and waits for 9 s"),
    (adding(replace(wait("x"), action=WaitFor((SETTLED,), "x"), limit_s=10.0)), ""),
    (with_taken(release_proof=(SETTLED,)), "'freeze-n1' looks only once"),
    (with_watch(condition=SETTLED), "watch rule 'disk' is a span of time"),
    (adding(replace(wait("all"), step_id="again"), 6), "Step 'again' appears twice: it is 'wait-all' again"),
    (adding(replace(wait("all"), step_id="again"), 2), ""),
    (with_step("start-n2", before=(CleanPosition("n2", "/d", UUID, Kept("other")),)), "uses the value 'other'"),
    (with_step("stop-n2", proof=stop().proof[:1]), "'start-n2' uses the value 'position-n2'"),
    (with_step("stop-n2", before=(CleanPosition("n2", "/d", UUID, Kept("position-n2")),)), "'stop-n2' uses the value"),
    (with_step("stop-n2", already=(Stopped("n2", "u"),)), "'start-n2' uses the value 'position-n2'"),
    (with_taken(release_once=(CleanPosition("n2", "/d", UUID, Kept("position-n2")),)), ""),
    (with_taken(release_once=(CleanPosition("n2", "/d", UUID, Kept("other")),)), "'freeze-n1' uses the value 'other'"),
    (with_taken(release_when=(CleanPosition("n2", "/d", UUID, Kept("position-n2")),)), "'freeze-n1' uses the value"),
    (with_watch(condition=CleanPosition("n2", "/d", UUID, Kept("position-n2"))), "watch rule 'disk' uses the value"),
    (adding(wipe("n3")), ""),
    (adding(replace(wipe("n3"), confirm="")), "'wipe-n3' cannot be undone, and no host's name"),
    (adding(replace(wipe("n3"), confirm="yes")), "'wipe-n3' cannot be undone, and no host's name"),
    (adding(replace(edit("n3"), undo=None)), "'edit-n3' has no undo and does not say why"),
    (adding(replace(edit("n3"), undo=None, why="It does no harm.")), ""),
    (adding(replace(edit("n3"), action=SECRET)), "'edit-n3' holds a secret"),
    (adding(replace(edit("n3"), action=Run(Command(("a",)), pattern="(")), 2), "not a regular expression"),
    (with_step("start-n2", proof=(TransferWas("n2", "IST", "", "unfreeze-n1"),)), "looks back to step 'unfreeze-n1'"),
    (with_step("start-n2", before=(TransferWas("n2", "IST", "", "start-n2"),)), "looks back to step 'start-n2'"),
    (with_watch(condition=TransferWas("n2", "IST", "", "gone")), "watch rule 'disk' looks back to step 'gone'"),
    (with_watch(from_step="gone"), "watch rule 'disk' names step 'gone'"),
    (with_watch(to_step="gone"), "watch rule 'disk' names step 'gone'"),
    (with_watch(from_step="unfreeze-n1", to_step="freeze-n1"), "watch rule 'disk' ends before it begins"),
    (with_watch(releases="freeze:n2"), "releases 'freeze:n2', which no step takes"),
    (with_watch(releases=""), "releases '', which no step takes"),
    (with_watch(breach=Breach.PAUSE, releases=""), ""),
    (adding(replace(ask("x"), action=Ask("Type it", kind="typed"))), "does not say which"),
    (adding(replace(ask("x"), action=Ask("Which", kind="choice"))), "offers no choice"),
    (adding(replace(ask("x"), action=Ask("Which", kind="choice", choices=(("a", "A"),), unattended="b"))),
     "which is not one"),
]  # fmt: skip


@pytest.mark.parametrize(("mutation", "sentence"), BREAKS, ids=[f"{i}: {words}" for i, (_, words) in enumerate(BREAKS)])
def test_that_one_thing_wrong_in_a_good_plan_is_told(mutation: Mutation, sentence: str) -> None:
    found = violations(mutation(GOOD), begun=True)
    if not sentence:
        assert found == ()
    else:
        assert any(sentence in told for told in found), found


@given(good_plans(), st.data())
def test_that_a_step_on_a_strange_host_is_found_wherever_it_stands(plan: Plan, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(plan.steps)))
    strange = data.draw(st.sampled_from((edit("far"), wipe("far"), replace(rest("r"), host="far"))))
    changed = replace(plan, steps=(*plan.steps[:at], strange, *plan.steps[at:]))
    assert any("touches far" in told for told in violations(changed, begun=True))


@given(good_plans(), st.data())
def test_that_a_step_without_its_discharge_or_its_settling_is_found(plan: Plan, data: st.DataObject) -> None:
    needed = [s for s in plan.steps if s.discharges or s.settles]
    if not needed:
        return
    gone = data.draw(st.sampled_from(needed))
    told = violations(replace(plan, steps=tuple(s for s in plan.steps if s is not gone), watches=()), begun=True)
    wanted = "no later step discharges" if gone.discharges else f"{gone.host} leaves or joins|while {gone.host} has not"
    assert any(part in sentence for sentence in told for part in wanted.split("|"))


@given(good_plans(), st.data())
def test_that_a_second_node_put_in_motion_between_two_steps_is_found(plan: Plan, data: st.DataObject) -> None:
    starts = [at for at, step in enumerate(plan.steps) if step.settles]
    if not starts:
        return
    at = data.draw(st.sampled_from(starts))
    third = next(host for host in HOSTS if host != plan.steps[at].host)
    mover = replace(rest("moving"), moves=third)
    told = violations(replace(plan, steps=(*plan.steps[:at], mover, *plan.steps[at:])), begun=True)
    assert f"Step 'rest-moving' moves {third} while {plan.steps[at].host} has not settled." in told


def test_that_a_plan_whose_rest_is_made_later_may_leave_its_discharge_to_that_rest() -> None:
    so_far = plan_of(freeze(), stop(), replace(rest("x"), step_id="more", action=Continue("the position")))
    assert violations(so_far, begun=True) == ()
    longer = replace(so_far, steps=(*so_far.steps, start(), unfreeze()))
    assert violations(longer, begun=True) == ()
    assert len(violations(replace(so_far, steps=(*so_far.steps, rest("y"))), begun=True)) == 2


def test_that_a_plan_with_nothing_to_do_breaks_no_rule() -> None:
    assert violations(plan_of(), begun=True) == ()


def test_that_hosts_declared_away_and_node_names_are_not_touched() -> None:
    assert touched(NoPrimary(("n1",), accounted=("n2",))) == {"n1"}
    assert touched(TransferWas("n1", "IST", "node-two", "s")) == {"n1"}
    assert touched(ClusterWhole(("n1",), 1, UUID, but_desynced=("n3",))) == {"n1", "n3"}


def test_that_what_is_kept_is_found_inside_actions_and_conditions() -> None:
    assert kept_by(GOOD) == {"frozen-n1", "position-n2"}
    assert kept_by((Ask("q", keep="answer"), Run(Command(("a",)), keep="b"))) == {"answer", "b"}


def test_that_a_watch_rule_may_use_what_is_kept_before_its_first_step() -> None:
    rule = WatchRule("p", CleanPosition("n2", "/d", UUID, Kept("position-n2")), "s", from_step="start-n2")
    assert violations(replace(GOOD, watches=(rule,)), begun=True) == ()


def test_that_a_reading_step_needs_no_undo() -> None:
    step = replace(edit("n3"), undo=None, risk=Risk.READS)
    assert violations(plan_of(step), begun=True) == ()


def test_that_hosts_that_a_person_declared_off_are_known_to_who_looks_again() -> None:
    step = replace(rest("look"), before=(NoPrimary(("n1",), ("n8", "n9")), NoPrimary(("n2",), ("n9",))))
    assert declared_off(plan_of(step)) == ("n8", "n9")


def test_that_members_of_two_quorums_may_be_in_motion_at_once_and_two_of_one_may_not() -> None:
    both = plan_of(stop("n1"), stop("n2"), start("n1"), start("n2"))
    apart = replace(both, quorums=(("n1", "n3"), ("n2",)))
    assert not any("has not settled" in told for told in violations(apart, begun=True))
    assert "Step 'stop-n2' moves n2 while n1 has not settled." in violations(both, begun=True)
