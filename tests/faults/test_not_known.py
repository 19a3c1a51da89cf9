"""A proof that is not known takes nothing back, on scripted hosts: every step of every procedure, each proof in turn.

Nobody attends to the run (`run --yes`): it rests, says what would settle it, and goes on by proof or by a word.

Each run of the tests takes a sample of the steps (spread.py); `test everything` takes every one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache

import pytest

from services.errors import Refused
from services.procedures.engine.not_known import at_stake
from services.procedures.journal.projection import project
from services.procedures.plan.actions import WaitFor
from services.procedures.plan.condition import Condition
from services.procedures.plan.model import Step
from services.procedures.plan.run_model import BY_WORD, UNKNOWN, RunState, RunView, StepState
from tests.faults.breaking_runs import BROKEN_CASES
from tests.faults.cases import Case
from tests.faults.scripted.running import Bench, Moment
from tests.faults.spread import IN_PARTS, Part, of_steps

_BACK = {StepState.UNDOING, StepState.UNDONE, StepState.UNDO_FAILED}


def _proof(step: Step) -> tuple[Condition, ...]:
    return step.action.conditions if isinstance(step.action, WaitFor) else step.proof


@cache
def _provable(case: Case) -> tuple[Step, ...]:
    """Return the steps that have a proof (of a rolling restart those of the second node)."""
    unbroken = case.bench_begun()
    unbroken.run()
    steps = (step for step in unbroken.engine().view.plan.steps if _proof(step))
    return tuple(step for step in steps if case.name != "rolling-restart" or step.step_id.startswith("n2:"))


def _doubted(case: Case, steps: Iterable[Step]) -> Iterator[tuple[Step, Bench, RunState]]:
    """Run the procedure once for each of the steps, whose proof can't be read from its act on."""
    for step in steps:
        bench = case.bench_begun()

        def told(when: str, what: str, bench: Bench = bench, step: Step = step) -> None:
            if when == "after" and f"(step {step.step_id} acting)" in what and not bench.unreadable:
                bench.unreadable.extend(_proof(step))

        bench.journal.told = told
        state = bench.run()
        bench.journal.told = None
        if bench.unreadable:
            yield step, bench, state


def _copied(bench: Bench) -> Bench:
    return bench.after_kill(Moment("", bench.journal.entries(bench.run_id), bench.cluster))


def _taken_back(view: RunView) -> list[str]:
    return [one.step.step_id for one in view.steps if one.state in _BACK]


@IN_PARTS
@pytest.mark.parametrize("case", BROKEN_CASES, ids=lambda case: case.title)
def test_that_no_doubt_takes_back_what_is_finished_and_a_later_proof_ends_the_run_well_on_scripted_hosts(
    case: Case, part: Part
) -> None:
    every = _provable(case)
    sample = of_steps(every)
    tried = tuple(_doubted(case, (step for place, step in enumerate(every) if part.has(place, sample))))
    assert tried or part is Part.REST
    for step, bench, state in tried:
        view = bench.engine().view
        where = f"{case.title}, {step.step_id}: {state.value}: {view.sentence}"
        at_rest, now = _at_rest(bench)
        if not at_stake(at_rest, now):
            assert state in {RunState.UNDONE, RunState.UNDO_FAILED, RunState.WAITING}, where
            continue
        assert _taken_back(view) == [], where
        assert state is RunState.WAITING, where
        assert view.question is not None, where
        assert view.question.topic == UNKNOWN, where
        assert "Not known: " in view.sentence, where
        assert all(one.obligation.sentence in view.sentence for one in view.obligations), where
        _goes_back_by_a_person(case, bench, where)
        later = _copied(bench)
        assert later.run() is RunState.DONE, f"{where} | later: {later.engine().view.sentence}"
        assert later.engine().view.obligations == (), where
        acts = [line for line in later.cluster.log if line.endswith(f": {step.step_id}")]
        assert len(acts) == len([line for line in bench.cluster.log if line.endswith(f": {step.step_id}")]), where


def _at_rest(bench: Bench) -> tuple[RunView, float]:
    """Return the run as it stood when it could rest or go back, and when that was: an undo ends its outage too."""
    entries = bench.journal.entries(bench.run_id)
    back = (n for n, one in enumerate(entries) if one.kind == "run" and one.data["state"] == RunState.UNDOING.value)
    until = next(back, len(entries))
    return project(entries[:until]), entries[until - 1].at


def _goes_back_by_a_person(case: Case, bench: Bench, where: str) -> None:
    """Undo is a person's way all the same, but past the point of no return."""
    back = _copied(bench)
    back.confirmed |= case.accepts
    if back.engine().view.no_return:
        with pytest.raises(Refused, match="point of no return"):
            back.engine().undo()
        return
    state = back.engine().undo()
    assert state is RunState.UNDONE, f"{where} | undo: {back.engine().view.sentence}"


@pytest.mark.parametrize("title", ["backups", "rejoin from binlogs", "snapshot"])
def test_that_a_person_s_word_goes_on_where_the_transfer_can_t_be_told_and_stands_in_the_journal(title: str) -> None:
    case = next(one for one in BROKEN_CASES if one.title == title)
    transfers = (step for step in _provable(case) if step.step_id.startswith("transfer-"))
    step, bench = next((one, made) for one, made, _ in _doubted(case, transfers))
    bench.person.answers[UNKNOWN] = BY_WORD
    assert bench.run() is RunState.DONE, bench.engine().view.sentence
    shown = next(one for one in bench.engine().view.steps if one.step.step_id == step.step_id)
    assert shown.evidence == ("you confirmed it",)
    answers = [entry.data for entry in bench.journal.entries(bench.run_id) if entry.kind == "answered"]
    assert {"topic": UNKNOWN, "answer": BY_WORD, "by": "somebody"} in answers
