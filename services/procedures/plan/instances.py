"""Which of a plan's keys are instances beside their host's first server, by what was read of each. Pure."""

from __future__ import annotations

from services.procedures.plan.host_facts import Facts


def standing_on(facts: Facts, keys: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Return (key, host) of each key that names an instance, for `Plan.on`."""
    found = ((key, facts.host(key).node) for key in keys)
    return tuple((key, node.on) for key, node in found if node is not None and node.on)
