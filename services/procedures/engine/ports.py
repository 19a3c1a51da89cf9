"""The seams of the engine: who gives sessions, who acts, who proves. Tests put scripted hosts behind them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from services.connections.ports import ObserverSession, OperatorSession
from services.errors import UserError
from services.procedures.plan.actions import Action
from services.procedures.plan.condition import Answer, Condition
from services.procedures.plan.looks import Past
from services.procedures.plan.remembering import Memory


class Hosts(Protocol):
    """The two roads to the hosts (law 2). One per run; its sessions belong to the engine's thread."""

    def observer(self, host: str) -> ObserverSession:
        """Return the reading session of a host; BadInput for a host the inventory and discovery don't know."""

    def rights_reader(self, host: str) -> ObserverSession:
        """Return a reading session logged in as the account for changes: what that one may is read, nothing else."""

    def operator(self, host: str) -> OperatorSession:
        """Return the changing session of a host; Refused unless armed for it."""

    def arm(self, run_id: str, hosts: tuple[str, ...]) -> None:
        """Allow operator sessions for these hosts (replaces what was armed)."""

    def disarm(self) -> None:
        """Close all operator sessions and allow none; idempotent."""

    @property
    def armed(self) -> tuple[str, ...]:
        """Return the hosts that are armed now."""

    def close(self) -> None:
        """Disarm and close every session; idempotent."""


@dataclass(frozen=True, slots=True)
class Acted:
    """What an act left: last lines of its output (masked), values kept.

    Attributes:
        stays: of an undo, what it did not take back and why, a sentence for a person; '' it took back all.
    """

    output: tuple[str, ...] = ()
    kept: tuple[tuple[str, str], ...] = ()
    stays: str = ""


class ActFailed(UserError):  # noqa: N818 - the name says what happened, as in services.errors
    """The act ran and did not succeed; `output`: what it printed, its first error and its last lines, masked."""

    code = "act-failed"

    def __init__(
        self,
        sentence: str,
        *,
        host: str,
        safe: str | None = None,
        output: tuple[str, ...] = (),
        try_: tuple[str, ...] = (),
    ) -> None:
        super().__init__(sentence, host=host, safe=safe, try_=try_)
        self.output = output


class Untouched(ActFailed):
    """The act was refused before it changed anything: every file and server of the host is as it was."""

    code = "untouched"


class Actor(Protocol):
    """Performs actions that change hosts (never WaitFor, Ask, Checkpoint, Continue)."""

    def perform(
        self,
        step_id: str,
        host: str,
        action: Action,
        kept: Mapping[str, str],
        *,
        limit_s: float,
        stop: threading.Event | None = None,
        said: Callable[[str], None] | None = None,
        ready: Callable[[], None] | None = None,
    ) -> Acted:
        """Do it; raise UserError with what happened and what is safe. Detached work that exists is re-attached.

        Args:
            stop: set from another thread to cancel inside (detached work is stopped, its unit removed).
            said: called with a line of progress now and then.
            ready: called right before detached work is begun, never when it is attached to; what it raises forbids it.
        """

    def discard(self, host: str, name: str) -> None:
        """Have the next try begin detached work of this name anew, where it has ended: how it ended was told."""

    def end(self, host: str, name: str) -> bool:
        """End detached work by its name; return whether it still ran. It runs no more then, by the host's own word.

        Work that was never begun, or has ended, is no error and stays as it is. UserError: it could not be asked for,
        or ended.
        """


class Prover(Protocol):
    """Evaluates conditions over Observer sessions. It remembers nothing itself: see `remembering.Memory`."""

    def look(self, condition: Condition, past: Past, memory: Memory) -> Answer:
        """Return what one look found; never raises for the environment (then `holds` is None).

        Args:
            memory: of the attempt that this look belongs to, for conditions that need more than one look.
        """
