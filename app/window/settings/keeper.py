"""Holds what is kept between starts: read before the first paint, written when it changes and when the window goes.

Nothing heavy is imported here: the first paint waits for it.
"""

from __future__ import annotations

import logging
from argparse import Namespace
from pathlib import Path

from services.errors import UserError
from services.i18n import tr
from services.workstation.preferences import FILE, Preferences, read_preferences, write_preferences

log = logging.getLogger(__name__)


class Keeper:
    """The present preferences; without a file they last as long as the window."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self.now = read_preferences(path) if path is not None else Preferences()
        self.begun = self.now
        """As they were at the start: what needs a new start is of these."""

    def change(self, **values: object) -> None:
        """Set some of them; a file is written when anything is different."""
        changed = self.now._replace(**values)  # type: ignore[arg-type]  # the names are the fields' own
        if changed == self.now:
            return
        self.now = changed
        if self.path is not None and not write_preferences(self.path, changed):
            self.path = None  # said once; a folder that takes nothing is not asked again and again


def keeper_for(options: Namespace, *, kept: bool) -> Keeper:
    """Return the keeper of a window; a demo and one that only makes pictures neither reads nor writes a file."""
    if not kept or hasattr(options, "screenshots"):
        return Keeper()
    from app.places import data_folder

    try:
        return Keeper(data_folder(options) / FILE)
    except UserError as problem:  # the window itself says it, with a way out
        log.info("nothing is kept between starts: %s", problem)
        return Keeper()


def last_estate(options: Namespace, keeper: Keeper) -> Path | None:
    """Return the inventory that was open last, where none is named now and it is still there."""
    kept = keeper.now.inventory
    if not kept or getattr(options, "inventory", None) is not None:
        return None
    path = Path(kept)
    if path.is_absolute() and path.is_file():
        return path
    log.warning("%s", tr("The inventory {path}, which was open last, no longer exists.", path=kept))
    return None
