"""A curve in a frame: where a moment and a value stand, round lines of its axes, its stretches between gaps.

The axis of a frame is time (UTC epoch seconds) across and any value upwards; y grows downwards, as on every screen.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

Point = tuple[float, float]
_MOST = 1e300
"""An axis ends there: beyond it the arithmetic of its lines overflows."""


def x_of(at: float, start: float, end: float, left: float, width: float) -> float:
    """Return where a moment lies; `start` stands at `left`, `end` `width` pixels right of it."""
    return left + (at - start) / (end - start) * width


def time_at(x: float, start: float, end: float, left: float, width: float) -> float:
    """Return the moment under a pixel."""
    return start + (x - left) / max(1.0, width) * (end - start)


def round_step(rough: float, factors: Iterable[float] = (1.0, 2.0, 5.0, 10.0)) -> float:
    """Return the smallest of `factors` times a power of ten that is at least `rough` (> 0, finite).

    `factors` ascend and end with 10. A thousandth less than `rough` is as much: floats are not exact.
    """
    power = 10.0 ** math.floor(math.log10(rough))
    return next((factor * power for factor in factors if factor * power >= rough * 0.999), 10.0 * power)


@dataclass(frozen=True, slots=True)
class ValueAxis:
    """Ends of an axis of values and the distance of its lines; both ends stand on a line."""

    low: float
    high: float
    step: float

    @property
    def lines(self) -> tuple[float, ...]:
        """Return the value of each line, from the lowest."""
        return tuple(self.low + i * self.step for i in range(round((self.high - self.low) / self.step) + 1))


def value_axis(low: float, high: float, intervals: int) -> ValueAxis:
    """Return an axis that holds `low` to `high` with about so many intervals between its lines.

    Nothing but zeros has an axis from 0 to 1: one from 0 to 0 says nothing.
    """
    low, high = max(low, -_MOST), min(high, _MOST)
    if low == high == 0.0:
        high = 1.0
    step = round_step(max(high - low, abs(low) * 1e-6, 1e-9) / intervals)
    bottom = math.floor(low / step) * step
    return ValueAxis(bottom, bottom + max(1, math.ceil((high - bottom) / step - 1e-9)) * step, step)


@dataclass(frozen=True, slots=True)
class Frame:
    """The rectangle of a curve with what its edges stand for.

    Attributes:
        left, top, right, bottom: pixels.
        start, end: the moments at the left and the right edge.
        low, high: the values at the lower and the upper edge.
    """

    left: float
    top: float
    right: float
    bottom: float
    start: float
    end: float
    low: float = 0.0
    high: float = 1.0

    def x(self, at: float) -> float:
        """Return where a moment stands."""
        return x_of(at, self.start, self.end, self.left, self.right - self.left)

    def y(self, value: float) -> float:
        """Return where a value stands; what is beyond the frame stands at its edge."""
        share = (value - self.low) / (self.high - self.low)
        return self.bottom - min(1.0, max(0.0, share)) * (self.bottom - self.top)

    def holds(self, at: float) -> bool:
        """Return whether a moment is in sight."""
        return self.start <= at <= self.end

    def lines(self, times: Iterable[float], values: Iterable[float]) -> Iterator[list[Point]]:
        """Give the curve's points, a list for each stretch without a gap."""
        yield from stretches(
            (self.x(at), self.y(value) if math.isfinite(value) else value)
            for at, value in zip(times, values, strict=False)
        )


def stretches(points: Iterable[Point]) -> Iterator[list[Point]]:
    """Give the points from gap to gap, none empty; a value that is no finite number is a gap."""
    found: list[Point] = []
    for point in points:
        if math.isfinite(point[1]):
            found.append(point)
        elif found:
            yield found
            found = []
    if found:
        yield found
