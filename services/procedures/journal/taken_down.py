"""Which nodes runs move now: stopped on purpose, or on their way back. Pure, from what the journal tells of runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from services.discovery.judgement.on_purpose import OnPurpose
from services.procedures.plan.run_model import RunState, RunView, StepState

_UNDER_WAY = frozenset({RunState.RUNNING, RunState.PAUSED, RunState.WAITING, RunState.UNDOING})
"""A run that has failed moves nobody: a node that it left down is a fault."""
_MOVING = frozenset({StepState.ACTING, StepState.PROVING, StepState.DONE, StepState.UNDOING})
_PROVEN = frozenset({StepState.DONE, StepState.ALREADY})
_BROKEN = frozenset({StepState.FAILED, StepState.IN_DOUBT, StepState.CANCELLED, StepState.UNDO_FAILED})


def taken_down(runs: Iterable[RunView]) -> tuple[OnPurpose, ...]:
    """Return the nodes that these runs move on purpose: from the act that stops one until it is proven to be back."""
    found: dict[str, OnPurpose] = {}
    for run in runs:
        if run.state in _UNDER_WAY:
            found |= {one.host: one for one in _of_run(run)}
    return tuple(found.values())


def _of_run(run: RunView) -> Iterator[OnPurpose]:
    moved: dict[str, OnPurpose] = {}
    for number, shown in enumerate(run.steps, 1):
        step, state = shown.step, shown.state
        if not step.moves:
            continue
        if state in _MOVING:
            starts = (step.moves in step.settles) != (state is StepState.UNDOING)
            moved[step.moves] = OnPurpose(step.moves, run.run_id, number, len(run.steps), starts)
        elif state in _BROKEN or (state is StepState.UNDONE and not step.settles):
            moved.pop(step.moves, None)  # what broke is a fault; a stop that was taken back is over
        if state in _PROVEN:
            for host in step.settles:
                moved.pop(host, None)
    yield from moved.values()
