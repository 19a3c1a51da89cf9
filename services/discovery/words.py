"""Numbers and lists of names as sentences and cards need them (the window has its own, richer set).

SI units, at most three significant figures, thin spaces between thousands.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

from services.i18n import tr, tr_n
from services.moments import local_time

THIN = "\u202f"
_SIZES = ("B", "kB", "MB", "GB", "TB", "PB", "EB")


def number(value: float) -> str:
    """Return a whole number exactly, another with three figures: "1 284", "0.25"."""
    if value == int(value):
        return f"{int(value):,}".replace(",", THIN)
    text = f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}".replace(",", THIN)
    return text if "e" not in text else f"{value:.0f}"


def size(value: float) -> str:
    """Return bytes in SI units: "640 GB"."""
    power = 0
    while abs(value) >= 999.5 and power < len(_SIZES) - 1:
        value /= 1000.0
        power += 1
    digits = 0 if abs(value) >= 99.5 or power == 0 else (1 if abs(value) >= 9.95 else 2)
    text = f"{value:.{digits}f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text} {_SIZES[power]}"


def percent(share: float) -> str:
    """Return a share of 0 to 1 as "0.2 %"."""
    return f"{max(0.0, share) * 100:.1f} %"


def moment(at: float) -> str:
    """Return a moment as local date and time: what is kept may be of another day."""
    return time.strftime("%Y-%m-%d %H:%M:%S", local_time(at))


def clock(at: float) -> str:
    """Return a moment as local time of day."""
    return time.strftime("%H:%M:%S", local_time(at))


def names(values: Iterable[str], most: int = 4) -> str:
    """Return "db1, db2 and db3"; beyond `most` the rest is counted."""
    known = list(values)
    if len(known) > most:
        return tr("{names} and {n} more", names=", ".join(known[: most - 1]), n=len(known) - most + 1)
    if len(known) < 2:
        return "".join(known)
    return tr("{names} and {last}", names=", ".join(known[:-1]), last=known[-1])


def listing(values: Iterable[str], most: int = 6) -> str:
    """Return "db1, db2, db3": a list that is no part of a sentence."""
    known = list(values)
    if len(known) <= most:
        return ", ".join(known)
    return tr("{names} and {n} more", names=", ".join(known[: most - 1]), n=len(known) - most + 1)


def some(count: int, one: str, many: str) -> str:
    """Return "1 vote", "3 votes" from "{n} vote" and "{n} votes"."""
    return tr_n(one, many, count, n=number(count))


def joined(*parts: str) -> str:
    """Return sentences as one, those that say something; unlike str.join it keeps their English."""
    told = [part for part in parts if part]
    whole = told[0] if told else ""
    for part in told[1:]:
        whole = tr("{first}; {second}", first=whole, second=part)
    return whole
