"""A wait that lasts says why, where that can be read: who holds the server up, in what is shown and in the journal."""

from __future__ import annotations

from dataclasses import replace

from services.procedures.conditions import Answer, Condition
from services.procedures.engine_parts import Parts
from services.procedures.holding_up import Holder
from services.procedures.invariants import touched
from services.procedures.journal_entries import note
from services.procedures.run_log import RunLog

AFTER_S, EVERY_S = 10.0, 10.0
MOST_HOSTS = 2


class HeldUp:
    """Looks for what holds one wait up, from its tenth second on."""

    def __init__(self, parts: Parts, log: RunLog, step_id: str) -> None:
        """Begin with the wait."""
        self._parts = parts
        self._log = log
        self._step_id = step_id
        self._next = parts.clock.monotonic() + AFTER_S
        self._found: tuple[Holder, ...] = ()
        self._written: set[str] = set()

    def told(self, answer: Answer, waiting: tuple[Condition, ...]) -> Answer:
        """Return what is waited for with what holds it up; each cause is journalled once a wait."""
        if self._parts.holders is not None and self._parts.clock.monotonic() >= self._next:
            hosts = sorted(touched(waiting))[:MOST_HOSTS]
            self._found = tuple(holder for host in hosts for holder in self._parts.holders(host))
            self._next = self._parts.clock.monotonic() + EVERY_S
            for holder in self._found:
                if holder.key not in self._written:
                    self._written.add(holder.key)
                    self._log.write(note("held-up", holder.sentence, self._step_id))
        if not self._found:
            return answer
        why = "; ".join(holder.sentence for holder in self._found)
        return replace(answer, evidence=f"{answer.evidence}. Held up: {why}")


def still_open(conditions: tuple[Condition, ...], found: tuple[Answer, ...]) -> tuple[Condition, ...]:
    """Return the conditions that do not hold yet."""
    return tuple(c for c, answer in zip(conditions, found, strict=True) if not answer.holds)
