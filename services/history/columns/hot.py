"""The newest minutes of one server in memory: a ring of rows, of which only the metrics that vary take room.

Most status variables never change (of 705 numeric ones of a busy Galera node 112 varied in ten minutes), so the ring
holds one constant vector and a matrix of the columns that have varied; a metric is promoted when it first changes. The
same rows feed the journal (what changed since the row before) and the closing chunk, so a sample is converted once.
"""

from __future__ import annotations

import struct
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from services.history.columns.codec import Floats, Table
from services.series import Sample

AT, OFFSET, EPOCH = 0, 1, 2
"""Reserved metric ids: moment (0.1 ms), moment minus monotonic clock (0.1 ms), epoch number."""
FIRST_ID = 16
TICK = 10_000.0
CHUNK_S = 300.0
CAPACITY = 600


@dataclass(frozen=True, slots=True)
class JournalRow:
    """What one sample changed: `data` is u32 ids then f64 values; `whole` when it needs no row before it."""

    chunk: int
    at: float
    offset: float
    epoch: int
    whole: bool
    data: bytes


@dataclass(slots=True)
class Closed:
    """A finished chunk: its table and the number under which its journal rows were kept."""

    chunk: int
    start: float
    end: float
    table: Table


@dataclass(slots=True)
class _Layout:
    """How a sample with a certain key order maps onto the columns; `kept`: its places, None where it is all of them."""

    kept: npt.NDArray[np.intp] | None
    columns: npt.NDArray[np.intp]
    straight: bool
    doubles: struct.Struct


