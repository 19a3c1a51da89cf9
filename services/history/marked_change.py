"""A change that a person marked: a stretch of time before it, one after it, and what it is called. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass

from services.errors import BadInput
from services.i18n import tr

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


def refuse_order(before: Stretch, after: Stretch) -> None:
    """Raise BadInput where these are no two stretches, the second of them after the first."""
    if not (is_stretch(*before) and is_stretch(*after) and before[1] <= after[0]):
        raise BadInput(tr("The window after a change must start at or after the end of the window before it."))


def name_taken(name: str) -> BadInput:
    """Return what is said where a name is in use."""
    return BadInput(
        tr("There is already a mark named {name}.", name=name),
        try_=(tr("Choose another name, or remove the old one."),),
    )
