"""What a marked change may be called. Pure."""

from __future__ import annotations

from services.errors import BadInput
from services.facts.masking import masked
from services.history.marked_change import LONGEST_NAME
from services.i18n import tr
from services.visible import as_line


def good_name(text: str) -> str:
    """Return a name as it is kept.

    Raises:
        BadInput: none, a number alone (a mark is chosen by its number too), or one with a password: it may travel.
    """
    name = as_line(" ".join(text.split()), LONGEST_NAME)
    if not name or name.isdecimal():
        raise BadInput(tr("Name the mark after what was changed."))
    if masked(name) != name:
        raise BadInput(tr("The name seems to contain a password: choose a name without it."))
    return name