@dataclass(slots=True)
class Ring:
    """Rows of one server. Thread-safe: one lane appends, any thread reads.

    `number` gives the metric id of a key (and remembers new ones in the file's dictionary), None for one that is not
    kept.
    """

    number: Callable[[str], int | None]
    capacity: int = CAPACITY
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _layouts: dict[tuple[str, ...], _Layout] = field(default_factory=dict)
    _place: dict[str, int] = field(default_factory=dict)
    _ids: npt.NDArray[np.uint32] = field(default_factory=lambda: np.zeros(0, np.uint32))
    _last: Floats = field(default_factory=lambda: np.zeros(0))
    _slot: npt.NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    _varying: npt.NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, np.intp))
    _rows: Floats = field(default_factory=lambda: np.zeros((0, 3)))
    _count: int = 0
    _chunk: int = -1
    _chunk_rows: int = 0
    _next_chunk: int = 0

    def append(self, sample: Sample, epoch: int) -> tuple[JournalRow, Closed | None]:
        """Add a row; return what the journal must keep, and the chunk this row's moment closed (if it did)."""
        with self._lock:
            values = sample.values
            layout = self._layouts.get(tuple(values)) or self._learn(values)
            row = np.frombuffer(layout.doubles.pack(*values.values()))  # half the time of numpy.fromiter
            row = row if layout.kept is None else row[layout.kept]
            if not layout.straight:
                scattered = np.full(len(self._ids), np.nan)
                scattered[layout.columns] = row
                row = scattered
            closed = self._close() if self._due(sample.at) else None
            changed = np.flatnonzero(row.view(np.int64) != self._last.view(np.int64))
            whole = self._chunk_rows == 0
            if self._count:
                fresh = changed[self._slot[changed] < 0]
                if len(fresh):
                    self._promote(fresh)
            self._last = row
            at, offset = round(sample.at * TICK), round((sample.at - sample.mono) * TICK)
            self._store(row, at, offset, epoch)
            if whole:
                self._chunk = int(sample.at // CHUNK_S)
                self._next_chunk += 1
                changed = np.flatnonzero(row == row)  # noqa: PLR0124 - a NaN is what differs from itself
            self._chunk_rows += 1
            data = self._ids[changed].tobytes() + row[changed].tobytes()
            return JournalRow(self._next_chunk, at / TICK, offset / TICK, epoch, whole, data), closed

    def close_if_due(self, now: float) -> Closed | None:
        """Return the open chunk when its five minutes were over by `now` (the server may have stopped answering).

        `now` may lie before the newest row: a chunk that began after it stays open.
        """
        with self._lock:
            over = self._chunk_rows > 0 and int(now // CHUNK_S) > self._chunk
            return self._close() if over else None

    def close(self) -> Closed | None:
        """Return the open chunk whatever its age, None when there is none."""
        with self._lock:
            return self._close() if self._chunk_rows else None

    def read(self, keys: Sequence[str], since: float) -> tuple[Floats, Floats, Floats, dict[str, Floats]]:
        """Return moments, monotonic moments, epoch numbers and columns (NaN for an unknown key) after `since`."""
        with self._lock:
            index = self._order(min(self._count, self.capacity))
            moments = self._rows[index, AT] / TICK
            index = index[moments > since]
            rows = self._rows[index, :3] / np.array([TICK, TICK, 1.0])
            columns: dict[str, Floats] = {}
            for key in keys:
                place = self._place.get(key)
                if place is None:
                    columns[key] = np.full(len(index), np.nan)
                elif self._slot[place] < 0:
                    columns[key] = np.full(len(index), self._last[place])
                else:
                    columns[key] = self._rows[index, 3 + self._slot[place]]
            return rows[:, AT], rows[:, AT] - rows[:, OFFSET], rows[:, EPOCH], columns

    def span(self) -> tuple[float, float] | None:
        """Return the moments of the oldest and the newest row, None when the ring is empty."""
        with self._lock:
            if not self._count:
                return None
            order = self._order(min(self._count, self.capacity))
            return float(self._rows[order[0], AT] / TICK), float(self._rows[order[-1], AT] / TICK)

    def keys(self) -> tuple[str, ...]:
        """Return every key seen."""
        with self._lock:
            return tuple(self._place)

    def _due(self, at: float) -> bool:
        if not self._chunk_rows:
            return False
        return int(at // CHUNK_S) != self._chunk or self._chunk_rows >= self.capacity

    def _order(self, rows: int) -> npt.NDArray[np.intp]:
        """Return the places of the newest `rows` rows, oldest first."""
        return (np.arange(self._count - rows, self._count) % self.capacity).astype(np.intp)

    def _learn(self, values: Mapping[str, float]) -> _Layout:
        keys = tuple(values)
        new = {key: number for key in keys if key not in self._place and (number := self.number(key)) is not None}
        for key in new:
            self._place[key] = len(self._place)
        if new:
            self._ids = np.concatenate((self._ids, np.array([*new.values()], np.uint32)))
            self._last = np.concatenate((self._last, np.full(len(new), np.nan)))
            self._slot = np.concatenate((self._slot, np.full(len(new), -1, np.int32)))
            self._layouts.clear()
        kept = np.array([at for at, key in enumerate(keys) if key in self._place], np.intp)
        columns = np.array([self._place[keys[at]] for at in kept], np.intp)
        straight = len(columns) == len(self._ids) and bool((columns == np.arange(len(columns))).all())
        everything = len(kept) == len(keys)
        layout = _Layout(None if everything else kept, columns, straight, struct.Struct(f"={len(keys)}d"))
        if len(self._layouts) >= 16:
            self._layouts.clear()
        self._layouts[keys] = layout
        return layout

    def _promote(self, fresh: npt.NDArray[np.intp]) -> None:
        used = len(self._varying)
        needed = 3 + used + len(fresh)
        if needed > self._rows.shape[1]:
            grown = np.full((self._rows.shape[0], needed + needed // 4), np.nan)
            grown[:, : 3 + used] = self._rows[:, : 3 + used]
            self._rows = grown
        self._slot[fresh] = np.arange(used, used + len(fresh))
        self._varying = np.concatenate((self._varying, fresh))
        self._rows[:, 3 + used : needed] = self._last[fresh]

    def _store(self, row: Floats, at: float, offset: float, epoch: int) -> None:
        if self._rows.shape[0] < self.capacity and self._count >= self._rows.shape[0]:
            grown = np.full((min(self.capacity, max(64, self._count * 2)), self._rows.shape[1]), np.nan)
            grown[: self._rows.shape[0]] = self._rows
            self._rows = grown
        place = self._rows[self._count % self.capacity]
        place[AT], place[OFFSET], place[EPOCH] = at, offset, epoch
        place[3 : 3 + len(self._varying)] = row[self._varying]
        self._count += 1

    def _close(self) -> Closed:
        """Return the rows of the open chunk as a table (a constant that only now changes is not part of it)."""
        index = self._order(self._chunk_rows)
        used = 3 + len(self._varying)
        columns = np.ascontiguousarray(self._rows[index, :used].T)
        constant = np.flatnonzero(self._slot < 0)
        ids = np.concatenate((np.array([AT, OFFSET, EPOCH], np.uint32), self._ids[self._varying]))
        order = np.argsort(ids)
        table = Table(len(index), self._ids[constant], self._last[constant], ids[order], columns[order])
        start, end = float(columns[AT, 0] / TICK), float(columns[AT, -1] / TICK)
        self._chunk_rows = 0
        return Closed(self._next_chunk, start, end, table)
