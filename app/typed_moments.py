"""Moments and stretches of time as they are typed: 'yesterday 2:30', '12:40..12:50', 'now-20m..now-10m'. Pure."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from datetime import UTC, datetime

from services.errors import BadInput
from services.i18n import tr
from services.moments import local_time
from services.sampling.change.model import Window

_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_OFFSET = re.compile(r"(start|end|now)(?:([+-])(\d+(?:\.\d+)?)([smhd]?))?")
_CLOCK = re.compile(r"(?:(today|yesterday)\s+)?(\d{1,2}:\d{2}(?::\d{2})?)")
_HALF_A_DAY_S = 43_200.0
_EPOCH = re.compile(r"\d{9,10}(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class Held:
    """The stretch that the samples cover, UTC epoch seconds: 'start' and 'end' are its ends, 'now' is its end too."""

    start: float
    end: float


def window(text: str, held: Held) -> Window:
    """Return a stretch of time of 'FROM..TO'; raise BadInput for what is none."""
    first, dots, last = text.partition("..")
    if not dots:
        raise _no_window(text)
    return Window(moment(first, held), moment(last, held))


def moment(text: str, held: Held) -> float:
    """Return a moment as UTC epoch seconds; a time of day is of the day on which the samples end, in local time.

    One that would lie more than half a day ahead is of the day before: 23:30 typed at five past midnight.

    Raises:
        BadInput: it is none of the ways to write one, or a local time that a change of the clocks repeats or skips.
    """
    text = text.strip()
    if found := _OFFSET.fullmatch(text):
        base = held.start if found[1] == "start" else held.end
        seconds = float(found[3]) * _UNITS[found[4]] if found[3] else 0.0
        return base - seconds if found[2] == "-" else base + seconds
    if _EPOCH.fullmatch(text):
        return float(text)
    if clock := _CLOCK.fullmatch(text):
        return _clock(clock[2], clock[1] or "", held)
    return _written(text)


def _clock(text: str, day: str, held: Held) -> float:
    padded = text if text.index(":") == 2 else f"0{text}"
    of_the_end, before = (local_time(held.end), local_time(held.end - 2 * _HALF_A_DAY_S))
    if day != "yesterday":
        found_at = _written(f"{time.strftime('%Y-%m-%d', of_the_end)} {padded}")
        if day or found_at - held.end <= _HALF_A_DAY_S:
            return found_at
    return _written(f"{time.strftime('%Y-%m-%d', before)} {padded}")


def _written(text: str) -> float:
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise _no_moment(text) from None
    if at.tzinfo is not None:
        return at.astimezone(UTC).timestamp()
    if at.timestamp() != at.replace(fold=1).timestamp():
        raise BadInput(
            tr("{text} is ambiguous or does not exist in local time: the clocks change then.", text=text),
            try_=(tr("Write it in UTC: 2026-11-24T11:40:30Z."),),
        )
    return at.timestamp()


def _no_window(text: str) -> BadInput:
    return BadInput(
        tr("{text!r} is not a time range.", text=text),
        try_=(
            tr("Write FROM..TO, each as 12:40, 12:40:30, 2026-11-24T12:40:30, 2026-11-24T11:40:30Z."),
            _relative(),
        ),
    )


def _no_moment(text: str) -> BadInput:
    return BadInput(
        tr("{text!r} is not a moment.", text=text),
        try_=(
            tr("Write it as 12:40, 12:40:30, yesterday 2:30, 2026-11-24T12:40:30, 2026-11-24T11:40:30Z."),
            _relative(),
        ),
    )


def _relative() -> str:
    return tr("Or relative to an end: now-20m, start+90s (for a recording: its start, end).")
