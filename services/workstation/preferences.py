"""What a person set and how the window stood, kept between starts: one small private JSON file in the data folder.

The file is a person's and may hold anything: what does not fit is left out, and a file that is no such file at all is
ignored with one sentence in the log. Only the standard library: it is read before the window's first paint.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from services.i18n import tr
from services.workstation.files import read_bounded, write_whole

log = logging.getLogger(__name__)

FILE = "settings.json"
MOST_BYTES = 64 * 1024
MOST_LIMITS, MOST_TEXT = 32, 4096
THEMES = ("system", "light", "dark")
INTERVALS_S = (1, 2)
"""Rates have no hole up to 2.5 s between two samples (sampling/metrics/rates.py), and silence is told after 3 s."""
KEEP_DAYS = (1, 365)
MOST_GIB = (1, 100)

_NUMBERS: Mapping[str, tuple[int, int]] = {
    "text_percent": (80, 200),
    "width": (0, 16_384),
    "height": (0, 16_384),
    "tree_width": (0, 4_096),
    "inspector_width": (0, 4_096),
    "interval_s": (INTERVALS_S[0], INTERVALS_S[-1]),
    "keep_days": KEEP_DAYS,
    "most_gib": MOST_GIB,
}


class Preferences(NamedTuple):
    """Everything that is kept. No dataclass: making one, and importing what makes it, would be 3 ms before the paint.

    Attributes:
        theme: "system" follows the desktop. text_percent: the text size.
        width, height: of the window in pixels, 0 where it is not known; maximised, page: as it stood last.
        tree_width, inspector_width: 0 for the usual; tree_hidden, inspector_hidden: the person hid the panel.
        inventory: the estate that was open last, '' for the usual one.
        language: a tag, '' for the system's.
        interval_s: between two samples. keep_days, most_gib: how long and how much the history keeps.
        limits: name of a procedure's question -> the answer it begins with.
    """

    theme: str = "system"
    text_percent: int = 100
    width: int = 0
    height: int = 0
    maximised: bool = False
    page: str = "topology"
    tree_width: int = 0
    inspector_width: int = 0
    tree_hidden: bool = False
    inspector_hidden: bool = False
    inventory: str = ""
    language: str = ""
    interval_s: int = 1
    keep_days: int = 14
    most_gib: int = 2
    limits: Mapping[str, str] = MappingProxyType({})


def read_preferences(path: Path) -> Preferences:
    """Return what the file keeps; where there is none, or it can't be used, what a first start has."""
    try:
        text = read_bounded(path, MOST_BYTES).decode("utf-8")
        import json  # late: where nothing is kept the first paint does not wait for it

        raw: Any = json.loads(text)
        raw = dict(raw)  # what is no table can't be one
    except FileNotFoundError:
        return Preferences()
    except (OSError, TypeError, ValueError, RecursionError) as problem:
        why = problem.strerror if isinstance(problem, OSError) else type(problem).__name__
        log.warning("%s", tr("The settings in {path} cannot be used ({why}): the defaults apply.", path=path, why=why))
        return Preferences()
    kept = {name: raw[name] for name in Preferences._fields if _fits(name, raw.get(name))}
    if odd := sorted(name for name in Preferences._fields if name in raw and name not in kept):
        log.warning("%s", tr("Settings in {path} are not used: {names}.", path=path, names=", ".join(odd)))
    return Preferences(**kept)


def write_preferences(path: Path, preferences: Preferences) -> bool:
    """Keep them, for their owner alone; say in the log where that can't be done."""
    import json

    text = json.dumps(preferences._asdict() | {"limits": dict(preferences.limits)}, indent=2, sort_keys=True)
    try:
        write_whole(path, f"{text}\n")
    except OSError as problem:
        log.warning("%s", tr("Settings cannot be written to {path}: {why}.", path=path, why=problem.strerror))
        return False
    return True


def _fits(name: str, value: Any) -> bool:
    """Return whether a value can be that of a setting."""
    if name in _NUMBERS:
        low, high = _NUMBERS[name]
        return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
    if name in {"maximised", "tree_hidden", "inspector_hidden"}:
        return isinstance(value, bool)
    if name == "theme":
        return value in THEMES if isinstance(value, str) else False
    if name == "limits":
        pairs = value.items() if isinstance(value, dict) and len(value) <= MOST_LIMITS else None
        return pairs is not None and all(_is_text(k, 64) and _is_text(v, 64) for k, v in pairs)
    return _is_text(value, MOST_TEXT)


def _is_text(value: Any, most: int) -> bool:
    return isinstance(value, str) and len(value) <= most and (value.isprintable() or not value)
