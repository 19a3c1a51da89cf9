"""How late the console itself is: a server is not judged by the time in which nobody here ran.

A starved workstation (no processor left, a machine just awake) reads an answer after its limit though it came in time.
One small thread wakes ten times a second and sees by how much it was late.
"""

from __future__ import annotations

import threading
from collections import deque

from services.clock import Clock

TICK_S = 0.1
LATE_S = 0.25
"""A thread that wakes later than this after its time did not run when it should have."""
_KEPT = 600


class OwnPace:
    """Thread-safe. Without `start` it is never late."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._late: deque[tuple[float, float]] = deque(maxlen=_KEPT)
        self._due = float("inf")

    def start(self) -> None:
        """Begin to look."""
        self._due = self._clock.monotonic() + TICK_S
        self._thread = threading.Thread(target=self._run, name="pilothouse-pace", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop and join."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout=5)

    def was_late(self, since: float) -> bool:
        """Return whether the console did not run for a while between `since` (monotonic seconds) and now."""
        behind = self._clock.monotonic() - self._due
        return behind > LATE_S or any(at >= since and late > LATE_S for at, late in tuple(self._late))

    def woke(self) -> None:
        """Note that the thread runs: by how much that is late."""
        now = self._clock.monotonic()
        if now - self._due > LATE_S:
            self._late.append((now, now - self._due))
        self._due = now + TICK_S

    def _run(self) -> None:
        while not self._clock.sleep(TICK_S, self._stop):
            self.woke()
