"""A run's story as events of the time axis: beginning, each step that changes something, what broke, end. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from services.events import WATCH, Event
from services.i18n import mark, tr
from services.procedures.plan.model import Risk
from services.procedures.plan.run_model import RunState, RunView, StepState
from services.types import Health

_ENDS = {
    RunState.DONE: (mark("Run {run} is done: {title}"), Health.GOOD),
    RunState.UNDONE: (mark("Run {run} was undone: {title}"), Health.WARN),
    RunState.LEFT: (mark("Run {run} was left as it is: {title}"), Health.WARN),
    RunState.UNDO_FAILED: (mark("The undo of run {run} failed: {title}"), Health.BAD),
}
_FAILED = frozenset({StepState.FAILED, StepState.UNDO_FAILED})


def run_events(view: RunView) -> Iterator[Event]:
    """Yield the events of a run so far; each key comes once, so that what was told can be left out.

    A failed run is no end: what is told of it is its failed step.
    """
    plan, run = view.plan, view.run_id
    if view.started is None:
        return
    began = tr("Run {run} starts: {title}", run=run, title=tr(plan.title))
    yield Event(view.started, "run", began, Health.TRANSFER, plan.cluster_id, key=f"run:{run}:")
    for number, shown in enumerate(view.steps, 1):
        step = shown.step
        if shown.started is None:
            continue
        key = f"run:{run}:{step.step_id}"
        if step.risk is not Risk.READS and shown.state not in {StepState.CHECKING, StepState.ALREADY}:
            words = tr("Run {run}, step {number}: {title}", run=run, number=number, title=tr(step.title))
            yield Event(shown.started, "step", words, Health.TRANSFER, plan.cluster_id, key=key)
        if shown.undo is not None and step.undo is not None:
            back, at = tr("Run {run}, step {number} is rolled back: {title}", run=run, number=number,
                          title=tr(step.undo.title)), shown.undo.started  # fmt: skip
            yield Event(at, "step", back, Health.TRANSFER, plan.cluster_id, key=f"{key}:undo:{at:.3f}")
        if shown.state in _FAILED:
            said = shown.error or tr(shown.title)
            failed = tr("Run {run}, step {number} failed: {error}", run=run, number=number, error=said)
            since, ended = shown.span
            at = next(moment for moment in (ended, since, shown.started) if moment is not None)
            yield Event(at, "step", failed, Health.BAD, plan.cluster_id, key=f"{key}:failed:{at:.3f}")
    yield from _broken(view)
    if view.state in _ENDS:
        words, health = _ENDS[view.state]
        at = view.ended or view.journal_at or view.started
        text = tr(words, run=run, title=tr(plan.title))
        yield Event(at, "run", text, health, plan.cluster_id, key=f"run:{run}:{view.state.value}")


def _broken(view: RunView) -> Iterator[Event]:
    """Yield each watch rule that broke, and that it held again."""
    run, plan = view.run_id, view.plan
    for one in view.broken:
        key, told = f"run:{run}:{WATCH}{one.code}", f"{tr(one.sentence)}{f' ({one.evidence})' if one.evidence else ''}"
        text = tr("Run {run}, {code}: {told}", run=run, code=one.code, told=told)
        yield Event(one.at, "step", text, Health.WARN, plan.cluster_id, key=f"{key}:{one.at:.3f}")
        if one.over is not None:
            text = tr("Run {run}, {code} holds again: {told}", run=run, code=one.code, told=one.holds)
            yield Event(one.over, "step", text, Health.GOOD, plan.cluster_id, key=f"{key}:over:{one.over:.3f}")
