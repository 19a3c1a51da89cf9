"""Spans that were not over when watching stopped: told as that, never with an end that nobody saw.

Their `stop` stays NULL in the file, for it is not known; their text says when watching stopped. A later console that
sees the same span (a transfer, by its key) completes it in place.
"""

from __future__ import annotations

import sqlite3
from dataclasses import replace

import msgspec

from services.events import Event
from services.history.long_events import MOST_WHOLE, event_json

_OPEN = "SELECT id, data FROM event WHERE spans AND stop IS NULL AND typeof(data) = 'text' AND length(data) <= ?"
_LAST = "SELECT max(at) FROM (SELECT max(stop) AS at FROM block UNION ALL SELECT max(at) FROM snapshot)"


def last_sign(cursor: sqlite3.Cursor, opened_at: float) -> float:
    """Return the last moment at which a console that has ended, and was opened at a moment, is known to have watched.

    While no host answers there are no samples; snapshots are kept all the same.
    """
    (at,) = cursor.execute(_LAST).fetchone()
    return opened_at if at is None else max(float(at), opened_at)


def leave_open(cursor: sqlite3.Cursor, stopped: float) -> None:
    """Note in every span that is open when watching stopped; what an earlier console left open keeps its moment."""
    for number, data in cursor.execute(_OPEN, (MOST_WHOLE,)).fetchall():
        try:
            event = msgspec.json.decode(data, type=Event)
        except (msgspec.MsgspecError, RecursionError):
            continue
        if event.until is None:
            told = event_json(replace(event, until=max(event.at, stopped), unseen_end=True))
            cursor.execute("UPDATE event SET data = ? WHERE id = ?", (told, number))
