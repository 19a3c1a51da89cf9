"""What was proven once and others may change is looked at again: before what relies on it, and at the plan's end."""

from __future__ import annotations

from dataclasses import replace

from services.procedures.conditions.config_servers.uses import RoutersUse
from services.procedures.conditions.mongodb.stopped import MongoStopped
from services.procedures.plan.actions import WaitFor
from services.procedures.plan.invariants.plans import violations
from services.procedures.plan.last_look import LAST_LOOK, is_point, looked_again
from services.procedures.plan.model import Plan, Risk, Step
from tests.unit.procedures.engine_world import borrow, give_back, is_, plan_of, rest, switch, wait


def _seen(step: Step) -> tuple[object, ...]:
    return step.action.conditions if isinstance(step.action, WaitFor) else ()


def _plan(*steps: Step) -> Plan:
    return plan_of(*looked_again(steps))


def test_that_a_plan_without_a_look_at_its_end_gets_one_at_all_that_was_proven() -> None:
    plan = _plan(switch("n1", "a"), switch("n2", "b"))
    assert plan.steps[-1].step_id == LAST_LOOK
    assert _seen(plan.steps[-1]) == (is_("n1", "a"), is_("n2", "b"))


def test_that_a_look_at_the_end_is_widened_by_what_it_does_not_look_at() -> None:
    plan = _plan(switch("n1", "a"), wait("n2", "b"))
    assert [step.step_id for step in plan.steps] == ["a-n1", "wait-b-n2"]
    assert _seen(plan.steps[-1]) == (is_("n2", "b"), is_("n1", "a"))


def test_that_the_newest_proof_of_a_subject_counts_and_what_is_on_for_a_while_does_not() -> None:
    plan = _plan(borrow("n1", "frozen"), switch("n1", "a"), switch("n1", "a2", proof=(is_("n1", "a", "OFF"),)),
                 give_back("n1", "frozen"))  # fmt: skip
    assert _seen(plan.steps[-1]) == (is_("n1", "a", "OFF"), is_("n1", "frozen", "OFF"))


def test_that_a_point_looks_again_at_all_before_it_but_not_at_what_it_changes_itself() -> None:
    point = switch("n2", "b", proof=(is_("n2", "b"), is_("n1", "c", "OFF")), no_return=True)
    plan = _plan(switch("n1", "a"), switch("n1", "c"), point)
    assert plan.steps[2].first_before == (is_("n1", "a"),)
    assert is_point(replace(point, no_return=False, final=True))
    assert is_point(replace(point, no_return=False, risk=Risk.IRREVERSIBLE))


def test_that_what_only_a_server_tells_that_the_plan_has_stopped_is_not_looked_at_while_it_is_down() -> None:
    """Seen on real servers: before its point a run asked every mongos for the balancer, and had stopped every one."""
    down = MongoStopped("n1", "mongos.service")
    stop = switch("n1", "stop", proof=(down,))
    plan = _plan(switch("n1", "a"), stop, switch("n2", "b", no_return=True))
    assert plan.steps[2].first_before == (down,)
    up = switch("n1", "start", proof=(RoutersUse(("n1",), "csrs"),))
    again = _plan(switch("n1", "a"), stop, up, switch("n2", "b", no_return=True))
    assert is_("n1", "a") in again.steps[3].first_before


def test_that_looking_again_twice_changes_nothing_more() -> None:
    steps = looked_again((switch("n1", "a"), switch("n2", "b", final=True), rest()))
    assert looked_again(steps) == steps


def test_that_a_plan_that_does_not_look_again_breaks_the_laws_and_a_run_that_was_begun_goes_on_all_the_same() -> None:
    plan = plan_of(switch("n1", "a"), switch("n2", "b", final=True))
    told = violations(plan)
    assert told == (
        "Step 'b-n2' relies on what was proven before, and does not look again: the variable to be set on n1.",
        "The last step does not look again at what others may have changed: the variable to be set on n1.",
        "The last step does not look again at what others may have changed: the variable to be set on n2.",
    )
    assert violations(plan, begun=True) == ()
