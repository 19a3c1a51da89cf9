"""After an end that was not clean: the journal becomes blocks, and a sentence says when it ended and what was lost."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from services.history.columns.codec import encode
from services.history.columns.journal import read_open_chunks
from services.history.unseen_ends import last_sign, leave_open
from services.history.writer import COMMIT_S, SYNC_S
from services.i18n import tr

LOST_S = 2.0 * COMMIT_S
"""Samples that may be missing after a crash of the console: what lay between two commits, and the row under way."""
LOST_WITH_HOST_S = SYNC_S + LOST_S
"""The same after a crash of the whole workstation: commits reach the disk itself when the WAL is synced."""


@dataclass(frozen=True, slots=True)
class Unclean:
    """An end without a goodbye: at most `lost_s` seconds of samples before or after `at` are missing."""

    at: float
    lost_s: float

    @property
    def sentence(self) -> str:
        """Return what to tell the person."""
        ended = datetime.fromtimestamp(self.at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        return tr(
            "The console ended unexpectedly at {ended}; at most {lost:.0f} s of samples were lost.",
            ended=ended,
            lost=self.lost_s,
        )


def recover_file(cursor: sqlite3.Cursor, now: float) -> Unclean | None:
    """Turn the journal into blocks and mark the file as in use; return how the last end was unclean, if it was."""
    facts = dict(cursor.execute("SELECT key, value FROM meta").fetchall())
    chunks = read_open_chunks(cursor)
    boot, opened_at = _boot_id(), float(facts.get("opened_at", now))
    cursor.execute("BEGIN IMMEDIATE")
    for chunk in chunks:
        cursor.execute(
            "INSERT INTO block (server, start, stop, rows, minutes, data) VALUES (?, ?, ?, ?, 5, ?)",
            (chunk.server, chunk.start, chunk.end, chunk.table.rows, encode(chunk.table)),
        )
    cursor.execute("DELETE FROM journal")
    for key, value in (("open", "1"), ("boot", boot), ("opened_at", repr(now))):
        cursor.execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", (key, value))
    ended = last_sign(cursor, opened_at)
    leave_open(cursor, ended)
    cursor.execute("COMMIT")
    if not facts.get("open"):
        return None
    return Unclean(ended, LOST_S if facts.get("boot") == boot else LOST_WITH_HOST_S)


def _boot_id() -> str:
    """Return what tells one boot of this workstation from the next, '' where the system has no such thing."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""
