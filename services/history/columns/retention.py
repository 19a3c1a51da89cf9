"""How long and how much: rows older than the limit go first, then the oldest hours until the file fits its cap.

Freed pages are given back to the file system a few at a time (PRAGMA incremental_vacuum), so that no commit waits long.
Raw blocks go before one-minute aggregates: a year of minutes takes less room than a fortnight of seconds.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from services.history.columns.rollup import DAY_S

ROLLUP_DAYS = 400.0
VACUUM_PAGES = 256
SPARE_PAGES = 128
"""Free pages left in the file: the journal grows and is emptied every five minutes, and would only take them again."""
STEP_S = 3_600.0


@dataclass(frozen=True, slots=True)
class Limits:
    """max_bytes: size cap of the file without its WAL, 0 for none; keep_days: age limit of raw samples."""

    max_bytes: int = 0
    keep_days: float = 14.0
    rollup_days: float = ROLLUP_DAYS


def file_bytes(cursor: sqlite3.Cursor) -> int:
    """Return the bytes in use (free pages don't count: they are on their way back)."""
    (size,) = cursor.execute("PRAGMA page_size").fetchone()
    (pages,) = cursor.execute("PRAGMA page_count").fetchone()
    (free,) = cursor.execute("PRAGMA freelist_count").fetchone()
    return int(size) * (int(pages) - int(free))


def enforce(cursor: sqlite3.Cursor, limits: Limits, now: float) -> bool:
    """Delete what is too old, then the oldest hours while the file is too big; return whether anything went."""
    before = cursor.connection.total_changes
    _forget(cursor, now - limits.keep_days * DAY_S, now - limits.rollup_days * DAY_S)
    if limits.max_bytes:
        while file_bytes(cursor) > limits.max_bytes and _drop_oldest(cursor, now):
            pass
    return bool(cursor.connection.total_changes != before)


def give_back(cursor: sqlite3.Cursor, pages: int = VACUUM_PAGES) -> bool:
    """Return at most `pages` free pages to the file system; say whether there are more than the journal will reuse."""
    (free,) = cursor.execute("PRAGMA freelist_count").fetchone()
    if free > SPARE_PAGES:
        cursor.execute(f"PRAGMA incremental_vacuum({min(pages, free - SPARE_PAGES):d})").fetchall()
    return bool(free > SPARE_PAGES + pages)


def _forget(cursor: sqlite3.Cursor, raw: float, minutes: float) -> None:
    cursor.execute("BEGIN IMMEDIATE")
    cursor.execute("DELETE FROM block WHERE stop < ?", (raw,))
    cursor.execute("DELETE FROM snapshot WHERE at < ? AND id NOT IN (SELECT base FROM snapshot WHERE at >= ? "
                   "AND base IS NOT NULL)", (raw, raw))  # fmt: skip
    cursor.execute("DELETE FROM rollup WHERE day < ?", (int(minutes // DAY_S),))
    cursor.execute("DELETE FROM still WHERE hour < ?", (int(minutes // 3600),))
    cursor.execute("DELETE FROM event WHERE coalesce(stop, at) < ?", (minutes,))
    cursor.execute("COMMIT")


def _drop_oldest(cursor: sqlite3.Cursor, now: float) -> bool:
    """Delete the oldest hour of raw samples, or (when less than an hour is left) the oldest day of aggregates."""
    (oldest,) = cursor.execute("SELECT min(at) FROM (SELECT min(start) AS at FROM block "
                               "UNION ALL SELECT min(at) FROM snapshot)").fetchone()  # fmt: skip
    if oldest is not None and oldest < now - STEP_S:
        _forget(cursor, oldest + STEP_S, 0.0)
        return True
    (day,) = cursor.execute("SELECT min(day) FROM rollup").fetchone()
    if day is not None and day < int(now // DAY_S):
        _forget(cursor, 0.0, (day + 1) * DAY_S)
        return True
    return False
