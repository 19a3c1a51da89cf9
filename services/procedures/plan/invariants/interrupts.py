"""What must be true of a step from which on clients can't work."""

from __future__ import annotations

from collections.abc import Iterator

from services.procedures.plan.model import Plan


def interruptions_end(plan: Plan) -> Iterator[str]:
    """What a step interrupts is resumed by a later one, which names it: else it is told for ever, or never."""
    order = {step.step_id: at for at, step in enumerate(plan.steps)}
    began = {step.step_id for step in plan.steps if step.interrupts}
    ended = {step.resumes: at for at, step in enumerate(plan.steps) if step.resumes}
    for one in sorted(began | set(ended)):
        if one not in began:
            yield f"A step resumes '{one}', which interrupts nothing."
        elif ended.get(one, -1) <= order[one]:
            yield f"Step '{one}' interrupts, and no later step resumes it."
