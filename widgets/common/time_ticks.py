"""Where a time axis has its ticks and what they say: local time of day, round steps, dates where days begin."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from functools import lru_cache

from services.moments import local_time

_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_STEPS = (
    *(1, 2, 5, 10, 15, 30),
    *(m * _MINUTE for m in (1, 2, 5, 10, 15, 30)),
    *(h * _HOUR for h in (1, 2, 3, 6, 12)),
    *(d * _DAY for d in (1, 2, 7, 14, 28)),
)


@dataclass(frozen=True, slots=True)
class TimeTick:
    """A tick: `at` UTC epoch seconds, its words; `strong` where a day begins."""

    at: float
    text: str
    strong: bool = False


def time_step(span_s: float, most: int) -> int:
    """Return the smallest round step in seconds that gives at most `most` ticks in a span."""
    for step in _STEPS:
        if span_s / step <= max(1, most):
            return step
    return _STEPS[-1] * math.ceil(span_s / _STEPS[-1] / max(1, most))


@lru_cache(maxsize=64)
def time_ticks(start: float, end: float, most: int) -> tuple[TimeTick, ...]:
    """Return the ticks of a span given in UTC epoch seconds; steps are aligned to the local clock.

    Cached: all plots of a page ask for the same.
    """
    if not end > start:
        return ()
    step = time_step(end - start, most)
    offset = local_time(start).tm_gmtoff
    first = math.ceil((start + offset) / step) * step - offset
    count = math.floor((end - first) / step) + 1
    return tuple(_tick(first + i * step, step) for i in range(max(0, count)))


def _tick(at: float, step: int) -> TimeTick:
    local = local_time(at)
    begins_day = local.tm_hour == local.tm_min == local.tm_sec == 0
    if begins_day or step >= _DAY:
        return TimeTick(at, f"{local.tm_mday} {time.strftime('%b', local)}", strong=True)
    return TimeTick(at, time.strftime("%H:%M:%S" if step < _MINUTE else "%H:%M", local))
