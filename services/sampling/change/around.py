"""The windows before and after something that took its time, by themselves. Pure.

Before: what lies next to its beginning. After: from a minute behind its end on, in which connections, caches and flow
control settle.
"""

from __future__ import annotations

from services.sampling.change.model import Window

AROUND_S, SETTLE_S = 600.0, 60.0


def windows_of(first: float, last: float, now: float, length_s: float = AROUND_S) -> tuple[Window, Window] | None:
    """Return the windows around what lasted from `first` to `last` (epoch seconds), None where it is not yet settled.

    The one after ends `now` at the latest.
    """
    begins = last + SETTLE_S
    if now <= begins:
        return None
    return Window(first - length_s, first), Window(begins, min(now, begins + length_s))
