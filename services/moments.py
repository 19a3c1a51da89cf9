"""Moments on a calendar, and how long something takes, as window, terminal, events and reports say it.

A moment that no calendar shows, which a recording or a server may name, becomes the nearest that it does.
"""

from __future__ import annotations

import math
import time
from datetime import UTC, datetime

_THIN = "\u202f"
_LAST_SHOWN = 2.0**33
"""The year 2242. The C library's calendar ends somewhere beyond (man localtime(3), EOVERFLOW), datetime's in 9999."""


def local_time(at: float) -> time.struct_time:
    """Return UTC epoch seconds as local time."""
    return time.localtime(min(max(at, 0.0), _LAST_SHOWN))


def utc_time(at: float) -> datetime:
    """Return UTC epoch seconds as a moment in UTC."""
    return datetime.fromtimestamp(min(max(at, 0.0), _LAST_SHOWN), UTC)


def duration(seconds: float) -> str:
    """Return a duration in the words a person says: "38 ms", "0.4 s", "14 s", "6 min 12 s", "3 h 10 min", "41 d 3 h".

    Two units at most, rounded to the smaller one; a second unit of zero is left out ("31 min", "2 h").
    """
    return f"−{_positive(-seconds)}" if seconds < 0 else _positive(seconds)


def estimate(seconds: float) -> str:
    """Return a span as an estimate is said: whole seconds, from two minutes on whole minutes."""
    if 0.95 <= seconds < 10:
        return f"{round(seconds)} s"
    return duration(round(seconds / 60) * 60.0 if seconds >= 120 else seconds)


def _positive(value: float) -> str:
    if value == 0:
        return "0 s"
    if value < 0.0995:
        return f"{_milliseconds(value * 1000)} ms"
    if value < 9.95:
        return f"{value:.1f} s"
    if round(value) < 60:
        return f"{round(value)} s"
    if round(value) < 3600:
        return _two(round(value), 60, "min", "s", padded=True)
    if round(value / 60) < 24 * 60:
        return _two(round(value / 60), 60, "h", "min", padded=True)
    return _two(round(value / 3600), 24, "d", "h", padded=False)


def _milliseconds(value: float) -> str:
    """Return three figures at most, less than a billionth of a millisecond as none."""
    figures = 0 if value < 1e-9 else 2 - math.floor(math.log10(value))
    text = f"{round(value, figures):.{max(0, figures)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _two(total: int, base: int, large: str, small: str, *, padded: bool) -> str:
    whole, rest = divmod(total, base)
    head = f"{whole:,} {large}".replace(",", _THIN)
    if not rest:
        return head
    return f"{head} {rest:02d} {small}" if padded else f"{head} {rest} {small}"
