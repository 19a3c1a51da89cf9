"""What the file of a history holds, asked over one connection: one question at a time, from whichever thread."""

from __future__ import annotations

import sqlite3
import threading

import msgspec

from services.clock import Clock
from services.errors import StoreError
from services.events import Event
from services.history import journal, reading
from services.history.codec import CodecError, Table
from services.history.columns import Columns, Rollups
from services.history.dictionary import SELECTS, Dictionary
from services.history.file import Opened
from services.history.rollup_read import read_rollups
from services.words import tr


class StoreFile:
    """Metrics, servers and epochs are numbers here, as the file has them; the store knows their names."""

    def __init__(self, opened: Opened, clock: Clock) -> None:
        self._opened = opened
        self._cache = reading.BlockCache(clock)
        self._lock = threading.Lock()
        self._connection = opened.connect()

    def load(self, *dictionaries: Dictionary) -> None:
        """Fill the dictionaries with what the file knows."""
        cursor = self._connection.cursor()
        for dictionary in dictionaries:
            dictionary.load(cursor.execute(SELECTS[dictionary.kind]))

    def columns(self, server: int, numbers: dict[str, int | None], start: float, end: float) -> list[Columns]:
        """Return raw samples of a server; metrics are given as name -> number. StoreError: the file can't be read."""
        with self._lock:
            cursor = self._connection.cursor()
            try:
                parts, _ = reading.read_blocks(cursor, self._cache, server, numbers, (start, end))
                parts += [reading.table_columns(t, numbers) for t in self._open_chunks(cursor, server)]
            except sqlite3.Error as problem:
                raise StoreError(
                    tr("{name} can't be read: {problem}.", name=self._opened.path.name, problem=problem)
                ) from problem
        return parts

    def rollups(self, server: int | None, metric: int | None, start: float, end: float) -> Rollups:
        """Return one-minute aggregates."""
        with self._lock:
            return read_rollups(self._connection.cursor(), server, metric, start, end)

    def events(self, start: float, end: float) -> tuple[Event, ...]:
        """Return the events that touch the span, oldest first; those of a newer program's kinds are left out."""
        with self._lock:
            rows = self._connection.execute(
                "SELECT data FROM event WHERE at <= ? AND (coalesce(stop, at) >= ? OR (spans AND stop IS NULL)) "
                "ORDER BY at, id",
                (end, start),
            ).fetchall()
        found = []
        for (data,) in rows:
            try:
                found.append(msgspec.json.decode(data, type=Event))
            except msgspec.MsgspecError:
                continue
        return tuple(found)

    def snapshot_times(self, start: float, end: float) -> tuple[float, ...]:
        """Return the moments of the stored snapshots within a span, ascending."""
        select = "SELECT at FROM snapshot WHERE at BETWEEN ? AND ? ORDER BY at, id"
        with self._lock:
            return tuple(at for (at,) in self._connection.execute(select, (start, end)))

    def newest_metrics(self, server: int) -> tuple[int, ...]:
        """Return the metrics of a server's newest samples."""
        with self._lock:
            cursor = self._connection.cursor()
            try:
                numbers = reading.block_keys(cursor, server)
            except CodecError:
                return ()
            return tuple(numbers) or tuple(int(n) for c in self._open_chunks(cursor, server) for n in c.ids)

    def spans(self) -> list[tuple[float, float]]:
        """Return (first, last) moment of each server's packed samples, and of what the journal holds."""
        with self._lock:
            rows = self._connection.execute(
                "SELECT (SELECT min(start) FROM block WHERE server = s.id), "
                "(SELECT stop FROM block WHERE server = s.id ORDER BY start DESC LIMIT 1) FROM server s "
                "UNION ALL SELECT min(at), max(at) FROM journal"
            ).fetchall()
        return [(float(start), float(end)) for start, end in rows if start is not None]

    def meta(self) -> dict[str, str]:
        """Return the facts about the file itself."""
        with self._lock:
            return {str(k): str(v) for k, v in self._connection.execute("SELECT key, value FROM meta")}

    def put_meta(self, key: str, value: str) -> None:
        """Keep a fact about the file itself."""
        with self._lock:
            self._connection.execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", (key, value))

    def forget(self) -> None:
        """Drop what was kept of blocks: some of them are gone or packed anew."""
        self._cache.clear()

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _open_chunks(self, cursor: sqlite3.Cursor, server: int) -> list[Table]:
        """Return the journal's chunks of a server: only for a reader of a file that another process writes."""
        if not self._opened.read_only:
            return []
        return [chunk.table for chunk in journal.read_open_chunks(cursor) if chunk.server == server]
