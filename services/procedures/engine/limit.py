"""A time limit that counts only the time in which the engine looked: a console that slept has not waited."""

from __future__ import annotations

from services.clock import Clock

ASLEEP_S = 120.0
"""Two looks further apart than this: the laptop slept, or the program was stopped. A look has limits of seconds."""
_MOST = 64  # a clock that only leaps must not make a wait without end


class Limit:
    """Whether `limit_s` seconds of looking have passed. One thread; ask `over` after each look.

    CLOCK_MONOTONIC stands still while Linux and macOS sleep and goes on while Windows does, or a program is stopped
    (Python documentation, time.monotonic; clock_gettime(2)).
    """

    def __init__(self, clock: Clock, limit_s: float) -> None:
        """Begin now."""
        self._clock = clock
        self._last = clock.monotonic()
        self._until = self._last + limit_s
        self._leaps = 0
        self.slept_s = 0.0

    def over(self) -> bool:
        """Return whether the limit has passed; time in which nobody looked is added to it."""
        now = self._clock.monotonic()
        gap, self._last = now - self._last, now
        if gap > ASLEEP_S and self._leaps < _MOST:
            self._leaps += 1
            self._until += gap
            self.slept_s += gap
        return now >= self._until

    @property
    def wall(self) -> float:
        """Return when it ends, UTC epoch seconds by the clock as it is now."""
        return self._clock.wall() + self._until - self._clock.monotonic()
