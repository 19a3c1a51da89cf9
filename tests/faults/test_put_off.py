"""A host that does not come back past the point of no return, on scripted hosts: the steps without it go first."""

from __future__ import annotations

import pytest

from services.procedures.plan.run_model import PUT_OFF, RESTS_AT, Question, RunState
from tests.faults.breaking_runs import Outcome, heal, outcomes
from tests.faults.cases import CASES, Case
from tests.faults.scripted.breaking import FAULTS, Fault
from tests.faults.scripted.running import Bench, Moment, Somebody

_CASES = [case for case in CASES if case.title.startswith("config servers")]
_LASTING = [fault for fault in FAULTS if fault.lasts and fault.hits == "own"]


class _PutsOff(Somebody):
    """A person who puts off what can be, and mends the host where nothing else is left to do."""

    def __init__(self, outcome: Outcome, bench: Bench) -> None:
        super().__init__()
        self._outcome, self._bench = outcome, bench
        self.put_off: list[str] = []
        self.ended_before_mended: set[str] = set()

    def answer(self, run_id: str, question: Question) -> str | None:
        """Answer a failed step; all else is answered by the policy."""
        del run_id
        if question.topic not in RESTS_AT:
            return None
        if PUT_OFF in dict(question.ask.choices):
            self.put_off.append(question.step_id)
            return PUT_OFF
        if not self.ended_before_mended:
            view = self._bench.engine().view
            self.ended_before_mended = {one.step.step_id for one in view.steps if one.state.value == "done"}
        heal(self._outcome, self._bench)
        return "again"


@pytest.mark.parametrize("fault", _LASTING, ids=lambda fault: fault.name)
@pytest.mark.parametrize("case", _CASES, ids=lambda case: case.title)
def test_that_the_other_steps_go_first_and_none_is_left_out_on_scripted_hosts(case: Case, fault: Fault) -> None:
    for outcome in outcomes(case, fault, lambda chance: chance.step.later is not None):
        if outcome.state is RunState.DONE:
            continue
        old = outcome.bench
        bench = old.after_kill(Moment("", old.journal.entries(old.run_id), old.cluster))
        person = bench.person = _PutsOff(outcome, bench)
        assert bench.run() is RunState.DONE, f"{outcome.where} | {bench.engine().view.sentence}"
        view = bench.engine().view
        assert all(one.state.value in {"done", "already so"} for one in view.steps), outcome.where
        assert view.obligations == (), outcome.where
        if not person.put_off:
            continue  # trying it again was enough
        assert person.put_off[0] == outcome.step.step_id
        other = {"r1": "r2", "r2": "r1"}.get(outcome.step.host)
        if outcome.step.step_id.endswith(":new-string") and other is not None:
            assert f"{other}:new-string" in person.ended_before_mended, outcome.where
        if outcome.step.step_id.endswith(":converted"):
            assert {"r1:new-string", "r2:new-string"} <= person.ended_before_mended, outcome.where
