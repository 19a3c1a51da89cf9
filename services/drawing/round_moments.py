"""The round moments at which a time axis has its lines: seconds, minutes, hours, days as a clock has them."""

from __future__ import annotations

import math

MINUTE, HOUR, DAY = 60, 3600, 86400
_STEPS = (
    *(1, 2, 5, 10, 15, 30),
    *(m * MINUTE for m in (1, 2, 5, 10, 15, 30)),
    *(h * HOUR for h in (1, 2, 3, 6, 12)),
    *(d * DAY for d in (1, 2, 7, 14, 28)),
)


def time_step(span_s: float, most: int) -> int:
    """Return the smallest round step in seconds that gives at most `most` lines in a span."""
    for step in _STEPS:
        if span_s / step <= max(1, most):
            return step
    return _STEPS[-1] * math.ceil(span_s / _STEPS[-1] / max(1, most))


def round_moments(start: float, end: float, step: int, offset: float = 0.0) -> tuple[float, ...]:
    """Return the moments of a span (UTC epoch seconds) at whole steps of a clock `offset` seconds ahead of UTC."""
    first = math.ceil((start + offset) / step) * step - offset
    return tuple(first + i * step for i in range(max(0, math.floor((end - first) / step) + 1)))
