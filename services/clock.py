"""Time as a port: wall clock, monotonic clock, waiting, backoff."""

from __future__ import annotations

import random
import threading
import time
from typing import Protocol


class Clock(Protocol):
    """What the services need of time. Seconds everywhere; wall is UTC epoch seconds."""

    def wall(self) -> float:
        """Return UTC epoch seconds (may jump: never subtract two of them for a rate)."""

    def monotonic(self) -> float:
        """Return seconds that never go backwards (for rates, ages and limits)."""

    def sleep(self, seconds: float, stop: threading.Event | None = None) -> bool:
        """Wait; return True when `stop` was set meanwhile."""


class SystemClock:
    """The real clock."""

    def wall(self) -> float:
        """Return UTC epoch seconds."""
        return time.time()

    def monotonic(self) -> float:
        """Return CLOCK_MONOTONIC seconds."""
        return time.monotonic()

    def sleep(self, seconds: float, stop: threading.Event | None = None) -> bool:
        """Wait up to `seconds`, or until `stop` is set."""
        if stop is None:
            time.sleep(max(0.0, seconds))
            return False
        return stop.wait(max(0.0, seconds))


class ManualClock:
    """A clock that a test moves by hand; `sleep` moves it."""

    def __init__(self, start: float = 1_700_000_000.0) -> None:
        self._now = start
        self._mono = 1000.0
        self._lock = threading.Lock()

    def wall(self) -> float:
        """Return the wall time set so far."""
        with self._lock:
            return self._now

    def monotonic(self) -> float:
        """Return the monotonic time set so far."""
        with self._lock:
            return self._mono

    def advance(self, seconds: float) -> None:
        """Move both clocks forward."""
        with self._lock:
            self._now += seconds
            self._mono += seconds

    def sleep(self, seconds: float, stop: threading.Event | None = None) -> bool:
        """Advance at once; return whether `stop` is set."""
        self.advance(max(0.0, seconds))
        return bool(stop and stop.is_set())


class Backoff:
    """Waiting times between attempts: doubling from `first` to `most` seconds, with jitter.

    Jitter (plus or minus 20 %) keeps a hundred hosts from reconnecting in the same instant after the VPN returns.
    """

    def __init__(self, first: float = 1.0, most: float = 30.0, jitter: float = 0.2) -> None:
        self._first = first
        self._most = most
        self._jitter = jitter
        self._tries = 0

    def next(self) -> float:
        """Return the seconds to wait before the next attempt."""
        base = min(self._most, self._first * (2.0 ** min(self._tries, 16)))
        self._tries += 1
        return base * (1.0 + random.uniform(-self._jitter, self._jitter))  # noqa: S311 - not for secrets

    def reset(self) -> None:
        """Start again from the shortest wait, after a success."""
        self._tries = 0
