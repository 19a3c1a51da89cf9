"""Where a time axis has its ticks and what they say: local time of day, round steps, dates where days begin."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import lru_cache

from services.drawing.round_moments import DAY, MINUTE, round_moments, time_step
from services.moments import local_time


@dataclass(frozen=True, slots=True)
class TimeTick:
    """A tick: `at` UTC epoch seconds, its words; `strong` where a day begins."""

    at: float
    text: str
    strong: bool = False


@lru_cache(maxsize=64)
def time_ticks(start: float, end: float, most: int) -> tuple[TimeTick, ...]:
    """Return the ticks of a span given in UTC epoch seconds; steps are aligned to the local clock.

    Cached: all plots of a page ask for the same.
    """
    if not end > start:
        return ()
    step = time_step(end - start, most)
    return tuple(_tick(at, step) for at in round_moments(start, end, step, local_time(start).tm_gmtoff))


def _tick(at: float, step: int) -> TimeTick:
    local = local_time(at)
    begins_day = local.tm_hour == local.tm_min == local.tm_sec == 0
    if begins_day or step >= DAY:
        return TimeTick(at, f"{local.tm_mday} {time.strftime('%b', local)}", strong=True)
    return TimeTick(at, time.strftime("%H:%M:%S" if step < MINUTE else "%H:%M", local))
