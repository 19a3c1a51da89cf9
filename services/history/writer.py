"""The one thread that writes: each second it commits what the lanes left, and packs the chunks that have closed.

When the disk is full or the file can't be written, what is pending stays in memory (bounded), a trouble is told once,
and the next attempts follow every ten seconds until it works again.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from services.boundary import why
from services.clock import Clock
from services.errors import StoreError
from services.history.columns import journal
from services.history.columns.codec import encode
from services.history.columns.dictionary import INSERTS, Dictionary
from services.history.columns.hot import Closed, JournalRow
from services.history.free_memory import give_free_memory_back
from services.history.snapshots import StoredSnapshot
from services.i18n import tr

COMMIT_S = 1.0
SYNC_S = 30.0
CHECKPOINT_S = 120.0
RETRY_S = 10.0
MOST_ROWS = 60_000
MOST_CHUNKS = 200
_BLOCK = "INSERT INTO block (server, start, stop, rows, minutes, data) VALUES (?, ?, ?, ?, 5, ?)"
_SNAPSHOT = "INSERT OR REPLACE INTO snapshot (id, at, base, data) VALUES (?, ?, ?, ?)"
_EVENT = "INSERT INTO event (at, stop, spans, key, data) VALUES (?, ?, ?, ?, ?)"
# The newest of a key: its end, or what was learnt of it after its end. A beginning after an end is another event.
_EVENT_END = (
    "UPDATE event SET at=?1, stop=?2, spans=?3, data=?4 "
    "WHERE id = (SELECT max(id) FROM event WHERE key = ?5 AND key != '' AND spans) AND (stop IS NULL OR ?2 IS NOT NULL)"
)
EventRow = tuple[float, float | None, int, str, str]


@dataclass(slots=True)
class Batch:
    """What waits to be written, in the order it must be written."""

    names: list[tuple[Dictionary, list[tuple[int, str]]]] = field(default_factory=list)
    rows: list[tuple[int, JournalRow]] = field(default_factory=list)
    chunks: list[tuple[int, Closed]] = field(default_factory=list)
    packed: list[tuple[int, int, float, float, int, bytes]] = field(default_factory=list)
    snapshots: list[StoredSnapshot] = field(default_factory=list)
    events: list[EventRow] = field(default_factory=list)

    @property
    def empty(self) -> bool:
        """Return whether there is nothing to write."""
        return not (self.rows or self.chunks or self.packed or self.snapshots or self.events)

    def add(self, later: Batch) -> int:
        """Append a later batch; return how many rows were let go to stay within memory."""
        self.names += later.names
        self.rows += later.rows
        self.chunks += later.chunks
        self.packed += later.packed
        self.snapshots = (self.snapshots + later.snapshots)[-MOST_ROWS // 10 :]
        self.events = (self.events + later.events)[-MOST_ROWS // 10 :]
        lost = max(0, len(self.rows) - MOST_ROWS)
        del self.rows[:lost]
        dropped = self.packed[: max(0, len(self.packed) - MOST_CHUNKS)]
        del self.packed[: len(dropped)]
        return lost + sum(rows for *_, rows, _ in dropped)


class Writer:
    """Owns the writing connection. `housekeeping(cursor)` is called about once a second, outside any transaction."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        path: Path,
        dictionaries: Iterable[Dictionary],
        clock: Clock,
        *,
        on_trouble: Callable[[StoreError | None, int], None],
        housekeeping: Callable[[sqlite3.Cursor], None],
    ) -> None:
        self._connection = connection
        self._wal = path.with_name(path.name + "-wal")
        self._cursor = connection.cursor()
        self._dictionaries = tuple(dictionaries)
        self._clock = clock
        self._on_trouble = on_trouble
        self._housekeeping = housekeeping
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._waiting = Batch()
        self._ids: dict[tuple[int, int], list[int]] = {}
        self._next_id = 1
        self._lost = 0
        self._retry_at = 0.0
        self._checkpoint_at = clock.monotonic() + CHECKPOINT_S
        self._sync_at = clock.monotonic() + SYNC_S
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self.trouble: StoreError | None = None

    def start(self) -> None:
        """Begin to commit each second on a thread of its own."""
        self._thread = threading.Thread(target=self._run, name="history-writer", daemon=True)
        self._thread.start()

    def row(self, server: int, row: JournalRow, closed: Closed | None) -> None:
        """Leave a sample's journal row (and the chunk it closed) for the next commit."""
        with self._lock:
            if closed is not None:
                self._waiting.chunks.append((server, closed))
            self._waiting.rows.append((server, row))

    def chunk(self, server: int, closed: Closed) -> None:
        """Leave a closed chunk for the next commit."""
        with self._lock:
            self._waiting.chunks.append((server, closed))

    def snapshot(self, stored: StoredSnapshot) -> None:
        """Leave a packed snapshot for the next commit."""
        with self._lock:
            self._waiting.snapshots.append(stored)

    def event(self, row: EventRow) -> None:
        """Leave an event for the next commit."""
        with self._lock:
            self._waiting.events.append(row)

    def commit(self, *, force: bool = False) -> None:
        """Write what waits. A failure is told through `on_trouble` and what waits is kept; nothing is raised."""
        with self._writing:
            if self.trouble is not None and not force and self._clock.monotonic() < self._retry_at:
                return
            with self._lock:
                batch, self._waiting = self._waiting, Batch()
            batch.names = [(d, fresh) for d in self._dictionaries if (fresh := d.take_fresh())] + batch.names
            if batch.empty and not batch.names:
                return
            try:
                self._pack(batch)
                self._write(batch)
            except BaseException as problem:  # noqa: BLE001 - this thread alone writes: nothing may end it
                self._failed(batch, problem)
                return
            for server, row in batch.rows:
                self._remember(server, row)
            for server, chunk, *_ in batch.packed:
                self._ids.pop((server, chunk), None)
            if batch.packed:
                give_free_memory_back()
            if self.trouble is not None:
                lost, self._lost, self.trouble = self._lost, 0, None
                self._on_trouble(None, lost)

    def keep_house(self) -> None:
        """Run the housekeeping, and see to it that what was committed reaches the disk itself."""
        with self._writing:
            if self.trouble is not None:
                return
            try:
                self._housekeeping(self._cursor)
                self._reach_the_disk()
            except BaseException as problem:  # noqa: BLE001 - see commit
                self._failed(Batch(), problem)

    @contextlib.contextmanager
    def housekeeping_cursor(self) -> Iterator[sqlite3.Cursor]:
        """Give the writing cursor, with nobody else writing, for the length of a with block."""
        with self._writing:
            yield self._cursor

    def _reach_the_disk(self) -> None:
        """Sync the WAL every thirty seconds, and move its pages into the file every two minutes.

        synchronous=NORMAL commits without a sync (sqlite.org, "PRAGMA synchronous"): that survives the end of this
        process, but not of the workstation. A sync per commit would keep a laptop's disk busy all day.
        """
        now = self._clock.monotonic()
        if now >= self._checkpoint_at:
            self._checkpoint_at, self._sync_at = now + CHECKPOINT_S, now + SYNC_S
            self._cursor.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        elif now >= self._sync_at:
            self._sync_at = now + SYNC_S
            with contextlib.suppress(FileNotFoundError), self._wal.open("rb+") as wal:
                os.fsync(wal.fileno())

    def stop(self) -> None:
        """End the thread and write what waits."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout=30)
        self.commit(force=True)

    def _run(self) -> None:
        while not self._clock.sleep(COMMIT_S, self._stop):
            self.commit()
            self.keep_house()

    def _pack(self, batch: Batch) -> None:
        """Turn closed chunks into blocks; done before the transaction so that it stays short."""
        for server, closed in batch.chunks:
            batch.packed.append(
                (server, closed.chunk, closed.start, closed.end, closed.table.rows, encode(closed.table))
            )
        batch.chunks = []

    def _write(self, batch: Batch) -> None:
        cursor = self._cursor
        cursor.execute("BEGIN IMMEDIATE")
        try:
            for dictionary, fresh in batch.names:
                cursor.executemany(INSERTS[dictionary.kind], fresh)
            self._write_rows(batch)
            if batch.snapshots:
                cursor.executemany(_SNAPSHOT, [(s.number, s.at, s.base, s.data) for s in batch.snapshots])
            for at, stop, spans, key, data in batch.events:
                # An open span is completed in place; the same key may open another one later.
                if cursor.execute(_EVENT_END, (at, stop, spans, data, key)).rowcount == 0:
                    cursor.execute(_EVENT, (at, stop, spans, key, data))
            cursor.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                cursor.execute("ROLLBACK")
            raise

    def _write_rows(self, batch: Batch) -> None:
        """Insert journal rows whose chunk is still open, and blocks in place of the rows of chunks that closed."""
        done = {(server, chunk) for server, chunk, *_ in batch.packed}
        batch.rows = [(server, row) for server, row in batch.rows if (server, row.chunk) not in done]
        if batch.rows:
            self._cursor.executemany(
                journal.INSERT,
                [
                    (self._next_id + i, server, row.chunk, row.at, row.offset, row.epoch, row.whole, row.data)
                    for i, (server, row) in enumerate(batch.rows)
                ],
            )
        for server, chunk, start, end, rows, data in batch.packed:
            self._cursor.execute(_BLOCK, (server, start, end, rows, data))
            ids = self._ids.get((server, chunk), [])
            self._cursor.executemany("DELETE FROM journal WHERE id = ?", [(number,) for number in ids])

    def _remember(self, server: int, row: JournalRow) -> None:
        self._ids.setdefault((server, row.chunk), []).append(self._next_id)
        self._next_id += 1

    def _failed(self, batch: Batch, problem: BaseException) -> None:
        self._retry_at = self._clock.monotonic() + RETRY_S
        with self._lock:
            later, self._waiting = self._waiting, batch
            self._lost += self._waiting.add(later)
        if self.trouble is None:
            self.trouble = StoreError(
                tr("History cannot be written: {problem}.", problem=why(problem).rstrip(".")),
                safe=tr("Watching continues; samples stay in memory and are written when writing works again."),
                try_=(tr("Free space on the disk that holds the history."),),
            )
            self._on_trouble(self.trouble, 0)
