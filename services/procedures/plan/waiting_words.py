"""What a step waits for, as a DBA says it: ends the sentence 'waits for ...'."""

from __future__ import annotations

from collections.abc import Iterable

from services.procedures.plan.condition import Condition


def waiting_words(conditions: Iterable[Condition]) -> str:
    """Return what must become true, each once: 'the server of n1 to be stopped; every member to be Synced'."""
    return "; ".join(dict.fromkeys(one.waits_for() for one in conditions))
