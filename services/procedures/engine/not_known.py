"""What is not known at the end of a step: told with what is, and never a reason to throw work away.

Nothing that was finished is taken back because a host is silent or a log can't be read: the run rests for a person.
"""

from __future__ import annotations

from services.procedures.engine.parts import StepFailed, sentence
from services.procedures.plan.actions import Detached, WaitFor
from services.procedures.plan.condition import Answer, Condition
from services.procedures.plan.invariants.plans import changes, kept_by, only_reads
from services.procedures.plan.model import Step
from services.procedures.plan.run_model import RunView, StepState, StepView
from services.procedures.plan.waiting_words import waiting_words

_ENDED = frozenset({StepState.DONE, StepState.ALREADY})
LONG_S = 60.0
"""An act that took longer than this is not done a second time for a doubt."""


def not_known(conditions: tuple[Condition, ...], found: tuple[Answer, ...]) -> StepFailed:
    """Return what to tell of conditions of which none is shown to be false, and some could not be read.

    It says what could not be read, what holds, and what would settle it.
    """
    open_ = [(one, answer) for one, answer in zip(conditions, found, strict=True) if not answer.holds]
    never = all(answer.final for _, answer in open_ if answer.holds is None)
    known = "; ".join(answer.evidence for answer in found if answer.holds)
    sentences = (
        f"Not known: {'; '.join(answer.evidence for _, answer in open_)}. Nothing shows that it failed.",
        f"Known: {known}." if known else "",
        "No later check can show it." if never else f"This would settle it: {waiting_words(one for one, _ in open_)}.",
    )
    lines = tuple(line for _, answer in open_ for line in answer.lines)
    return StepFailed(sentence(" ".join(filter(None, sentences))), lines, not_known=True)


def at_stake(view: RunView, now: float) -> bool:
    """Return whether the run has done what took long or can't be repeated cheaply: no doubt alone takes that back.

    Args:
        now: UTC epoch seconds.
    """
    outage = bool(view.interrupted)
    begun = (shown for shown in view.steps if shown.acted and shown.state is not StepState.UNDONE)
    return any(_is_dear(shown, now, outage=outage) for shown in begun)


def is_last_look(view: RunView, step: Step) -> bool:
    """Return whether all else is done and the step only looks: what others changed since takes nothing back alone."""
    others = (shown.state for shown in view.steps if shown.step.step_id != step.step_id)
    return isinstance(step.action, WaitFor) and all(state in _ENDED for state in others)


def _is_dear(shown: StepView, now: float, *, outage: bool) -> bool:
    """What is only switched on for a while is cheap: to leave it on is what harms.

    Args:
        outage: clients wait for the run: to rest is what harms then, and what can be done again is cheap too.
    """
    step = shown.step
    if not changes(step.action) or step.discharges:
        return False
    began, ended = shown.started, shown.ended
    if began is not None and (now if ended is None else ended) - began > LONG_S:
        return True
    cheap = step.takes is not None or (outage and step.repeatable)
    return not only_reads(step) and (isinstance(step.action, Detached) or not cheap)


def may_be_said(shown: StepView, kept: frozenset[str]) -> bool:
    """Return whether a person's word can stand for the proof of a step: not where later steps need what it reads.

    Args:
        kept: names of the values that the run has.
    """
    return not kept_by((shown.step.proof, shown.step.action)) - kept
