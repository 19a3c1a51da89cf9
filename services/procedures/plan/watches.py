"""Which watch rules are on at a step."""

from __future__ import annotations

from services.procedures.plan.model import Plan, WatchRule


def active_rules(plan: Plan, step_id: str) -> tuple[WatchRule, ...]:
    """Return the rules that are on while this step runs ('' bounds are the plan's ends)."""
    order = {step.step_id: place for place, step in enumerate(plan.steps)}
    here = order.get(step_id, -1)
    found = []
    for rule in plan.watches:
        first = order.get(rule.from_step, 0)
        last = order.get(rule.to_step, len(order))
        if first <= here <= last:
            found.append(rule)
    return tuple(found)
