"""Where a group of steps stands in a plan or a run, whether that lets it stand open, and what its head says. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from services.i18n import tr
from services.procedures.plan.model import RISK_WORDS, Risk
from services.procedures.plan.run_model import MOVES, TAKEN_BACK, StepState, StepView
from services.types import Health
from widgets.common.look.text import MIDDLE, format_duration
from widgets.procedures.steps.group_head import HeadWords
from widgets.procedures.steps.groups import StepGroup, counted, likeness, span_words
from widgets.procedures.words import RISK_TOKEN, step_health

SETTLED = frozenset({StepState.DONE, StepState.ALREADY})
_STOPPED = frozenset({StepState.FAILED, StepState.IN_DOUBT, StepState.CANCELLED, StepState.UNDO_FAILED})
_RISKS = (Risk.IRREVERSIBLE, Risk.NODE_DOWN)


class Phase(Enum):
    """Where a group stands; a group whose phase changes opens or folds by itself, else it stays as a person left it."""

    TO_READ = "to read"  # of a plan that is to be approved
    TO_COME = "to come"
    NOW = "now"  # what runs, is asked or comes next is in it
    STOPPED = "stopped"
    DONE = "done"
    BACK = "taken back"


def phase_of(group: StepGroup, views: Sequence[StepView], at: int, *, to_read: bool) -> Phase:
    """Return where a group stands; `at` is the step that moves, is asked, or comes next, -1 for none."""
    states = {view.state for view in views[group.first : group.last + 1]}
    if states & _STOPPED:
        return Phase.STOPPED
    if at in group and not to_read:
        return Phase.NOW
    if states <= SETTLED:
        return Phase.DONE
    if states & TAKEN_BACK:
        return Phase.BACK
    return Phase.TO_READ if to_read else Phase.TO_COME


def next_step(views: Sequence[StepView], current: int) -> int:
    """Return the step that moves, else the one that comes next, -1 where none does or the run is taken back."""
    if current >= 0:
        return current
    if any(view.state in TAKEN_BACK for view in views):
        return -1
    return next((n for n, view in enumerate(views) if view.state not in SETTLED), -1)


def stands_open(group: StepGroup, phase: Phase, *, hindered: bool) -> bool:
    """Return whether a group opens by itself: what is to be read for the first time, runs, or went wrong."""
    if phase is Phase.TO_READ:
        return not group.like or hindered
    return phase in {Phase.NOW, Phase.STOPPED}


def head_words(group: StepGroup, views: Sequence[StepView], phase: Phase) -> HeadWords:
    """Return what the head of a group says."""
    mine = views[group.first : group.last + 1]
    steps = tuple(view.step for view in views)
    risk = next((r for r in _RISKS if any(view.step.risk is r for view in mine)), None)
    host = group.host or tr("all")
    if phase in {Phase.TO_READ, Phase.TO_COME}:
        span = span_words(group)
        told = f"{counted(group)}, {span}" if span else counted(group)
        like = likeness(group, steps)
        return HeadWords(
            host,
            f"{told} {MIDDLE} {like}" if like else told,
            Health.UNKNOWN,
            risk=tr(RISK_WORDS[risk]) if risk else "",
            risk_token=RISK_TOKEN[risk] if risk else "second",
        )
    return HeadWords(host, _progress(group, mine, phase), _health(mine, phase), took=_took(mine, phase))


def _progress(group: StepGroup, mine: Sequence[StepView], phase: Phase) -> str:
    if phase is Phase.DONE:
        return tr("{steps} done", steps=counted(group))
    if phase is Phase.BACK:
        back = sum(view.state in TAKEN_BACK for view in mine)
        return tr("{n} of {steps} rolled back", n=back, steps=counted(group))
    done = sum(view.state in SETTLED for view in mine)
    return tr("{n} of {steps} done", n=done, steps=counted(group))


def _health(mine: Sequence[StepView], phase: Phase) -> Health:
    if phase is Phase.DONE:
        return Health.GOOD
    if phase is Phase.STOPPED:
        return next(step_health(view.state) for view in mine if view.state in _STOPPED)
    moves = any(view.state in MOVES for view in mine)
    return Health.TRANSFER if moves else Health.UNKNOWN


def _took(mine: Sequence[StepView], phase: Phase) -> str:
    """Return how long a finished group took, from its first step's beginning to its last one's end."""
    begun = [view.started for view in mine if view.started is not None]
    ended = [view.ended for view in mine if view.ended is not None]
    return format_duration(max(ended) - min(begun)) if phase is Phase.DONE and begun and ended else ""
