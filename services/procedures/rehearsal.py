"""A rehearsal: every read of a plan is made, every change is printed exactly as it would run, nothing is changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from services.procedures.actions import Ask, Checkpoint, Continue, WaitFor
from services.procedures.conditions import Answer, Condition
from services.procedures.model import Plan, Step
from services.procedures.ports import Past, Prover
from services.procedures.wording import wording

Would = Literal["nothing to do", "act", "wait", "ask you", "plan on", "stop: what must hold before does not hold"]


@dataclass(frozen=True, slots=True)
class RehearsedStep:
    """What one step would do, judged by the cluster as it is now (earlier steps are not done in a rehearsal).

    Attributes:
        lines: exactly what would run, masked; already, before, proof: what the reads say now.
    """

    step: Step
    would: Would
    lines: tuple[str, ...]
    already: tuple[Answer, ...] = ()
    before: tuple[Answer, ...] = ()
    proof: tuple[Answer, ...] = ()


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """The whole rehearsal; `unread` are sentences of reads that failed, and would fail in earnest too."""

    plan: Plan
    steps: tuple[RehearsedStep, ...]
    unread: tuple[str, ...]


def rehearse(plan: Plan, prover: Prover) -> Rehearsal:
    """Run every read of the plan once and return what each step would do. Changes nothing."""
    past = Past({}, {})
    steps = tuple(_step(step, prover, past) for step in plan.steps)
    unread = tuple(
        dict.fromkeys(
            answer.evidence
            for done in steps
            for answer in (*done.already, *done.before, *done.proof)
            if answer.holds is None and not _later(plan, done.step)
        )
    )
    return Rehearsal(plan, steps, unread)


def _step(step: Step, prover: Prover, past: Past) -> RehearsedStep:
    def looks(conditions: tuple[Condition, ...]) -> tuple[Answer, ...]:
        return tuple(prover.look(condition, past) for condition in conditions)

    already, before, proof = looks(step.already), looks(step.before), looks(step.proof)
    if isinstance(step.action, WaitFor):
        proof += looks(step.action.conditions)
    return RehearsedStep(step, _would(step, already, before), wording(step.action, step.host), already, before, proof)


def _would(step: Step, already: tuple[Answer, ...], before: tuple[Answer, ...]) -> Would:
    if already and all(answer.holds for answer in already):
        return "nothing to do"
    if any(answer.holds is False for answer in before):
        return "stop: what must hold before does not hold"
    match step.action:
        case WaitFor() | Checkpoint():
            return "wait"
        case Ask():
            return "ask you"
        case Continue():
            return "plan on"
    return "act"


def _later(plan: Plan, step: Step) -> bool:
    """Return whether an earlier step stops or starts this step's server: then no answer is expected now."""
    for earlier in plan.steps:
        if earlier.step_id == step.step_id:
            return False
        if earlier.moves:
            return True
    return False
