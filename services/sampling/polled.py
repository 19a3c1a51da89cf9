"""What the poll of any kind of server gives, and what polls it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from services.facts.model import NodeFacts


@dataclass(frozen=True, slots=True)
class Polled:
    """What one poll gave.

    Attributes:
        at, mono: the moment it tells of (epoch, monotonic seconds).
        merged: gives the facts after it, out of those before. values: the numbers to sample, out of the new facts.
        variables: settings of which each change is told; the same object while they were not read anew.
    """

    at: float
    mono: float
    merged: Callable[[NodeFacts], NodeFacts]
    values: Callable[[NodeFacts], dict[str, float]]
    variables: Mapping[str, str] = field(default_factory=dict)


class ServerPoll(Protocol):
    """Polls one server again and again."""

    def poll(self) -> Polled:
        """Ask once. Raises UserError where the server does not answer."""

    def forget(self) -> None:
        """Forget what was learned over a connection that is lost."""
