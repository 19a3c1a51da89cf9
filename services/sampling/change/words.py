"""A comparison in words and tables: the same in the window, the terminal and the report. Pure."""

from __future__ import annotations

import math
from collections import Counter

from services.discovery.words import clock, moment, number, size
from services.i18n import mark, tr, tr_n
from services.moments import duration
from services.sampling.change.model import Change, Comparison, Direction, Shift, Size, Window

HEADERS = (
    mark("Server"), mark("Metric"), mark("Before"), mark("After"), mark("Difference"), mark("Worst seconds"),
    mark("Verdict"),
)  # fmt: skip
_UNKNOWN = "–"
_SIZES = {
    Size.NEGLIGIBLE: mark("barely"),
    Size.SMALL: mark("a little"),
    Size.MEDIUM: mark("clearly"),
    Size.LARGE: mark("by a large margin"),
}
_VERDICTS = {
    Direction.HIGHER: mark("higher"),
    Direction.LOWER: mark("lower"),
    Direction.NONE: mark("no difference shown"),
    Direction.UNKNOWN: mark("not known"),
}


def said_value(value: float, unit: str) -> str:
    """Return a value with its unit and three figures at most, bytes in SI units, '–' where it has no end."""
    if not math.isfinite(value):
        return _UNKNOWN
    if unit in {"B", "B/s"}:
        return size(value) + unit[1:]
    rounded = float(f"{value:.3g}") if abs(value) < 1000 else float(round(value))
    return f"{number(rounded)} {unit}".strip()


def span_words(shift: Shift, unit: str) -> str:
    """Return the shift with its interval: '+12 1/s, +4.2 % (+9 to +15)'; one without ends is no answer: '–'."""
    if not math.isfinite(shift.low):
        return _UNKNOWN
    share = f", {_share(shift.by / shift.before)}" if shift.before and shift.by else ""
    bare = "" if unit not in {"B", "B/s"} else unit
    ends = tr("{low} to {high}", low=_signed(shift.low, bare), high=_signed(shift.high, bare))
    return f"{_signed(shift.by, unit)}{share} ({ends})"


def _signed(value: float, unit: str) -> str:
    text = said_value(abs(value), unit)
    return text if value == 0 else f"{'−' if value < 0 else '+'}{text}"


def _share(share: float) -> str:
    """Return '+4.2 %', '−38 %'; of several times as much: '+420 %'."""
    text = f"{100 * abs(share):.0f}" if abs(share) >= 0.0995 else f"{100 * abs(share):.1f}"
    return f"{'−' if share < 0 else '+'}{text} %"


def verdict_words(change: Change) -> str:
    """Return the verdict as a person says it: 'higher, clearly', 'not known: ...'."""
    words = tr(_VERDICTS[change.verdict])
    if change.verdict is Direction.UNKNOWN:
        return f"{words}: {change.said}" if change.said else words
    if change.verdict is not Direction.NONE and change.size is not None:
        words = f"{words}, {tr(_SIZES[change.size])}"
    if change.worst_verdict not in {Direction.NONE, Direction.UNKNOWN, change.verdict}:
        words = tr("{verdict}; worst seconds {worst}", verdict=words, worst=tr(_VERDICTS[change.worst_verdict]))
    return f"{words}. {change.said}" if change.said else words


def row(change: Change) -> tuple[str, ...]:
    """Return a change as the cells of HEADERS."""
    typical, worst, unit = change.typical, change.worst, change.unit
    return (
        change.server,
        change.metric if change.title == change.metric else f"{change.title} ({change.metric})",
        said_value(typical.before, unit) if typical is not None else _UNKNOWN,
        said_value(typical.after, unit) if typical is not None else _UNKNOWN,
        span_words(typical, unit) if typical is not None else _UNKNOWN,
        span_words(worst, unit) if worst is not None else _UNKNOWN,
        verdict_words(change),
    )


def window_words(window: Window) -> str:
    """Return '2026-11-21 12:41:04 to 12:51:04, 10 min', in local time."""
    first, last = moment(window.start), moment(window.end)
    shown = clock(window.end) if first[:10] == last[:10] else last
    return tr("{first} to {last}, {span}", first=first, last=shown, span=duration(round(window.length_s)))


def summary(comparison: Comparison) -> str:
    """Return one sentence: how many metrics differ, how many do not, of how many nobody knows."""
    verdicts = [change.verdict for change in comparison.changes]
    moved = sum(verdict in {Direction.HIGHER, Direction.LOWER} for verdict in verdicts)
    unknown = verdicts.count(Direction.UNKNOWN)
    parts = (
        tr_n("{n} metric differs", "{n} metrics differ", moved),
        tr_n("{n} shows no difference", "{n} show no difference", len(verdicts) - moved - unknown),
        tr_n("{n} is not known", "{n} are not known", unknown),
    )
    return f"{', '.join(parts)}."


def main_reason(comparison: Comparison) -> str:
    """Return why nothing is known of most of what is not known, '' where more was said than not.

    The reason of the most numbers speaks for all of them: the first of them in its own words.
    """
    unknown = [change for change in comparison.changes if change.verdict is Direction.UNKNOWN and change.said]
    if 2 * len(unknown) <= len(comparison.changes):
        return ""
    (why, times), *_ = Counter(change.why for change in unknown).most_common(1)
    said = next(change.said for change in unknown if change.why == why)
    return said if times == len(unknown) else tr("Mostly: {why}", why=said)


def footnote(comparison: Comparison) -> str:
    """Return what stands under a comparison: how many differ, why most are not known, what it can't tell."""
    known = any(change.verdict is not Direction.UNKNOWN for change in comparison.changes)
    parts = (summary(comparison), main_reason(comparison), caveat(comparison) if known else "")
    return " ".join(part for part in parts if part)


def caveat(comparison: Comparison) -> str:
    """Return what stands under every comparison: what its intervals are, and what it can't tell."""
    return tr(
        "In one comparison out of {every}, the interval misses the true value. What else changed between the "
        "windows is not known.",
        every=round(1.0 / max(1e-9, 1.0 - comparison.confidence)),
    )
