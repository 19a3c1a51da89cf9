"""A change that a person marked: a stretch of time before it, one after it, and what it is called. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass

from services.errors import BadInput
from services.facts.masking import masked
from services.i18n import tr
from services.visible import as_line

LONGEST_NAME = 60
"""Characters: it has to be read in a box of choices."""
MOST = 200
"""Marks of one inventory or recording."""

Stretch = tuple[float, float]
"""From, to: UTC epoch seconds."""


@dataclass(frozen=True, slots=True)
class ChangeMark:
    """What a person marked.

    Attributes:
        number: of the store's row, 0: it came with a recording.
        made_at: UTC epoch seconds; made_by: 'ada@desk2', '' in a recording: it travels.
    """

    number: int
    name: str
    before: Stretch
    after: Stretch
    made_at: float
    made_by: str = ""


def is_stretch(first: float, last: float) -> bool:
    """Return whether this is a stretch of time: two moments in their order, of years that a clock can show."""
    return all(math.isfinite(at) and 0.0 <= at < 4e9 for at in (first, last)) and first < last


def good_name(text: str) -> str:
    """Return a name as it is kept.

    Raises:
        BadInput: none, a number alone (a mark is chosen by its number too), or one with a password: it may travel.
    """
    name = as_line(" ".join(text.split()), LONGEST_NAME)
    if not name or name.isdecimal():
        raise BadInput(tr("Give the mark a name: what was changed."))
    if masked(name) != name:
        raise BadInput(tr("The name has what looks like a password in it: say it without."))
    return name


def refuse_order(before: Stretch, after: Stretch) -> None:
    """Raise BadInput where these are no two stretches, the second of them after the first."""
    if not (is_stretch(*before) and is_stretch(*after) and before[1] <= after[0]):
        raise BadInput(tr("The stretch after a change has to begin where the one before it ends, or later."))
