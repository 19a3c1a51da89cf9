"""What SQLite and the file system raise at the history's door, as one sentence about the file."""

from __future__ import annotations

from typing import Protocol

from services.boundary import why
from services.errors import StoreError
from services.i18n import tr

_NO_ROOM = ("disk is full", "no space", "disk i/o", "quota")


def as_store_error(problem: BaseException, name: str) -> StoreError:
    """Return the error of a history or recording; `name`: the file's."""
    said = str(problem) if type(problem).__module__ == "sqlite3" and str(problem) else why(problem)
    text = said.rstrip(".")
    if any(words in text.lower() for words in _NO_ROOM):
        return StoreError(
            tr("{name} cannot be written: its disk is full or failing ({text}).", name=name, text=text),
            safe=tr("No server was affected, and existing data is intact."),
            try_=(tr("Free some space on that disk, or use a file or data folder on another disk."),),
        )
    return StoreError(
        tr("{name} cannot be read or written: {text}.", name=name, text=text),
        safe=tr("No server was affected."),
        try_=(tr("Check the file's permissions and its disk, or use another file or data folder."),),
    )


class Named(Protocol):
    """Has the name of its store, for sentences."""

    name: str


def store_told(own: Named, problem: BaseException) -> StoreError:
    """Return the error of a part of the state store, for the boundary at its door."""
    return as_store_error(problem, own.name)
