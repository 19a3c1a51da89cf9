"""A wait that lasts says why, where that can be read: who holds the server up, in what is shown and in the journal.

A wait is for a proof, or for an act that does not come back: a SET that hangs behind somebody's lock blocks its own
connection, so that its cause is read on the Observer's meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import replace

from services.errors import UserError
from services.facts.server.holding_up import Holder
from services.procedures.engine.parts import Parts, sentence
from services.procedures.engine.ports import Acted
from services.procedures.engine.run_log import RunLog
from services.procedures.journal.entries import note
from services.procedures.plan.actions import Action, Detached
from services.procedures.plan.condition import Answer, Condition
from services.procedures.plan.invariants.plans import touched

AFTER_S, EVERY_S = 10.0, 10.0
ACT_AFTER_S, ACT_EVERY_S = 3.0, 3.0
"""An act is sent and comes back; one that is still out after this has something before it."""
MOST_HOSTS = 2
_TURN_S = 0.2


class HeldUp:
    """Looks for what holds one wait up, from its tenth second on."""

    def __init__(
        self, parts: Parts, log: RunLog, step_id: str, after_s: float = AFTER_S, every_s: float = EVERY_S
    ) -> None:
        """Begin with the wait."""
        self._parts = parts
        self._log = log
        self._step_id = step_id
        self._every_s = every_s
        self._next = parts.clock.monotonic() + after_s
        self._found: tuple[Holder, ...] = ()
        self._written: set[str] = set()

    def told(self, answer: Answer, waiting: tuple[Condition, ...]) -> Answer:
        """Return what is waited for with what holds it up; each cause is journalled once a wait."""
        if not waiting:
            return answer
        self.look(touched(waiting))
        return replace(answer, evidence=f"{answer.evidence}. Held up: {self.why}") if self.why else answer

    def look(self, hosts: Iterable[str]) -> bool:
        """Look where it is time for it; return whether it was."""
        if self._parts.holders is None or self._parts.clock.monotonic() < self._next:
            return False
        self._found = tuple(holder for host in sorted(hosts)[:MOST_HOSTS] for holder in self._parts.holders(host))
        self._next = self._parts.clock.monotonic() + self._every_s
        for holder in self._found:
            if holder.key not in self._written:
                self._written.add(holder.key)
                self._log.write(note("held-up", holder.sentence, self._step_id))
        return True

    @property
    def why(self) -> str:
        """Return what the newest look found, '' for nothing."""
        return "; ".join(holder.sentence for holder in self._found)


def performed(parts: Parts, log: RunLog, step_id: str, host: str, action: Action, act: Callable[[], Acted]) -> Acted:
    """Return what an act left, or raise what it raised; while it blocks, its causes are read on the engine's thread.

    Nothing else acts until it has come back. Detached work does not block: it tells its own progress.
    """
    if parts.holders is None or isinstance(action, Detached):
        return act()
    held = HeldUp(parts, log, step_id, ACT_AFTER_S, ACT_EVERY_S)
    began = parts.clock.monotonic()
    with ThreadPoolExecutor(1, thread_name_prefix="pilothouse-act") as thread:
        out: Future[Acted] = thread.submit(act)
        while not wait((out,), _TURN_S).done:
            if held.look((host,)) and held.why:
                log.said(step_id, f"Not done after {parts.clock.monotonic() - began:.0f} s. Held up: {held.why}")
    try:
        return out.result()
    except UserError as problem:
        if held.why:
            problem.sentence = f"{sentence(problem.sentence)} Held up: {held.why}"
        raise


def still_open(conditions: tuple[Condition, ...], found: tuple[Answer, ...]) -> tuple[Condition, ...]:
    """Return the conditions that do not hold yet, and are not only to stay so for a while: nobody holds a clock up."""
    return tuple(c for c, answer in zip(conditions, found, strict=True) if not answer.holds and not answer.stays)
