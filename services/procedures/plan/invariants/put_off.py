"""What must be true of a step that may be put off past its run's point of no return."""

from __future__ import annotations

from collections.abc import Iterator

from services.procedures.plan.model import Plan, Step


def put_off_is_sound(plan: Plan) -> Iterator[str]:
    """It is tried again before a later step, behind a point of no return, and no vote is lost meanwhile."""
    order = {step.step_id: at for at, step in enumerate(plan.steps)}
    final = next((at for at, step in enumerate(plan.steps) if step.no_return), len(plan.steps))
    for at, step in enumerate(plan.steps):
        if step.later is None:
            continue
        until = order.get(step.later.until, -1)
        if until <= at:
            yield f"Step '{step.step_id}' may wait until '{step.later.until}', which is not a later step."
        if step.later.behind and order.get(step.later.behind, at) >= at:
            yield f"Step '{step.step_id}' waits behind '{step.later.behind}', which is not an earlier step."
        if at < final:
            yield f"Step '{step.step_id}' may be postponed, but comes before any point of no return."
        for other in plan.steps[at + 1 : max(until, 0)]:
            if _same_quorum(plan, step, other):
                yield f"Step '{other.step_id}' moves {other.moves} while {step.moves} may still be put off."


def _same_quorum(plan: Plan, step: Step, other: Step) -> bool:
    return bool(step.moves and other.moves) and any(
        {step.moves, other.moves} <= set(quorum) and step.moves != other.moves for quorum in plan.quorums
    )
