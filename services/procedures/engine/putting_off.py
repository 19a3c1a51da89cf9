"""Which step comes next, and whether one that failed past the point of no return may wait: nothing is left out.

A run past that point can only go forward. Where one host does not come back, the steps that don't need it would wait
for it: a person may let them go first. The step is tried again before `Step.later.until`, which waits for it, and
sooner where another one only waits and it looks mended (mended.py).
"""

from __future__ import annotations

from collections.abc import Callable

from services.procedures.plan.condition import Answer, Condition
from services.procedures.plan.model import Step
from services.procedures.plan.run_model import PUT_OFF, RunView, StepState, StepView

_ENDED = frozenset({StepState.DONE, StepState.ALREADY})


def next_step(view: RunView) -> Step | None:
    """Return the step to be performed now, None when every one has ended; one put off comes when its time has come."""
    open_ = [shown for shown in view.steps if shown.state not in _ENDED]
    waiting = _waiting(view)
    going = next((shown.step for shown in open_ if shown.step.step_id not in waiting), None)
    due = next((shown.step for shown in open_ if shown.put_off and _is_due(view, shown, going)), None)
    return due or going


def may_wait(
    view: RunView, step: Step, answers: Callable[[tuple[Condition, ...]], tuple[Answer, ...]]
) -> tuple[tuple[tuple[str, str], ...], str]:
    """Return the choice to put a failed step off, where there is one, and why there is none now.

    Args:
        answers: looks at conditions now.
    """
    wanted = step.later
    if wanted is None or not view.no_return:
        return (), ""
    waiting = _waiting(view, step.step_id)
    open_ = (shown.step for shown in view.steps if shown.state not in _ENDED)
    coming = next((one for one in open_ if one.step_id not in waiting), None)
    if coming is None or _place(view, coming.step_id) >= _place(view, wanted.until):
        return (), ""
    missing = next((answer for answer in answers(wanted.when) if not answer.holds), None)
    if missing is not None:
        return (), f" It cannot be put off now: {missing.evidence}."
    return ((PUT_OFF, wanted.meaning),), ""


def tried_early(view: RunView) -> tuple[Step, ...]:
    """Return the steps that are put off and may be tried while another one waits: they ask nobody, and a second try
    does no harm.
    """
    off = {shown.step.step_id: shown.step for shown in view.steps if shown.put_off and shown.state not in _ENDED}
    return tuple(
        step
        for step in off.values()
        if step.repeatable and not step.confirm and step.later is not None and step.later.behind not in off
    )


def _waiting(view: RunView, also: str = "") -> frozenset[str]:
    """Return the ids of the open steps that are put off, with those that can't do without one of them.

    Args:
        also: a step that would be put off.
    """
    open_ = [shown for shown in view.steps if shown.state not in _ENDED]
    off = {shown.step.step_id for shown in open_ if shown.put_off or shown.step.step_id == also}
    behind = {one.step.step_id for one in open_ if one.step.later is not None and one.step.later.behind in off}
    return frozenset(off | behind)


def _is_due(view: RunView, shown: StepView, going: Step | None) -> bool:
    if going is None or shown.step.later is None:
        return True
    return _place(view, going.step_id) >= _place(view, shown.step.later.until)


def _place(view: RunView, step_id: str) -> int:
    return next(at for at, shown in enumerate(view.steps) if shown.step.step_id == step_id)
