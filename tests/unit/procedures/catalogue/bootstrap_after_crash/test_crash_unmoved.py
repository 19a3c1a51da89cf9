"""A plan that bootstraps, forms or joins holds the positions that it was made by against what is there now."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.facts.galera.state_files import Grastate
from services.procedures.catalogue import procedure_named
from services.procedures.conditions.galera.data.at_rest import PositionMark, Unmoved
from services.procedures.conditions.server.status import StatusIs
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.invariants.plans import violations
from services.procedures.plan.model import Plan, Step
from tests.unit.procedures.catalogue.bootstrap_after_crash.test_crash_choice import VIEW, crashed, parted, rest_of
from tests.unit.procedures.facts_of_three import NAMES, UUID, down

PROCEDURE = procedure_named("bootstrap-after-crash")


def held(step: Step) -> tuple[str, ...]:
    return tuple(c.host for c in step.before if isinstance(c, Unmoved))


def without(plan: Plan, step_id: str, host: str) -> Plan:
    """Return the plan whose step does not hold one host's position."""

    def one(step: Step) -> Step:
        before = tuple(c for c in step.before if not (isinstance(c, Unmoved | StatusIs) and c.host == host))
        return replace(step, before=before) if step.step_id == step_id else step

    return replace(plan, steps=tuple(map(one, plan.steps)))


def of_one_view() -> Facts:
    state = Grastate(UUID, -1, safe_to_bootstrap=False)
    return crashed(*(down(name, gvwstate=VIEW, grastate=state) for name in NAMES), n1=10, n2=12, n3=12)


def test_that_all_positions_are_held_before_the_bootstrap_and_those_still_down_before_each_join() -> None:
    plan = rest_of(crashed(n1=10, n2=10, n3=11))
    assert held(plan.step("bootstrap")) == NAMES
    chosen = next(c for c in plan.step("bootstrap").before if isinstance(c, Unmoved) and c.host == "n3")
    assert (chosen.safe, chosen.position, chosen.own_start) == (True, f"{UUID}:11", "bootstrap")
    assert held(plan.step("start-n1")) == ("n1", "n2")
    assert held(plan.step("start-n2")) == ("n2",)


def test_that_a_member_that_was_left_out_is_held_to_its_position_too() -> None:
    plan = rest_of(crashed(n1=10, n2=10, n3=11), nodes="n1, n2", bootstrap="n2")
    assert held(plan.step("bootstrap")) == NAMES
    assert "n3" in held(plan.step("start-n1"))


def test_that_after_a_vain_try_to_form_again_the_positions_count_that_were_recovered_last() -> None:
    seen = of_one_view()
    tried = rest_of(seen)
    assert held(tried.step("form-n2")) == ("n2",)
    assert len([c for c in tried.step("still-none").action.conditions if isinstance(c, Unmoved)]) == 3  # type: ignore[union-attr]
    _, by_hand = PROCEDURE.continued(seen, {}, tried)
    marks = [c.mark for c in by_hand.step("bootstrap").before if isinstance(c, Unmoved)]
    assert marks == ["again-looked-n1", "again-looked-n2", "again-looked-n3"]
    first = by_hand.step("again-recover-n1").proof[0]
    assert isinstance(first, PositionMark)
    assert first.since == "again-stopped-n1"


@pytest.mark.parametrize("step_id", ["bootstrap", "start-n1"])
def test_that_a_plan_that_does_not_hold_a_position_breaks_the_laws(step_id: str) -> None:
    plan = rest_of(crashed(n1=10, n2=10, n3=11))
    sentence = f"Step '{step_id}' relies on the positions of n1, and nothing compares them with the present."
    assert violations(without(plan, step_id, "n1")) == (sentence,)
    strange = replace(plan.step("recover-n1"), proof=())
    steps = tuple(strange if s.step_id == "recover-n1" else s for s in plan.steps)
    assert "Step 'bootstrap' uses the mark 'looked-n1', which nothing keeps." in violations(replace(plan, steps=steps))


def test_that_a_statement_that_makes_a_primary_holds_where_each_server_stood_when_it_was_planned() -> None:
    plan = PROCEDURE.plan(parted(n1=5, n2=5, n3=7), {})
    before = plan.step("make-primary").before
    stood = {c.host: c.value for c in before if isinstance(c, StatusIs) and c.status == "wsrep_last_committed"}
    assert stood == {"n1": "5", "n2": "5", "n3": "7"}
    sentence = "Step 'make-primary' relies on the positions of n2, and nothing compares them with the present."
    assert sentence in violations(without(plan, "make-primary", "n2"))
