"""What looks remember of earlier looks: one memory for one wait of one step, in one attempt, and never for more.

Two kinds of time are told apart. A spell is evidence: something was so at every look, and time in which nobody looked
(a console that slept, was stopped, or hung on another host) is no part of it. Patience is time given to others: it
passes whether anybody looks or not.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from services.clock import Clock

MOST_GAP_S, LEAST_GAP_S = 10.0, 3.0
"""Two looks further apart than the first prove nothing about the time between them; for a short spell the second."""


def most_gap_s(for_s: float) -> float:
    """Return how far apart two looks of a spell of `for_s` seconds may be: a quarter of it, between 3 and 10 s."""
    return min(MOST_GAP_S, max(LEAST_GAP_S, for_s / 4))


@dataclass(frozen=True, slots=True)
class _Spell:
    """Since when something is so at every look, and when that was seen last (seconds; wall: UTC epoch)."""

    since: float
    last: float
    last_wall: float


@dataclass(slots=True)
class Memory:
    """What the looks of one attempt found so far. The engine makes one for each wait and drops it with the wait."""

    _spells: dict[object, _Spell] = field(default_factory=dict)
    _firsts: dict[object, float] = field(default_factory=dict)
    _values: dict[object, object] = field(default_factory=dict)

    def held_s(self, key: object, clock: Clock, gap_s: float) -> float:
        """Note that `key` is so now; return for how many seconds it has been so at every look.

        A computer that sleeps stops its monotonic clock and not the other one: both must agree that looks were near.
        """
        now, wall = clock.monotonic(), clock.wall()
        before = self._spells.get(key)
        near = before is not None and max(now - before.last, wall - before.last_wall) <= gap_s
        since = before.since if before is not None and near else now
        self._spells[key] = _Spell(since, now, wall)
        return now - since

    def broke(self, key: object) -> None:
        """Note that `key` is not so now: its spell is over."""
        self._spells.pop(key, None)

    def waited_s(self, key: object, clock: Clock) -> float:
        """Return the seconds since this was asked for first."""
        now = clock.monotonic()
        return now - self._firsts.setdefault(key, now)

    def value(self, key: object) -> object:
        """Return what was kept under a key, None for nothing."""
        return self._values.get(key)

    def keep(self, key: object, value: object) -> None:
        """Keep something for the next look."""
        self._values[key] = value
