"""Whatever the facts and the inputs: a plan keeps every invariant, can be journalled, and holds no secret."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.procedures.catalogue import all_procedures, procedure_named
from services.procedures.journal.codec import decode, encode
from services.procedures.plan.checks import Verdict
from services.procedures.plan.invariants.plans import violations
from services.procedures.plan.model import Plan
from services.procedures.plan.procedure import Procedure
from tests.examples import examples
from tests.unit.procedures.catalogue.random_facts import estates, typed

EXAMPLES = settings(max_examples=examples(30), deadline=None, suppress_health_check=list(HealthCheck))


@pytest.mark.parametrize("procedure", all_procedures(), ids=lambda p: p.about.name)
@given(data=st.data())
@EXAMPLES
def test_that_every_plan_keeps_the_invariants_whatever_the_facts_and_inputs(
    procedure: Procedure, data: st.DataObject
) -> None:
    facts = data.draw(estates())
    inputs = data.draw(typed(procedure, facts))
    if procedure.faults(facts, inputs):
        return
    plan = procedure.plan(facts, inputs)
    assert violations(plan) == ()
    assert decode(Plan, json.loads(json.dumps(encode(plan)))) == plan


@pytest.mark.parametrize("procedure", all_procedures(), ids=lambda p: p.about.name)
@given(data=st.data())
@EXAMPLES
def test_that_every_checklist_can_be_made_and_names_each_check_once_per_host(
    procedure: Procedure, data: st.DataObject
) -> None:
    facts = data.draw(estates())
    inputs = data.draw(typed(procedure, facts))
    if procedure.faults(facts, inputs):
        return
    checks = procedure.preflight(facts, inputs)
    assert checks
    assert len({(check.code, check.host) for check in checks}) == len(checks)
    assert all(check.evidence and check.title for check in checks)
    blocking = [check for check in checks if check.verdict is Verdict.BLOCK]
    assert all(check.try_ or check.answers or check.commands for check in blocking)


@given(data=st.data())
@EXAMPLES
def test_that_a_continued_bootstrap_keeps_the_first_part_and_the_invariants(data: st.DataObject) -> None:
    procedure = procedure_named("bootstrap-after-crash")
    facts = data.draw(estates())
    inputs = data.draw(typed(procedure, facts))
    if procedure.faults(facts, inputs):
        return
    first = procedure.plan(facts, inputs)
    if first.nothing_to_do or first.steps[-1].step_id != "choose":
        return
    _, whole = procedure.continued(facts, inputs, first)
    assert whole.steps[: len(first.steps)] == first.steps
    assert violations(whole) == ()
