"""What an action does, as exact masked lines: one text for plan, rehearsal, report and the output of acts."""

from __future__ import annotations

from services.procedures.plan.actions import Action


def wording(action: Action, host: str = "") -> tuple[str, ...]:
    """Return the lines, each with 'host: ' before it when a host is given. Never holds a secret."""
    where = f"{host}: " if host else ""
    return tuple(where + line for line in action.lines())
