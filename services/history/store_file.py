"""What the file of a history holds, asked over one connection: one question at a time, from whichever thread."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Iterator
from functools import partial

import msgspec

from services.clock import Clock
from services.errors import StoreError
from services.events import Event
from services.history.columns import journal, reading
from services.history.columns.codec import Table
from services.history.columns.dictionary import COUNTS, FINDS, SELECTS, Dictionary, Kind
from services.history.columns.rollup_read import read_rollups
from services.history.columns.values import Columns, Rollups
from services.history.file import Opened
from services.history.long_events import MOST_CUT, MOST_WHOLE, shortened
from services.history.recordings.bounds import (
    LATEST,
    LONGEST_SPAN_S,
    MOST_EVENT,
    MOST_EVENTS,
    MOST_NAME,
    MOST_NAMES,
    MOST_SERVERS,
    MOST_SNAPSHOTS,
    CodecError,
    moment,
    number,
    visible_json,
)
from services.i18n import tr
from services.visible import visible

_EVENTS = (
    "SELECT id, CASE WHEN length(data) <= ? THEN data END FROM event WHERE typeof(data) = 'text' AND at <= ? "
    "AND (coalesce(stop, at) >= ? OR (spans AND stop IS NULL)) ORDER BY at DESC, id DESC LIMIT ?"
)
_LONG_EVENT = "SELECT data FROM event WHERE id = ? AND length(data) <= ?"
_TIMES = "SELECT at FROM snapshot WHERE at BETWEEN ? AND ? ORDER BY at, id LIMIT ?"
_SPANS = (
    "SELECT (SELECT min(start) FROM block WHERE server = s.id), "
    "(SELECT stop FROM block WHERE server = s.id ORDER BY start DESC LIMIT 1) FROM server s "
    "UNION ALL SELECT min(at), max(at) FROM journal"
)


class StoreFile:
    """Metrics, servers and epochs are numbers here, as the file has them; the store knows their names."""

    def __init__(self, opened: Opened, clock: Clock) -> None:
        self._opened = opened
        self._cache = reading.BlockCache(clock)
        self._lock = threading.Lock()
        self._connection = opened.connect()

    def load(self, *dictionaries: Dictionary) -> int:
        """Fill the dictionaries with the first names that the file knows; return how many are left out.

        An older program wrote as many names, and as long ones, as a server made up. StoreError: damaged.
        """
        left_out = 0
        with self._asked() as cursor:
            for dictionary in dictionaries:
                most = MOST_SERVERS if dictionary.kind == "server" else MOST_NAMES
                rows = cursor.execute(SELECTS[dictionary.kind]).fetchmany(most)
                whole, last = cursor.execute(COUNTS[dictionary.kind]).fetchone()
                names = [(number(row[0]), self._seen(row[1])) for row in rows if not _is_long(row[1])]
                missing = number(whole) - len(names)
                dictionary.load(names, number(last), partial(self._number_of, dictionary.kind) if missing else None)
                left_out += missing
        return left_out

    def _number_of(self, kind: Kind, name: str) -> int | None:
        with self._asked() as cursor:
            row = cursor.execute(FINDS[kind], (name,)).fetchone()
            return None if row is None else number(row[0])

    def columns(self, server: int, numbers: dict[str, int | None], start: float, end: float) -> list[Columns]:
        """Return raw samples of a server; metrics are given as name -> number. StoreError: the file can't be read."""
        with self._asked() as cursor:
            parts, _ = reading.read_blocks(cursor, self._cache, server, numbers, (start, end))
            parts += [reading.table_columns(t, numbers) for t in self._open_chunks(cursor, server)]
        return parts

    def rollups(self, server: int | None, metric: int | None, start: float, end: float) -> Rollups:
        """Return one-minute aggregates."""
        with self._asked() as cursor:
            return read_rollups(cursor, server, metric, start, end)

    def events(self, start: float, end: float) -> tuple[Event, ...]:
        """Return the events that touch the span, oldest first; those of a newer program's kinds are left out.

        So are those whose moment no clock shows; those longer than a sentence are cut (long_events.py). Of more than
        a person could ever look at, the newest.
        """
        with self._asked() as cursor:
            rows = cursor.execute(_EVENTS, (MOST_EVENT, end, start, MOST_EVENTS)).fetchall()[::-1]
            long = [row for row, data in rows if data is None][-MOST_CUT:]
            whole = {row: cursor.execute(_LONG_EVENT, (row, MOST_WHOLE)).fetchone() for row in long}
        found = []
        for row, data in rows:
            try:
                event = _event(data) if data is not None else _long_event(whole.get(row))
            except (msgspec.MsgspecError, CodecError, RecursionError):
                continue
            if event.until is None or event.until >= start:  # one whose end nobody saw is open in the table
                found.append(event)
        return tuple(found)

    def snapshot_times(self, start: float, end: float) -> tuple[float, ...]:
        """Return the moments of the stored snapshots within a span, ascending."""
        span = (max(0.0, start), min(LATEST, end), MOST_SNAPSHOTS)
        with self._asked() as cursor:
            return tuple(moment(at) for (at,) in cursor.execute(_TIMES, span))

    def newest_metrics(self, server: int) -> tuple[int, ...]:
        """Return the metrics of a server's newest samples."""
        with self._asked() as cursor:
            try:
                numbers = reading.block_keys(cursor, server)
            except CodecError:
                return ()
            return tuple(numbers) or tuple(int(n) for c in self._open_chunks(cursor, server) for n in c.ids)

    def spans(self) -> list[tuple[float, float]]:
        """Return (first, last) moment of each server's packed samples, and of what the journal holds.

        StoreError: moments that no clock shows, or of a recording: a span that nobody recorded.
        """
        with self._asked() as cursor:
            rows = cursor.execute(_SPANS).fetchall()
            found = [(moment(start), moment(end)) for start, end in rows if start is not None]
            longest = LONGEST_SPAN_S if self._opened.read_only else LATEST
            if found and max(end for _, end in found) - min(start for start, _ in found) > longest:
                raise CodecError("its samples lie further apart than anybody records")
        return found

    def seen(self, held: tuple[float, float]) -> tuple[float, float]:
        """Return the span of samples, widened by that of the snapshots unless nobody records for so long."""
        with self._asked() as cursor:
            first, last = cursor.execute("SELECT min(at), max(at) FROM snapshot").fetchone()
            if first is None:
                return held
            whole = min(held[0], moment(first)), max(held[1], moment(last))
        return whole if whole[1] - whole[0] <= LONGEST_SPAN_S else held

    def meta(self) -> dict[str, str]:
        """Return the facts about the file itself."""
        with self._asked() as cursor:
            rows = cursor.execute("SELECT key, value FROM meta").fetchmany(MOST_NAME)
            return {_name(k): self._seen(v) for k, v in rows}

    def put_meta(self, key: str, value: str) -> None:
        """Keep a fact about the file itself."""
        with self._lock:
            self._connection.execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", (key, value))

    def forget(self) -> None:
        """Drop what was kept of blocks: some of them are gone or packed anew."""
        self._cache.clear()

    def forget_unasked(self) -> None:
        """Drop what was kept of blocks that nobody asked for lately."""
        self._cache.drop_unasked()

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _open_chunks(self, cursor: sqlite3.Cursor, server: int) -> list[Table]:
        """Return the journal's chunks of a server: only for a reader of a file that another process writes."""
        if not self._opened.read_only:
            return []
        return [chunk.table for chunk in journal.read_open_chunks(cursor, server)]

    def _seen(self, value: object) -> str:
        """Return a name of the file; one that somebody sent is seen as what it is, one's own stays as it is written."""
        name = _name(value)
        return visible(name) if self._opened.read_only else name

    @contextlib.contextmanager
    def _asked(self) -> Iterator[sqlite3.Cursor]:
        """Give the connection for one question; what goes wrong is told with the file's name and what to do."""
        with self._lock:
            try:
                yield self._connection.cursor()
            except (sqlite3.Error, CodecError, UnicodeDecodeError) as problem:
                raise StoreError(
                    tr("{name} cannot be read: {problem}.", name=self._opened.path.name, problem=problem),
                    safe=tr("The file was not changed."),
                    try_=(tr("Open another file, or recover this one with `sqlite3 FILE .recover`."),),
                ) from problem
            except reading.TooMuchError as problem:
                raise StoreError(
                    tr(
                        "{name} contains more samples in this time span than can be read at once.",
                        name=self._opened.path.name,
                    ),
                    safe=tr("The file was not changed."),
                    try_=(tr("Choose a shorter time span."),),
                ) from problem


def _event(data: str) -> Event:
    event = msgspec.json.decode(visible_json(data), type=Event)
    moment(event.at)
    moment(event.at if event.until is None else event.until)
    return event


def _long_event(row: tuple[str] | None) -> Event:
    if row is None:
        raise CodecError("an event is longer than any that is read")
    return shortened(_event(row[0]))


def _is_long(value: object) -> bool:
    return isinstance(value, str) and len(value) > MOST_NAME


def _name(value: object) -> str:
    """Return a name that the file holds."""
    if not isinstance(value, str) or len(value) > MOST_NAME:
        raise CodecError("a name is longer than names are")
    return value
