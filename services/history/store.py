"""The history of an estate in one file: samples, aggregates, snapshots, events. Many lanes append, one thread writes.

Layout and figures: resources/docs/recording-format.md. Hot path per sample: one conversion to an array, one comparison
with the row before it, one journal row of what changed. Nothing here knows what a metric means; the layer above may
hand in `derive` (see compaction.py) so that one-minute aggregates exist for rates too.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Self

from services.boundary import bounded
from services.clock import Clock, SystemClock
from services.discovery.model import EstateSnapshot
from services.errors import StoreError
from services.events import Event
from services.history import snapshots
from services.history.columns.compaction import LEVEL, Derive, compact_hour, loose_hours
from services.history.columns.dictionary import UNIQUE, Dictionary
from services.history.columns.hot import TICK, Ring
from services.history.columns.retention import Limits, enforce, give_back
from services.history.columns.values import Columns, Rollups
from services.history.file import Opened, open_file
from services.history.free_memory import give_free_memory_back
from services.history.long_events import event_json
from services.history.recovery import recover_file
from services.history.state.host_keys import HostKeys, host_keys
from services.history.store_errors import as_store_error
from services.history.store_file import StoreFile
from services.history.unseen_ends import leave_open
from services.history.writer import Writer
from services.i18n import tr, tr_n
from services.series import Sample
from services.types import Health

RETENTION_EVERY_S = 60.0


def _told(own: HistoryStore | type[HistoryStore], problem: BaseException) -> StoreError:
    return as_store_error(problem, own.path.name if isinstance(own, HistoryStore) else tr("The history"))


@bounded(_told)
class HistoryStore:
    """See `open`. All methods are thread-safe; `append`, `append_event` and `append_snapshot` return at once."""

    def __init__(
        self, opened: Opened, clock: Clock, limits: Limits, *, derive: Derive | None, snapshot_every_s: float
    ) -> None:
        self._opened = opened
        self._clock = clock
        self._limits = limits
        self._derive = derive
        self._metrics, self._servers, self._epochs = Dictionary("metric"), Dictionary("server"), Dictionary("epoch")
        self._rings: dict[str, tuple[int, Ring]] = {}
        self._rings_lock = threading.Lock()
        self._keys = HostKeys()
        self._file = StoreFile(opened, clock)
        self._past_snapshots = snapshots.SnapshotReader(opened.connect)
        self._writer: Writer | None = None
        self._writing: sqlite3.Connection | None = None
        self._snapshots: snapshots.SnapshotWriter | None = None
        self._snapshot_every_s = snapshot_every_s
        self._snapshot_lock = threading.Lock()
        self._newest: EstateSnapshot | None = None
        self._said: Event | None = None
        self._loose: list[tuple[int, int]] = []
        self._tidy_at = 0.0
        self._hour = 0
        self._freed = True
        self._closed = False
        self.lost_seconds = 0.0
        self.on_event: Callable[[Event], None] | None = None

    @classmethod
    def open(  # noqa: PLR0913 - each is a choice of its own, all but the path have a default
        cls,
        path: Path,
        *,
        read_only: bool = False,
        max_bytes: int = 2 * 2**30,
        keep_days: float = 14.0,
        clock: Clock | None = None,
        derive: Derive | None = None,
        snapshot_every_s: float = 60.0,
        background: bool = True,
        on_event: Callable[[Event], None] | None = None,
    ) -> Self:
        """Open (or make) the history in `path`.

        Args:
            max_bytes: size cap of the file, 0 for none; keep_days: age limit of one-second samples.
            derive: raw columns -> derived columns whose one-minute aggregates are kept too.
            snapshot_every_s: how often a snapshot is kept when nothing material changed.
            background: commit each second on a thread of the store's own; otherwise only `flush` writes.
            on_event: hears the store's own events (an unclean end, a full disk) besides their being stored.

        Raises:
            StoreError: newer version, another writer, no permission; a damaged file opened to read.
        """
        clock = clock or SystemClock()
        opened = open_file(path, read_only=read_only, now=clock.wall())
        limits = Limits(max_bytes=max_bytes, keep_days=keep_days)
        with contextlib.ExitStack() as release:
            if opened.owner is not None:
                release.callback(opened.owner.release)
            try:
                store = cls(opened, clock, limits, derive=derive, snapshot_every_s=snapshot_every_s)
                store.on_event = on_event
                release.callback(store._release)  # a connection left open would hold the file for whoever catches it
                left_out = store._file.load(store._metrics, store._servers, store._epochs)
                if not read_only:
                    store._begin_writing(background=background)
                if left_out:
                    store._leave_out(left_out)
            except sqlite3.Error as problem:
                raise as_store_error(problem, path.name) from problem
            release.pop_all()
        return store

    @property
    def path(self) -> Path:
        """Return the file."""
        return self._opened.path

    @property
    def trouble(self) -> StoreError | None:
        """Return why nothing is written at present, None when all is well."""
        return self._writer.trouble if self._writer else None

    # -- writing ---------------------------------------------------------------------------------------------------

    def append(self, sample: Sample) -> None:
        """Keep a sample: in memory at once, on disk with the next commit."""
        server, ring = self._ring(sample.server)
        epoch = self._epochs.offered(sample.epoch)
        row, closed = ring.append(sample, self._epochs.number("") if epoch is None else epoch)
        self._must_write().row(server, row, closed)

    def append_event(self, event: Event) -> None:
        """Keep an event; one with a key replaces the event of that key (the end of a span its beginning)."""
        self._must_write().event((event.at, event.until, int(event.spans), event.key, event_json(event)))

    def append_snapshot(self, snapshot: EstateSnapshot) -> None:
        """Keep a snapshot when something material changed or the slow cadence is due."""
        writer = self._must_write()
        with self._snapshot_lock:
            self._newest = snapshot
            assert self._snapshots is not None
            stored = self._snapshots.pack(snapshot)
            if stored is not None:
                writer.snapshot(stored)

    def of_inventory(self, mark: str, hosts: Mapping[str, str]) -> None:
        """Tell whose hosts are spoken of from now on (name -> address): see host_keys.py. A recording is of one."""
        kept = self.meta()
        put = (lambda _key, _value: None) if self._writer is None else self.put_meta
        self._keys = host_keys(mark, hosts, lambda name: kept.get(name, ""), put)

    def put_meta(self, key: str, value: str) -> None:
        """Keep a fact about the file itself (a title, who recorded it)."""
        self._file.put_meta(key, value)

    def flush(self) -> None:
        """Write what waits, and wait for it."""
        self._must_write().commit(force=True)

    def close(self) -> None:
        """Pack the open chunks, write everything, mark the end as clean. Idempotent."""
        if self._closed:
            return
        self._closed = True
        if self._writer is not None:
            for server, ring in self._all_rings():
                if (closed := ring.close()) is not None:
                    self._writer.chunk(server, closed)
            self._writer.stop()
            if self._writer.trouble is None:
                # Where it can't be written now, the next one to open the file does it.
                with contextlib.suppress(sqlite3.Error), self._writer.housekeeping_cursor() as cursor:
                    leave_open(cursor, self._clock.wall())
                self.put_meta("open", "")
        self._release()

    # -- reading ---------------------------------------------------------------------------------------------------

    def read(self, server: str, keys: Sequence[str], start: float, end: float) -> Columns:
        """Return raw samples of `keys` from `start` to `end`; from the file, and the newest minutes from memory."""
        number = self._servers.find(self._keys.key(server))
        if number is None:
            return Columns.empty(keys)
        start, end = start - 1 / TICK, end + 1 / TICK  # moments are kept to a tenth of a millisecond
        known = self._rings.get(server)
        span = known[1].span() if known else None
        oldest = span[0] if span else None
        parts: list[Columns] = []
        if oldest is None or start < oldest:
            numbers = {key: self._metrics.find(key) for key in keys}
            parts += [part.within(start, end, oldest) for part in self._file.columns(number, numbers, start, end)]
        if oldest is not None and end >= oldest:
            parts.append(self.hot(server, keys, start - 1e-3).within(start, end))
        return Columns.join(parts, keys)

    def hot(self, server: str, keys: Sequence[str], since: float) -> Columns:
        """Return the samples after `since` that memory holds (the newest ten minutes); never touches the disk."""
        known = self._rings.get(server)
        if known is None:
            return Columns.empty(keys)
        t, mono, epochs, values = known[1].read(keys, since)
        return Columns(t, mono, values, epochs, tuple(keys))

    def rollups(self, server: str, key: str, start: float, end: float) -> Rollups:
        """Return the one-minute aggregates of a metric that the file holds, "~NAME" for a derived one."""
        return self._file.rollups(self._servers.find(self._keys.key(server)), self._metrics.find(key), start, end)

    def events(self, start: float, end: float) -> tuple[Event, ...]:
        """Return the events that touch the span, oldest first; those of a newer program's kinds are left out."""
        said = () if self._said is None or not start <= self._said.at <= end else (self._said,)
        return tuple(sorted((*said, *self._file.events(start, end)), key=lambda event: event.at))

    def snapshot_at(self, at: float) -> EstateSnapshot | None:
        """Return the newest snapshot not after `at`, None when there is none."""
        if self._newest is not None and self._newest.at <= at:
            return self._newest
        return self._past_snapshots.at(at)

    def snapshot_times(self, start: float = float("-inf"), end: float = float("inf")) -> tuple[float, ...]:
        """Return the moments of the stored snapshots within a span, ascending."""
        return self._file.snapshot_times(start, end)

    def servers(self) -> tuple[str, ...]:
        """Return the servers the file knows, in the order they were first seen."""
        return tuple(self._keys.name(key) for key in self._servers.names())

    def keys(self, server: str) -> tuple[str, ...]:
        """Return the raw metric keys of a server's newest samples."""
        known = self._rings.get(server)
        if known is not None:
            return known[1].keys()
        number = self._servers.find(self._keys.key(server))
        return self._names(self._file.newest_metrics(number)) if number is not None else ()

    def epoch_name(self, number: float) -> str:
        """Return the text of an epoch number (Columns.epochs)."""
        return self._epochs.name(int(number))

    def range(self) -> tuple[float, float] | None:
        """Return the first and last moment of samples, None when there are none."""
        known = self._file.spans()
        known += [span for _, ring in self._all_rings() if (span := ring.span()) is not None]
        return (min(s for s, _ in known), max(e for _, e in known)) if known else None

    def seen_range(self) -> tuple[float, float] | None:
        """Return the first and last moment of samples and snapshots, None without samples: a host down gives none."""
        return (held := self.range()) and self._file.seen(held)

    def meta(self) -> dict[str, str]:
        """Return the facts about the file itself."""
        return self._file.meta()

    # -- inside ----------------------------------------------------------------------------------------------------

    def _names(self, numbers: tuple[int, ...]) -> tuple[str, ...]:
        return tuple(name for n in numbers if (name := self._metrics.name(n)))

    def _must_write(self) -> Writer:
        if self._writer is None:
            raise StoreError(tr("{name} is open for reading only.", name=self.path.name))
        return self._writer

    def _ring(self, server: str) -> tuple[int, Ring]:
        known = self._rings.get(server)
        if known is None:
            with self._rings_lock:
                number = self._servers.number(self._keys.key(server))
                known = self._rings.setdefault(server, (number, Ring(self._metrics.offered)))
        return known

    def _all_rings(self) -> list[tuple[int, Ring]]:
        with self._rings_lock:
            return list(self._rings.values())

    def _begin_writing(self, *, background: bool) -> None:
        connection = self._writing = self._opened.connect()
        cursor = connection.cursor()
        for statement in UNIQUE.values():  # a finished recording has none
            cursor.execute(statement)
        (newest,) = cursor.execute("SELECT coalesce(max(id), 0) FROM snapshot").fetchone()
        self._snapshots = snapshots.SnapshotWriter(self._snapshot_every_s, newest + 1)
        self._writer = Writer(
            connection,
            self.path,
            (self._metrics, self._servers, self._epochs),
            self._clock,
            on_trouble=self._troubled,
            housekeeping=self._keep_house,
        )
        self._recover(cursor)
        if self._opened.set_aside is not None:
            self._tell(
                tr(
                    "The history file was damaged; it was kept as {name} and a new one was created.",
                    name=self._opened.set_aside.name,
                ),
                Health.WARN,
            )
        self._loose = loose_hours(cursor, self._clock.wall())
        self._hour = int(self._clock.wall() // 3600)
        if background:
            self.flush()  # what was told just now is among the events that whoever opened it reads next
            self._writer.start()

    def _leave_out(self, names: int) -> None:
        """Say that not all names are read; a file that is only read can't keep that, so it stands at its beginning."""
        text = tr_n(
            "{name} contains one name more than can be read at once: its values are left out.",
            "{name} contains {n} names more than can be read at once: their values are left out.",
            names,
            name=self.path.name,
        )
        if self._writer is not None:
            self._tell(text, Health.WARN)
            return
        span = self.range()
        if span is not None:
            self._said = Event(span[0], "console", text, Health.WARN)

    def _recover(self, cursor: sqlite3.Cursor) -> None:
        """Turn what a console that was killed left in the journal into blocks, and say what was lost."""
        unclean = recover_file(cursor, self._clock.wall())
        if unclean is not None:
            self.lost_seconds = unclean.lost_s
            self._tell(unclean.sentence, Health.WARN, at=unclean.at)

    def _keep_house(self, cursor: sqlite3.Cursor) -> None:
        """Once a second: close overdue chunks, pack at most one hour, now and then enforce the limits."""
        now = self._clock.wall()
        self._close_chunks(now - 10.0)
        if int(now // 3600) != self._hour and now % 3600 > 30.0:
            self._hour = int(now // 3600)
            self._loose = loose_hours(cursor, now)
        if self._loose:
            compact_hour(cursor, *self._loose.pop(0), self._metrics, self._derive)
            give_free_memory_back()
        if self._clock.monotonic() >= self._tidy_at:
            self._tidy_at = self._clock.monotonic() + RETENTION_EVERY_S
            if enforce(cursor, self._limits, now):
                self._file.forget()
            self._file.forget_unasked()
            self._freed = True
        if self._freed:
            self._freed = give_back(cursor)

    def tidy(self) -> None:
        """Do what the writing thread does each second besides committing (a store without that thread needs it)."""
        self._must_write().keep_house()

    def compact(self, level: int = LEVEL) -> None:
        """Pack every finished hour now, enforce the limits, give free pages back (housekeeping in one go)."""
        self._close_chunks(self._clock.wall())
        self.flush()
        writer = self._must_write()
        with writer.housekeeping_cursor() as cursor:
            for server, hour in loose_hours(cursor, self._clock.wall()):
                compact_hour(cursor, server, hour, self._metrics, self._derive, level)
            enforce(cursor, self._limits, self._clock.wall())
            give_back(cursor, 2**31 - 1)
        self._loose = []
        self._file.forget()

    def forget_minutes(self) -> None:
        """Delete the one-minute aggregates: a short recording is drawn from its seconds."""
        with self._must_write().housekeeping_cursor() as cursor:
            cursor.execute("DELETE FROM rollup")
            cursor.execute("DELETE FROM still")

    def _close_chunks(self, now: float) -> None:
        for server, ring in self._all_rings():
            if (closed := ring.close_if_due(now)) is not None:
                self._must_write().chunk(server, closed)

    def _troubled(self, trouble: StoreError | None, lost: int) -> None:
        if trouble is not None:
            self._tell(f"{trouble.sentence} {trouble.safe}", Health.BAD, store=False)
        else:
            gone = tr(" {n} samples were lost meanwhile.", n=lost) if lost else tr(" Nothing was lost.")
            self._tell(tr("History is being written again.{gone}", gone=gone), Health.WARN if lost else Health.GOOD)

    def _tell(self, text: str, health: Health, *, at: float | None = None, store: bool = True) -> None:
        event = Event(self._clock.wall() if at is None else at, "console", text, health)
        if store:
            self.append_event(event)
        if self.on_event is not None:
            self.on_event(event)

    def _release(self) -> None:
        self._file.close()
        self._past_snapshots.close()
        if self._writing is not None:
            self._writing.close()
        if self._opened.owner is not None:
            self._opened.owner.release()
