"""Pixels of a time axis: one rule for strip, plots and seek track, so that an event is one upright line.

Widgets that show the same span between the same two edges of the window put a moment (services/drawing/curve.py) on
the same pixel of the screen.
"""

from __future__ import annotations

import math

SIDE = 16.0
"""Left and right of a time axis that stands alone."""
_TICK_ROOM_PX = 88.0


def pixel(x: float) -> int:
    """Return the pixel of a place; a half goes up everywhere, which Python's round (to the even one) would not do."""
    return math.floor(x + 0.5)


def ticks_wanted(width: float) -> int:
    """Return how many ticks fit on a time axis of this width: the same on every axis that is as wide."""
    return int(width / _TICK_ROOM_PX)
