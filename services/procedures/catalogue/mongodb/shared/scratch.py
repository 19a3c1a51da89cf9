"""The database that is made to try whether a server takes a change, and dropped in the same step.

It is dropped without a look, also by an undo that comes hours later: so its name has the time of the plan, and is
nobody's but the run's. A database of a person's that is called so already is never met.
"""

from __future__ import annotations

from datetime import UTC, datetime

from services.procedures.plan.host_facts import Facts

_NAME = "pilothouse_trial"


def scratch_of(facts: Facts) -> str:
    """Return the name of the database of a plan that is made of these facts: pilothouse_trial_20261127_154701."""
    return f"{_NAME}_{datetime.fromtimestamp(facts.at, UTC).strftime('%Y%m%d_%H%M%S')}"
