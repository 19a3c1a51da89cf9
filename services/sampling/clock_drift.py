"""How far a host's clock is off, from readings that may be old when they are read. Pure.

A reading carries the host's own time. One that this console takes late makes that clock seem behind, never ahead: so
'ahead' is believed at once, 'behind' only where the best of several readings says so.
"""

from __future__ import annotations

from collections import deque

SET_S = 1.5
"""What a clock has to be off from what is known of it to count as set anew."""
_READINGS = 5


class ClockDrift:
    """Of one host; not thread-safe."""

    def __init__(self) -> None:
        self._newest: deque[float] = deque(maxlen=_READINGS)

    def offset(self, known: float | None, drift: float) -> float | None:
        """Return the offset after one more reading, None while it is not known.

        Args:
            known: the offset so far, seconds, positive where the host is ahead; drift: the host's time minus now.
        """
        self._newest.append(drift)
        if drift - (known or 0.0) > SET_S or (known is None and drift > -SET_S):
            return drift
        best = max(self._newest)
        if len(self._newest) == _READINGS and (known or 0.0) - best > SET_S:
            return best
        return known
