"""Marked changes that travel in a recording: a text in its `meta`, and what is believed of it when a file is opened.

A recording may come from anybody: what is no mark is left out, and nothing of it is longer than a mark of one's own.
Who made them is not in it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping

from services.history.marked_change import LONGEST_NAME, MOST, ChangeMark, Stretch, is_stretch
from services.json_text import stored_json
from services.visible import as_line

META = "marks"
_LONGEST = 64 * 1024
"""Characters that are looked at: MOST marks take half of it."""


def about_recording(title: str, span: Stretch) -> str:
    """Return what marks of a recording are kept under: the same wherever the file lies, whatever it is called."""
    return hashlib.sha256(f"{title}|{span[0]!r}|{span[1]!r}".encode()).hexdigest()[:12]


def within(marks: Iterable[ChangeMark], span: Stretch) -> tuple[ChangeMark, ...]:
    """Return the marks both of whose stretches lie in a recording, a second at its ends left out."""
    first, last = span[0] - 1.0, span[1] + 1.0
    return tuple(mark for mark in marks if first <= mark.before[0] and mark.after[1] <= last)


def as_text(marks: Iterable[ChangeMark]) -> str:
    """Return marks as a recording keeps them: JSON, a list of name, moments and when it was made."""
    return stored_json([[mark.name, *mark.before, *mark.after, mark.made_at] for mark in marks]).decode()


def read_marks(meta: Mapping[str, str]) -> tuple[ChangeMark, ...]:
    """Return the marks of a recording's facts; what is none is left out."""
    text = meta.get(META, "")
    if not text or len(text) > _LONGEST:
        return ()
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return ()
    return tuple(mark for one in found[:MOST] if (mark := _read(one)) is not None) if isinstance(found, list) else ()


def _read(one: object) -> ChangeMark | None:
    if not isinstance(one, list) or len(one) != 6 or not isinstance(one[0], str):
        return None
    if not all(isinstance(at, int | float) and not isinstance(at, bool) and 0 <= at < 4e9 for at in one[1:]):
        return None
    name = as_line(one[0], LONGEST_NAME)
    first, begins, second, ends, made = (float(at) for at in one[1:])
    if not (name and is_stretch(first, begins) and is_stretch(second, ends) and begins <= second):
        return None
    return ChangeMark(0, name, (first, begins), (second, ends), made)
