"""A recording: one history file without a WAL, packed, that a colleague opens anywhere, read-only media included.

Besides what every history file has (samples, aggregates, snapshots, events) its `meta` table says title, start, end and
the program that made it, and the changes that a person marked meanwhile (recorded_marks.py). No secret can be in it:
samples are numbers, snapshots and events name hosts and states only.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from services.clock import Clock, ManualClock, SystemClock
from services.errors import BadInput, StoreError
from services.events import Event
from services.history.columns.compaction import SECONDS_ONLY_S, Derive
from services.history.columns.dictionary import UNIQUE
from services.history.marked_change import ChangeMark
from services.history.recordings.recorded_marks import META, as_text, within
from services.history.store import HistoryStore
from services.i18n import tr
from services.workstation.files import private_file

SNAPSHOT_EVERY_S = 2.0
_FOREVER_DAYS = 36_500.0
_LEVEL = 19
"""Packed once and sent around: 5 % smaller than a history's hours for five times the CPU time (16 ms for 300 s)."""
_SMALL, _PAGE, _SMALL_PAGE = 512 * 1024, 1024, 512
"""A short recording is many small tables: a page each costs more than its samples."""


def record_to(path: Path, *, derive: Derive | None = None, clock: Clock | None = None, title: str = "") -> HistoryStore:
    """Return a store that records into a new file: no limits, snapshots every two seconds. End by `finish_recording`.

    Raises:
        BadInput: the file exists already.
    """
    if path.exists():
        raise BadInput(
            tr("{path} exists already.", path=path),
            safe=tr("It was not changed."),
            try_=(tr("Choose another file name."),),
        )
    try:
        store = HistoryStore.open(
            path, max_bytes=0, keep_days=_FOREVER_DAYS, clock=clock, derive=derive, snapshot_every_s=SNAPSHOT_EVERY_S
        )
        try:
            store.put_meta("title", title or path.stem)
        except StoreError:
            store.close()
            raise
    except StoreError as problem:
        if isinstance(problem.__cause__, sqlite3.Error):  # made by us: nothing is in it, and the name is to work again
            _forget(path)
        raise
    return store


def _forget(path: Path) -> None:
    for suffix in ("", "-wal", "-shm", ".lock"):
        with contextlib.suppress(OSError):
            path.with_name(path.name + suffix).unlink()


def finish_recording(
    path: Path, *, derive: Derive | None = None, marks: Sequence[ChangeMark] = (), events: Sequence[Event] = ()
) -> None:
    """Pack a recording that is closed: whole hours, no free page, no WAL. The file may be on its way while it runs.

    Args:
        marks: changes that were marked meanwhile; those whose stretches it holds go with it.
        events: what others did meanwhile and its own watching can't know: those of its span go with it.

    Raises:
        StoreError: the file can't be read or written (another program has it open, the disk is full).
    """
    far = HistoryStore.open(path, read_only=True)
    span, facts = far.seen_range(), far.meta()
    far.close()
    later = ManualClock((span[1] if span else SystemClock().wall()) + 7_200.0)
    store = HistoryStore.open(path, max_bytes=0, keep_days=_FOREVER_DAYS, clock=later, derive=derive, background=False)
    try:
        for event in events:
            if span is not None and span[0] <= event.at <= span[1]:
                store.append_event(event)
        store.flush()
        store.compact(_LEVEL)
        if span is not None and span[1] - span[0] <= SECONDS_ONLY_S:
            store.forget_minutes()
        if span is not None:
            store.put_meta("start", repr(span[0]))
            store.put_meta("end", repr(span[1]))
            if kept := within(marks, span):
                store.put_meta(META, as_text(kept))
        store.put_meta("title", facts.get("title", path.stem))
    finally:
        store.close()
    try:
        private_file(path)  # SQLite is about to write a journal beside it
        connection = sqlite3.connect(path, isolation_level=None)
        try:
            for name in UNIQUE:
                connection.execute(f"DROP INDEX IF EXISTS {name}")
            connection.execute("PRAGMA auto_vacuum=NONE")
            connection.execute("PRAGMA journal_mode=DELETE")  # before the page size: a WAL keeps it as it is
            connection.execute(f"PRAGMA page_size={_SMALL_PAGE if _used(connection) < _SMALL else _PAGE}")
            connection.execute("VACUUM")
        finally:
            connection.close()
    except (sqlite3.Error, OSError) as problem:
        raise StoreError(
            tr("{name} could not be compacted: {problem}.", name=path.name, problem=problem),
            safe=tr("The recording is complete, but larger than necessary."),
            try_=(tr("Free some space on its disk; the file can be used as it is."),),
        ) from problem
    path.with_name(path.name + ".lock").unlink(missing_ok=True)


def _used(connection: sqlite3.Connection) -> int:
    """Return the bytes of a file that VACUUM would leave."""
    pages, free, size = (
        int(connection.execute(f"PRAGMA {name}").fetchone()[0])
        for name in ("page_count", "freelist_count", "page_size")
    )
    return (pages - free) * size


def open_recording(path: Path, clock: Clock | None = None) -> HistoryStore:
    """Open a recording to read; works from read-only folders and media.

    Raises:
        StoreError: no such file, damaged, not a recording, or of a newer version.
    """
    return HistoryStore.open(path, read_only=True, clock=clock)
