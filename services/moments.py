"""Moments on a calendar: those that no calendar shows, which a recording or a server may name, become the nearest."""

from __future__ import annotations

import time
from datetime import UTC, datetime

_LAST_SHOWN = 2.0**33
"""The year 2242. The C library's calendar ends somewhere beyond (man localtime(3), EOVERFLOW), datetime's in 9999."""


def local_time(at: float) -> time.struct_time:
    """Return UTC epoch seconds as local time."""
    return time.localtime(min(max(at, 0.0), _LAST_SHOWN))


def utc_time(at: float) -> datetime:
    """Return UTC epoch seconds as a moment in UTC."""
    return datetime.fromtimestamp(min(max(at, 0.0), _LAST_SHOWN), UTC)
