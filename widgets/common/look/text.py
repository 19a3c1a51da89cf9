"""Numbers, sizes, durations and ages as a person reads them. Pure text: no Qt, so the tests need no window.

At most three significant figures, thousands apart, always a unit; "n/a" is never a number: an unknown is an en dash.
"""

from __future__ import annotations

import math
import re
import time

from services.i18n import tr, tr_n
from services.moments import duration, local_time
from services.visible import visible

THIN_SPACE = "\u202f"  # narrow no-break: a number must not break across lines
UNKNOWN = "–"
MIDDLE = "·"

_BREAKS = re.compile(r"[\x00-\x20\x7f-\x9f\u2028\u2029]+")
_SIZES = ("B", "kB", "MB", "GB", "TB", "PB", "EB")


def group_thousands(digits: str) -> str:
    """Put thin spaces between groups of three digits of the integer part of a plain decimal number."""
    sign = "−" if digits.startswith("-") else ""
    whole, dot, fraction = digits.lstrip("-").partition(".")
    return f"{sign}{int(whole):,}".replace(",", THIN_SPACE) + dot + fraction


def format_count(value: int | None) -> str:
    """Return an exact whole number: seqnos, queue lengths, connections ("48 213 904")."""
    return UNKNOWN if value is None else group_thousands(str(value))


def format_number(value: float | None, unit: str = "") -> str:
    """Return at most three significant figures, thousands apart ("0.412", "31.5", "1 280"), with `unit` if given."""
    if value is None or math.isnan(value):
        return UNKNOWN
    if math.isinf(value):
        text = "−∞" if value < 0 else "∞"
    else:
        text = group_thousands(_three_figures(value))
    return f"{text} {unit}" if unit else text


def _three_figures(value: float) -> str:
    if value == 0 or abs(value) < 1e-9:
        return "0"
    decimals = 2 - math.floor(math.log10(abs(value)))
    rounded = round(value, decimals)
    if rounded == 0:
        return "0"
    text = f"{rounded:.{max(0, decimals)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def format_percent(value: float | None, decimals: int = 0) -> str:
    """Return a share already in percent ("36 %", "0.2 %")."""
    if value is None or math.isnan(value):
        return UNKNOWN
    return f"{value:.{decimals}f} %"


def format_bytes(value: float | None, suffix: str = "") -> str:
    """Return a size in SI units ("1.6 GB", "640 GB"); `suffix` "/s" makes it a rate."""
    if value is None or math.isnan(value):
        return UNKNOWN
    power = 0
    size = float(value)
    # 999.5 would round to "1 000 kB": step up as soon as three figures would overflow.
    while abs(size) >= 999.5 and power < len(_SIZES) - 1:
        size /= 1000.0
        power += 1
    return format_number(size, _SIZES[power]) + suffix


def format_rate(value: float | None) -> str:
    """Return bytes per second ("186 MB/s")."""
    return format_bytes(value, "/s")


def format_bytes_of(done: float | None, total: float | None, *, about: bool = False) -> str:
    """Return progress in the total's unit ("42 of 118 GB"); just the done part while the total is unknown.

    `about`: the total is an estimate.
    """
    if total is None or done is None:
        return format_bytes(done)
    whole = format_bytes(total)
    number, unit = whole.rsplit(" ", 1)
    part = done / 1000.0 ** _SIZES.index(unit)
    if about:
        return tr("{part} of about {whole} {unit}", part=format_number(part), whole=number, unit=unit)
    return tr("{part} of {whole} {unit}", part=format_number(part), whole=number, unit=unit)


def format_duration(seconds: float | None) -> str:
    """Return a duration as `services.moments` says it, an en dash for an unknown one."""
    return UNKNOWN if seconds is None or not math.isfinite(seconds) else duration(seconds)


class _Tense:
    past = False


def speak_of_past(*, past: bool) -> None:
    """Let ages be told as of the moment shown: a replay's numbers were old then, not now."""
    _Tense.past = past


def in_past() -> bool:
    """Return whether what is shown is a recording's moment."""
    return _Tense.past


def format_age(seconds: float | None) -> str:
    """Return how old something is ("now", "0.6 s ago", "3 h 10 min ago"; in a replay "then", "0.6 s before")."""
    if seconds is None or math.isnan(seconds):
        return tr("never")
    if seconds < 0.05:
        return tr("then") if in_past() else tr("now")
    span = format_duration(max(0.1, round(seconds, 1)) if seconds < 1.0 else seconds)  # an age needs no milliseconds
    return tr("{span} before", span=span) if in_past() else tr("{span} ago", span=span)


def format_clock(at: float | None, *, seconds: bool = True) -> str:
    """Return the local time of day of a UTC epoch time ("02:31:07")."""
    if at is None:
        return UNKNOWN
    return time.strftime("%H:%M:%S" if seconds else "%H:%M", local_time(at))


def format_moment(at: float | None) -> str:
    """Return local date and time of a UTC epoch time ("2026-11-21 02:31:07")."""
    if at is None:
        return UNKNOWN
    return time.strftime("%Y-%m-%d %H:%M:%S", local_time(at))


def seen_words(at: float | None, off: float | None = None) -> str:
    """Return when a proof or a look last showed a thing on, and off after that; what it is now is not known by it."""
    on = tr("never seen on") if at is None else tr("last seen on {moment}", moment=format_moment(at))
    return on if off is None else tr("{on}, no longer at {moment}", on=on, moment=format_moment(off))


def still_on(sentence: str, seen: float | None, off: float | None) -> str:
    """Return the line of an obligation: on, as far as is known, or off at the last look and not yet ticked off."""
    if off is None or (seen is not None and seen > off):
        return tr("Still on: {sentence}.", sentence=sentence)
    return tr("Already off at {moment}, but still to be released: {sentence}.", moment=format_moment(off),
              sentence=sentence)  # fmt: skip


def one_line(text: str, most: int = 200) -> str:
    """Return a server's text as one line of bounded length: names and errors may hold anything."""
    # Control characters and line ends only: str.split() would also break the narrow spaces inside numbers.
    line = visible(_BREAKS.sub(" ", text).strip(" "))
    return line if len(line) <= most else f"{line[: most - 1]}…"


def short_id(identifier: str, keep: int = 8) -> str:
    """Return the beginning of a UUID or hash, as people quote it ("8f21c0de…")."""
    return identifier if len(identifier) <= keep + 1 else f"{identifier[:keep]}…"


def plural(count: int, one: str, many: str) -> str:
    """Return "1 vote", "4 votes" in the person's language, from "{n} vote" and "{n} votes"."""
    return tr_n(one, many, count, n=format_count(count))
