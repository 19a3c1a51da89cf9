"""Hosts that break in every step of every procedure, on scripted hosts: the run rests with a sentence that is true.

What must come out: no act on a cluster that can't bear it, what is switched on is told, and when the fault is over the
run is taken back to where it began. `python -m tests.faults` writes what these tests see into resources/docs/faults.md.

Each run of the tests takes a sample (spread.py): of every procedure each fault in two steps, and so that the first and
the last step, those around the point of no return and one of each kind of action meet some of them. `test everything`
breaks every step by every fault that can come there.
"""

from __future__ import annotations

import pytest

from services.errors import Refused
from services.procedures.catalogue import all_procedures
from services.procedures.plan.model import Risk
from services.procedures.plan.run_model import UNKNOWN, RunState, RunView, StepState, StepView
from tests.faults.breaking_runs import BROKEN_CASES, Outcome, chances, heal, outcomes, taken_back
from tests.faults.cases import Case
from tests.faults.scripted.breaking import FAULTS, Fault
from tests.faults.scripted.running import Moment
from tests.faults.spread import IN_PARTS, Part, kind_of, of_faults

_RESTS = {RunState.DONE, RunState.FAILED, RunState.WAITING}


_BY_NAME = pytest.mark.parametrize("case", BROKEN_CASES, ids=lambda c: c.name)


@IN_PARTS
@pytest.mark.parametrize("fault", FAULTS, ids=lambda f: f.name)
@_BY_NAME
def test_that_a_run_rests_truthfully_and_is_taken_back_when_a_scripted_host_breaks_in_any_step(
    case: Case, fault: Fault, part: Part
) -> None:
    every = chances(case)
    sample = of_faults(every)
    seen = tuple(outcomes(case, fault, lambda chance: part.has(every.index(chance), sample)))
    assert seen or part is Part.REST
    untouched = case.bench().cluster.state()
    for outcome in seen:
        assert outcome.state in _RESTS, outcome.where
        assert outcome.bench.hosts.armed == (), outcome.where
        _no_lie(outcome)
        _nothing_unbearable(outcome)
        _comes_back(outcome, untouched)


@_BY_NAME
def test_that_the_sample_breaks_each_kind_of_action_by_some_fault_and_each_fault_breaks_some_step(case: Case) -> None:
    every = chances(case)
    sample = [every[place] for place in of_faults(every)]
    steps, broken = [chance.step for chance in every], {chance.step.step_id for chance in sample}
    assert {chance.fault for chance in sample} == set(FAULTS)
    assert {kind_of(chance.step) for chance in sample} == {kind_of(step) for step in steps}
    assert {steps[0].step_id, steps[-1].step_id} <= broken
    assert {step.step_id for step in steps if step.no_return} <= broken


def test_that_every_procedure_is_broken_in_each_run_of_the_tests() -> None:
    assert {case.name for case in BROKEN_CASES} == {procedure.about.name for procedure in all_procedures()}


def _no_lie(outcome: Outcome) -> None:
    view, cluster = outcome.view, outcome.bench.cluster
    assert view.sentence, outcome.where
    if outcome.state is RunState.DONE:
        assert view.obligations == (), outcome.where
        return
    unknown = view.question is not None and view.question.topic == UNKNOWN
    if outcome.state is RunState.FAILED or unknown:
        failed = next(s for s in view.steps if s.state in {StepState.FAILED, StepState.IN_DOUBT})
        assert failed.step.title in view.sentence, outcome.where
        assert failed.error in view.sentence, outcome.where
        _on_is_told(view, outcome.where)
        assert unknown is (failed.state is StepState.IN_DOUBT), outcome.where
        if "Nothing was changed" in failed.error:
            assert f"{failed.step.host}: {failed.step.step_id}" not in cluster.log, outcome.where
    else:
        assert view.question is not None
        assert view.question.topic == "breach", outcome.where
        assert view.breaches, outcome.where


def _on_is_told(view: RunView, where: str) -> None:
    assert all(o.obligation.sentence in view.sentence for o in view.obligations), where


def _nothing_unbearable(outcome: Outcome) -> None:
    """No member is stopped while another one is away, but where the other one fell as the stop was under way."""
    unavoidable = {f"{outcome.step.host} was stopped while another member was away"} if outcome.step.moves else set()
    assert set(outcome.bench.cluster.alarms) <= unavoidable, outcome.where


def _comes_back(outcome: Outcome, untouched: dict[str, object]) -> None:
    """Taken back at once it is undone, or says what it could not; taken back when the fault is over it is undone."""
    if outcome.state is RunState.DONE:
        return
    before = list(outcome.bench.cluster.alarms)
    if outcome.view.no_return:
        _goes_on(outcome)
        return
    broken, state = taken_back(outcome, healed=False)
    view = broken.engine().view
    assert broken.cluster.alarms == before, f"{outcome.where} | undo: {broken.cluster.alarms}"
    if state is RunState.FAILED:  # nobody gives up what is not known to be worthless: nothing was touched
        assert any(_asks_first(s) for s in view.steps), outcome.where
        assert broken.cluster.log == outcome.bench.cluster.log, outcome.where
    else:
        assert state in {RunState.UNDONE, RunState.UNDO_FAILED}, outcome.where
        assert state is RunState.UNDO_FAILED or view.obligations == (), outcome.where
    _on_is_told(view, f"{outcome.where} | undo: {view.sentence}")
    healed, state = taken_back(outcome, healed=True)
    view = healed.engine().view
    assert state is RunState.UNDONE, f"{outcome.where} | healed: {view.sentence}"
    assert view.obligations == (), outcome.where
    final = any(s.step.risk is Risk.IRREVERSIBLE and s.step.undo is None for s in view.steps)
    assert final or healed.cluster.state() == untouched, outcome.where


def _asks_first(shown: StepView) -> bool:
    undo = shown.step.undo
    return undo is not None and undo.consent is not None and undo.consent.first


def _goes_on(outcome: Outcome) -> None:
    """Past its point of no return nothing is taken back; when the fault is over the run comes to its end."""
    with pytest.raises(Refused, match="point of no return"):
        taken_back(outcome, healed=False)
    old = outcome.bench
    bench = old.after_kill(Moment("", old.journal.entries(old.run_id), old.cluster))
    heal(outcome, bench)
    bench.person.answers["failed"] = "again"
    assert bench.run() is RunState.DONE, f"{outcome.where} | healed: {bench.engine().view.sentence}"
    assert bench.engine().view.obligations == (), outcome.where


@pytest.mark.parametrize("case", [c for c in BROKEN_CASES if c.name == "freeze-gcache"], ids=lambda c: c.name)
def test_that_a_frozen_cache_is_released_at_once_when_its_disk_is_nearly_full_and_the_person_is_told(
    case: Case,
) -> None:
    full = next(f for f in FAULTS if f.name == "disk filled")
    breached = [o for o in outcomes(case, full) if o.state is RunState.WAITING]
    assert {"restart-off-n3", "drain-n3", "stop-n3", "maintenance"} <= {o.step.step_id for o in breached}
    for outcome in breached:
        assert outcome.bench.cluster.hosts["n1"].frozen_at == "-1", outcome.where
        assert not any(o.obligation.key.startswith("freeze:") for o in outcome.view.obligations), outcome.where
        assert outcome.view.sentence.startswith("DISK-FLOOR: The disk of n1 was nearly full"), outcome.where
