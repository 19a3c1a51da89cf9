"""Every step fails once: each way that the failed run itself offers leads on, when the fault is over. Scripted hosts.

To try again, to go on, a person's word: the run ends done. To take it back: test_broken_in_every_step.py. To leave it
as it is: it is over, and whatever could not be switched off is told.
"""

from __future__ import annotations

import pytest
from _pytest.mark.structures import ParameterSet

from services.procedures.plan.run_model import RunState
from tests.faults.breaking_runs import BROKEN_CASES, Outcome, heal, outcomes
from tests.faults.cases import Case
from tests.faults.scripted.breaking import FAULTS, Fault
from tests.faults.scripted.running import Bench, Moment

_ONE_OF_EACH = tuple(
    fault for fault in FAULTS if fault.name in {"act refused", "start fails", "sshd stopped in the wait"}
)
"""It fails before its act, by its act's outcome, and nobody knows: every other fault ends in one of these. Where a
server was killed a person first starts it again, or takes the run back: test_broken_in_every_step.py."""

_SAMPLE = frozenset({"bootstrap", "encrypt", "tune", "freeze", "snapshot"})
"""Plans of which a test run fails each act; the others, and the other faults, take longer (`test everything`)."""


def _cases() -> list[ParameterSet]:
    return [
        pytest.param(case, fault, id=f"{case.title}-{fault.name}", marks=[] if sampled else [pytest.mark.long])
        for case in BROKEN_CASES
        for fault in _ONE_OF_EACH
        for sampled in [case.title in _SAMPLE and fault.name == "act refused"]
    ]


@pytest.mark.parametrize(("case", "fault"), _cases())
def test_that_each_way_that_a_failed_step_offers_leads_on_when_the_fault_is_over_on_scripted_hosts(
    case: Case, fault: Fault
) -> None:
    rested = [one for one in outcomes(case, fault) if one.state is not RunState.DONE]
    for outcome in rested:
        question = outcome.view.question
        assert question is not None, outcome.where
        offered = {value for value, _ in question.ask.choices}
        assert offered & {"again", "go on"}, outcome.where
        for way in sorted(offered - {"undo", "leave", "stop"}):
            _goes_on(outcome, way)
        if "leave" in offered:
            _is_left(outcome)


def _healed(outcome: Outcome) -> Bench:
    old = outcome.bench
    bench = old.after_kill(Moment("", old.journal.entries(old.run_id), old.cluster))
    heal(outcome, bench)
    bench.confirmed |= outcome.case.accepts
    return bench


def _goes_on(outcome: Outcome, way: str) -> None:
    question = outcome.view.question
    assert question is not None
    bench = _healed(outcome)
    bench.person.answers[question.topic] = way
    state = bench.run()
    assert state is RunState.DONE, f"{outcome.where} | {way}: {state.value}: {bench.engine().view.sentence}"
    assert bench.engine().view.obligations == (), f"{outcome.where} | {way}"


def _is_left(outcome: Outcome) -> None:
    bench = _healed(outcome)
    assert bench.engine().leave("to see to it") is RunState.LEFT, outcome.where
    view = bench.engine().view
    for one in view.obligations:
        assert one.release_failed, outcome.where
        assert one.obligation.sentence in view.sentence, f"{outcome.where} | left: {view.sentence}"
