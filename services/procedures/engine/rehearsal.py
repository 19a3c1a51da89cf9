"""A rehearsal: every read of a plan is made, every change is printed exactly as it would run, nothing is changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from services.i18n import mark
from services.procedures.engine.ports import Prover
from services.procedures.plan.actions import Ask, Checkpoint, Continue, WaitFor
from services.procedures.plan.condition import Answer, Condition, Kept
from services.procedures.plan.inside import of
from services.procedures.plan.invariants.plans import changes, touched
from services.procedures.plan.looks import Past
from services.procedures.plan.model import Plan, Step
from services.procedures.plan.remembering import Memory
from services.procedures.plan.wording import wording

Would = Literal["nothing", "act", "act-later", "wait", "ask", "plan-on", "stop-not-so", "stop-unread"]
WOULD_WORDS: Mapping[Would, str] = {
    "nothing": mark("nothing to do"),
    "act": mark("act"),
    "act-later": mark("act, after the earlier steps"),
    "wait": mark("wait"),
    "ask": mark("ask you"),
    "plan-on": mark("continue the plan"),
    "stop-not-so": mark("stop: a precondition does not hold"),
    "stop-unread": mark("stop: a precondition cannot be read"),
}
"""What a step would do, in the words that a person sees; the codes are compared."""
_STOPS: frozenset[Would] = frozenset({"stop-not-so", "stop-unread"})


@dataclass(frozen=True, slots=True)
class RehearsedStep:
    """What one step would do, judged by the cluster as it is now (earlier steps are not done in a rehearsal).

    Attributes:
        lines: exactly what would run, masked; undo: the same for taking it back.
        already, before, proof: what the reads say now, in the order of the step's conditions.
        later: something it reads is changed by an earlier step: what the reads say now decides nothing yet.
    """

    step: Step
    would: Would
    lines: tuple[str, ...]
    already: tuple[Answer, ...] = ()
    before: tuple[Answer, ...] = ()
    proof: tuple[Answer, ...] = ()
    undo: tuple[str, ...] = ()
    later: bool = False

    @property
    def stops(self) -> bool:
        """Return whether the run would stop here as things stand."""
        return self.would in _STOPS

    @property
    def words(self) -> str:
        """Return in English what it would do."""
        return WOULD_WORDS[self.would]


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """The whole rehearsal; `unread` are sentences of reads that failed, and would fail in earnest too."""

    plan: Plan
    steps: tuple[RehearsedStep, ...]
    unread: tuple[str, ...]

    @property
    def stops(self) -> tuple[RehearsedStep, ...]:
        """Return the steps at which the run would stop as things stand."""
        return tuple(done for done in self.steps if done.stops)


def rehearse(plan: Plan, prover: Prover) -> Rehearsal:
    """Run every read of the plan once and return what each step would do. Changes nothing."""
    past, changed = Past({}, {}), frozenset[str]()
    to_come = list[Condition]()
    steps, unread = list[RehearsedStep](), list[str]()
    moved = False
    for step in plan.steps:
        done = _step(step, prover, past, _Earlier(changed, tuple(to_come)))
        steps.append(done)
        if not moved:
            unread += _unread(step, done)
        to_come += _proof(step)
        if changes(step.action) and done.would != "nothing":
            changed |= {step.host, *((step.moves,) if step.moves else ())}
        moved = moved or bool(step.moves)  # behind it a server is away that answers now, or the other way round
    return Rehearsal(plan, tuple(steps), tuple(dict.fromkeys(unread)))


@dataclass(frozen=True, slots=True)
class _Earlier:
    """What the steps before one would do: the hosts they change, and what they prove or wait for."""

    changed: frozenset[str]
    to_come: tuple[Condition, ...]


def _step(step: Step, prover: Prover, past: Past, earlier: _Earlier) -> RehearsedStep:
    def looks(conditions: tuple[Condition, ...]) -> tuple[Answer, ...]:
        return tuple(prover.look(condition, past, Memory()) for condition in conditions)

    already, before, proof = looks(step.already), looks(step.first_before), looks(_proof(step))
    would, later = _would(step, already, before, earlier)
    undo = wording(step.undo.action, step.host) if step.undo is not None else ()
    return RehearsedStep(step, would, wording(step.action, step.host), already, before, proof, undo, later)


def _proof(step: Step) -> tuple[Condition, ...]:
    return (*step.proof, *(step.action.conditions if isinstance(step.action, WaitFor) else ()))


def _would(
    step: Step, already: tuple[Answer, ...], before: tuple[Answer, ...], earlier: _Earlier
) -> tuple[Would, bool]:
    """Return what the step would do, and whether that hangs on earlier steps."""
    if already and all(answer.holds for answer in already) and not _hangs(step.already, earlier.changed):
        return "nothing", False
    later = False
    for condition, answer in zip(step.first_before, before, strict=True):
        if answer.holds:
            continue
        if _hangs((condition,), earlier.changed) or condition in earlier.to_come:
            later = True
        elif answer.holds is None:
            return "stop-unread", False
        else:
            return "stop-not-so", False
    match step.action:
        case WaitFor() | Checkpoint():
            return "wait", later
        case Ask():
            return "ask", later
        case Continue():
            return "plan-on", later
    return "act-later" if later else "act", later


def _hangs(conditions: tuple[Condition, ...], changed: frozenset[str]) -> bool:
    """Return whether what is read is changed by an earlier step, or looks back at one."""
    return any(touched(condition) & changed or _looks_back(condition) for condition in conditions)


def _looks_back(condition: Condition) -> bool:
    return bool(condition.declared().since_steps) or any(of(Kept, condition))


def _unread(step: Step, done: RehearsedStep) -> list[str]:
    """Return the sentences of reads that failed though nothing has to happen before they can be made."""
    conditions = (*step.already, *step.first_before, *_proof(step))
    answers = (*done.already, *done.before, *done.proof)
    return [
        answer.evidence
        for condition, answer in zip(conditions, answers, strict=True)
        if answer.holds is None and not _looks_back(condition)
    ]
