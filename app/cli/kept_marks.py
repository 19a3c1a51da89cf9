"""The marks that `compare` keeps, lists, chooses again and removes."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from app.cli.arguments import FINDINGS, GOOD
from app.cli.machine import print_json
from app.mark_shelf import MarkShelf
from services.discovery.words import moment
from services.errors import BadInput
from services.history.marked_change import ChangeMark
from services.i18n import tr
from services.sampling.change.model import Window
from services.sampling.change.words import window_words


def list_marks(shelf: MarkShelf, *, machine: bool) -> int:
    """Print what is kept, the newest first."""
    marks = shelf.all()
    if machine:
        print_json([document(mark) for mark in marks])
    elif marks:
        sys.stdout.write("".join(f"{line}\n" for mark in marks for line in lines(mark)))
    else:
        sys.stdout.write(tr("There are no marked changes for these samples. To keep one: --keep NAME") + "\n")
    return GOOD


def remove_mark(shelf: MarkShelf, text: str, *, machine: bool) -> int:
    """Remove the mark with this number or name, and say how it would come back."""
    found = chosen(shelf, text)
    if not found.number:
        raise BadInput(
            tr("{name} is part of the recording, which is not changed.", name=found.name),
        )
    gone = shelf.remove(found.number)
    if machine:
        print_json({"removed": document(found) if gone else None})
    else:
        head = (
            tr("Removed; the samples are kept. It was:")
            if gone
            else tr("Another console has already removed it. It was:")
        )
        sys.stdout.write("".join(f"{line}\n" for line in (head, *lines(found))))
    return GOOD if gone else FINDINGS


def chosen(shelf: MarkShelf, text: str) -> ChangeMark:
    """Return the mark with this number or name; raise BadInput where there is none."""
    marks = shelf.all()
    asked = " ".join(text.split())
    for mark in marks:
        if asked == mark.name or (mark.number and asked == str(mark.number)):
            return mark
    known = (
        tr("Marks that exist: {names}.", names=", ".join(mark.name for mark in marks))
        if marks
        else tr("There are no marks.")
    )
    raise BadInput(tr("There is no mark with the name or number {text}.", text=text), try_=(known,))


def windows_of_mark(mark: ChangeMark) -> tuple[Window, Window]:
    """Return a mark's stretches as windows."""
    return Window(*mark.before), Window(*mark.after)


def lines(mark: ChangeMark) -> Iterator[str]:
    """Yield a mark as text."""
    before, after = (window_words(window) for window in windows_of_mark(mark))
    number = f"{mark.number}  " if mark.number else ""
    yield f"{number}{mark.name}"
    yield "  " + tr("before: {window}", window=before)
    yield "  " + tr("after:  {window}", window=after)
    yield "  " + (
        tr("marked {at} by {who}", at=moment(mark.made_at), who=mark.made_by)
        if mark.made_by
        else tr("marked {at}, part of the recording", at=moment(mark.made_at))
    )


def document(mark: ChangeMark) -> dict[str, object]:
    """Return a mark for machines; `number` null: it came with the recording."""
    return {
        "number": mark.number or None,
        "name": mark.name,
        "before": {"start": mark.before[0], "end": mark.before[1]},
        "after": {"start": mark.after[0], "end": mark.after[1]},
        "made_at": mark.made_at,
        "made_by": mark.made_by or None,
    }
