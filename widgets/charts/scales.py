"""Value scales: round ends, few ticks, units a person expects (kB to TB, ms to days), no SI prefix by surprise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from services.drawing.curve import round_step
from widgets.common.look.text import (
    UNKNOWN,
    format_bytes,
    format_count,
    format_duration,
    format_number,
    group_thousands,
)

INTERVALS = 4
_DECIMAL = (1.0, 2.0, 2.5, 5.0, 10.0)
_BYTE_UNITS = ("B", "kB", "MB", "GB", "TB", "PB")
_SECONDS = {"ms": 0.001, "s": 1.0, "h": 3600.0}
# Steps of a time scale that are round in the unit they are written in, in seconds.
_TIME_STEPS = (
    *(v * 10.0**p for p in range(-6, 1) for v in (1.0, 2.0, 5.0)),
    *(10.0, 15.0, 30.0),
    *(m * 60.0 for m in (1, 2, 5, 10, 15, 30)),
    *(h * 3600.0 for h in (1, 2, 3, 6, 12)),
    *(d * 86400.0 for d in (1, 2, 5, 10, 20, 50, 100, 200, 500)),
)


@dataclass(frozen=True, slots=True)
class Scale:
    """Ends of an axis and its ticks (value, words); the topmost tick carries the unit."""

    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]


@lru_cache(maxsize=128)
def make_scale(low: float, high: float, unit: str, *, fixed_high: bool = False, intervals: int = INTERVALS) -> Scale:
    """Return a scale from `low` that holds `high`; a `fixed_high` is not rounded up.

    Cached: a scale is asked for with each frame and changes rarely (callers pass the calmed peak, not each value).
    """
    if not high > low:
        high = low + _least(unit)
    step = _step((high - low) / intervals, unit)
    if fixed_high:
        step = _even_step(high - low, intervals) or step
    top = high if fixed_high else low + math.ceil((high - low) / step - 1e-9) * step
    first = math.ceil(low / step - 1e-9)
    values = [i * step for i in range(first, math.floor(top / step + 1e-9) + 1)]
    return Scale(low, top, tuple(zip(values, _words(values, step, unit), strict=True)))


def _even_step(span: float, intervals: int) -> float | None:
    """Return a short step that divides `span` into about `intervals` parts, so that its end has a tick."""
    for count in sorted(range(2, 9), key=lambda n: (abs(n - intervals), -n)):
        step = span / count
        if math.isclose(float(f"{step:.1e}"), step, rel_tol=1e-9) and f"{step:.1e}"[2] in "05":
            return step
    return None


def right_scale(left: Scale, high: float, unit: str) -> Scale:
    """Return a scale from zero whose ticks stand on the grid lines of `left`."""
    steps = max(1, len(left.ticks) - 1)
    ratio = (left.high - left.low) / (left.ticks[-1][0] - left.ticks[0][0]) if steps > 1 else 1.0
    step = _step(max(high, _least(unit) / 4) / steps, unit)
    values = [i * step for i in range(len(left.ticks))]
    return Scale(0.0, step * steps * ratio, tuple(zip(values, _words(values, step, unit), strict=True)))


def _least(unit: str) -> float:
    """Return the height of a scale whose data are all zero."""
    return {"": 4.0, "1/s": 4.0, "%": 4.0, "B": 4000.0, "B/s": 4000.0, "ms": 4.0, "s": 4.0, "h": 4.0}.get(unit, 1.0)


def _step(rough: float, unit: str) -> float:
    """Return the smallest round step that is at least `rough`."""
    if unit in _SECONDS:
        factor = _SECONDS[unit]
        seconds = rough * factor
        return next((s for s in _TIME_STEPS if s >= seconds * 0.999), round_step(seconds, _DECIMAL)) / factor
    if unit == "":
        return max(1.0, round_step(rough))  # half a thread does not exist
    return round_step(rough, _DECIMAL)


def _words(values: list[float], step: float, unit: str) -> list[str]:
    """Return the words of ticks: plain numbers in one common unit, the unit on the topmost only."""
    if not values:
        return []
    factor, name = _common_unit(max(abs(values[0]), abs(values[-1])), step, unit)
    decimals = _decimals(step / factor)
    words = [_plain(value / factor, decimals) for value in values]
    words[-1] = f"{words[-1]} {name}".rstrip()
    return words


def _common_unit(largest: float, step: float, unit: str) -> tuple[float, str]:
    if unit in {"B", "B/s"}:
        power = min(len(_BYTE_UNITS) - 1, max(0, math.floor(math.log10(max(largest, 1.0)) / 3 + 1e-9)))
        return 1000.0**power, _BYTE_UNITS[power] + unit[1:]
    if unit in _SECONDS:
        factor = _SECONDS[unit]
        seconds = step * factor
        name, size = next((n, s) for n, s in _TIME_NAMES if seconds >= s * 0.999 or (n, s) == _TIME_NAMES[-1])
        if size < 1.0 and largest * factor >= 0.001:
            name, size = ("s", 1.0) if largest * factor >= 1.0 else ("ms", 0.001)
        return size / factor, name
    if unit == "1/s":
        return 1.0, "/s"
    return 1.0, unit


_TIME_NAMES = (("d", 86400.0), ("h", 3600.0), ("min", 60.0), ("s", 1.0), ("ms", 0.001), ("µs", 0.000001))


def _decimals(step: float) -> int:
    for decimals in range(4):
        if abs(round(step, decimals) - step) < 1e-9 * max(1.0, step):
            return decimals
    return 4


def _plain(value: float, decimals: int) -> str:
    text = f"{value:.{decimals}f}"
    if float(text) == 0:
        return "0"
    return group_thousands(text.rstrip("0").rstrip(".") if "." in text else text)


def format_value(value: float | None, unit: str) -> str:
    """Return a value with its unit as the legend says it ("23 %", "5.6 GB", "4.9 ms", "9 h 20 min", "1 904")."""
    if value is None or math.isnan(value):
        return UNKNOWN
    if unit == "%":
        return "<0.1 %" if 0 < value < 0.05 else f"{value:.1f} %".replace(".0 %", " %")
    if unit == "B":
        return format_bytes(value)
    if unit == "B/s":
        return format_bytes(value, "/s")
    if unit in _SECONDS:
        return format_duration(value * _SECONDS[unit])
    if unit == "" and value == round(value) and abs(value) < 1e15:
        return format_count(round(value))
    return format_number(value, "/s" if unit == "1/s" else unit)
