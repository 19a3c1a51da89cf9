"""An hour of small blocks becomes one block, and its minutes become aggregates; one transaction per server and hour.

The aggregates of raw metrics are of their values. What a chart shows of a counter is its rate, so the layer above may
give `derive`, a pure function from an hour's raw columns to derived columns; those are stored under the same name with
"~" before it, and minimum, maximum and percentiles are then those of the rate itself.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping

import numpy as np

from services.history.columns.codec import Block, Floats, Table, encode, merge
from services.history.columns.dictionary import Dictionary
from services.history.columns.hot import FIRST_ID
from services.history.columns.reading import table_columns
from services.history.columns.rollup import (
    AGGREGATES,
    MINUTE_S,
    MINUTES,
    Singles,
    by_step,
    pack_day,
    pack_still,
    unpack_day,
)
from services.history.columns.values import Columns
from services.history.recordings.bounds import CodecError

HOUR_S = 3_600.0
LEVEL = 9
SECONDS_ONLY_S = 6 * HOUR_S
"""Spans up to this are drawn from the seconds themselves: a shorter recording needs no one-minute aggregates."""
LEAD_S = 310.0
"""Samples before an hour that its derived metrics may look at: means of five minutes, and a rate's first interval."""
DERIVED = "~"
Derive = Callable[[Columns], Mapping[str, Floats]]
_LOOSE = (
    "SELECT server, CAST(start / 3600 AS INTEGER) AS hour, count(*) FROM block WHERE minutes = 5 "
    "GROUP BY server, hour ORDER BY hour"
)


def loose_hours(cursor: sqlite3.Cursor, now: float) -> list[tuple[int, int]]:
    """Return (server, hour) of every past hour that still lies in small blocks."""
    this_hour = int(now // HOUR_S)
    return [(server, hour) for server, hour, _ in cursor.execute(_LOOSE).fetchall() if hour < this_hour]


def compact_hour(
    cursor: sqlite3.Cursor,
    server: int,
    hour: int,
    metrics: Dictionary,
    derive: Derive | None,
    level: int = LEVEL,
) -> int:
    """Pack one hour; return the number of damaged blocks that were left as they are. Opens its own transaction."""
    start, end = hour * HOUR_S, (hour + 1) * HOUR_S
    rows = cursor.execute(
        "SELECT id, data FROM block WHERE server = ? AND start >= ? AND start < ? ORDER BY start, id",
        (server, start, end),
    ).fetchall()
    tables: list[Table] = []
    used: list[int] = []
    for number, data in rows:
        try:
            tables.append(Block(data).table())
            used.append(number)
        except CodecError:
            continue
    if not tables:
        return len(rows)
    whole = merge(tables)
    columns = table_columns(whole, {})
    data = encode(whole, level)
    lead = _lead(cursor, server, float(columns.t[0])) if derive is not None else None
    minutes = _Minutes(cursor, server, metrics)
    cursor.execute("BEGIN IMMEDIATE")
    try:
        cursor.executemany("DELETE FROM block WHERE id = ?", [(number,) for number in used])
        cursor.execute(
            "INSERT INTO block (server, start, stop, rows, minutes, data) VALUES (?, ?, ?, ?, 60, ?)",
            (server, float(columns.t[0]), float(columns.t.max()), whole.rows, data),
        )
        minutes.store(whole, columns.t, hour)
        if derive is not None:
            minutes.store_derived(whole, lead, derive)
        _insert_names(cursor, metrics)
        cursor.execute("COMMIT")
    except sqlite3.Error:
        if cursor.connection.in_transaction:
            cursor.execute("ROLLBACK")
        raise
    return len(rows) - len(used)


def _lead(cursor: sqlite3.Cursor, server: int, start: float) -> Table | None:
    """Return the last samples before `start` (LEAD_S seconds of them), None when there are none."""
    row = cursor.execute(
        "SELECT data FROM block WHERE server = ? AND start < ? AND stop >= ? ORDER BY start DESC LIMIT 1",
        (server, start, start - LEAD_S),
    ).fetchone()
    if row is None:
        return None
    try:
        table = Block(row[0]).table()
    except CodecError:
        return None
    t = table_columns(table, {}).t
    kept = (t >= start - LEAD_S) & (t < start)
    return Table(int(kept.sum()), table.constant_ids, table.constants, table.ids, table.columns[:, kept])


def _insert_names(cursor: sqlite3.Cursor, metrics: Dictionary) -> None:
    fresh = metrics.take_fresh()
    if fresh:
        cursor.executemany("INSERT OR IGNORE INTO metric (id, key) VALUES (?, ?)", fresh)


class _Minutes:
    """Writes the aggregates of one hour of one server."""

    def __init__(self, cursor: sqlite3.Cursor, server: int, metrics: Dictionary) -> None:
        self._cursor = cursor
        self._server = server
        self._metrics = metrics

    def store(self, whole: Table, t: Floats, hour: int) -> None:
        """Store the raw metrics: those that vary by the minute, the others as one value for the hour."""
        raw = whole.ids >= FIRST_ID
        ids, columns = whole.ids[raw], whole.columns[raw]
        bits = columns.view(np.int64)
        varies = (bits != bits[:, :1]).any(axis=1)
        self._varying(ids[varies].tolist(), t, columns[varies])
        still_ids = np.concatenate((whole.constant_ids, ids[~varies])).astype(np.uint32)
        still_values = np.concatenate((whole.constants, columns[~varies, 0]))
        present = ~np.isnan(still_values) & (still_ids >= FIRST_ID)
        sampled = np.unique((t // MINUTE_S).astype(np.int64)) % 60
        self._cursor.execute(
            "INSERT OR REPLACE INTO still (server, hour, data) VALUES (?, ?, ?)",
            (self._server, hour, pack_still(sampled, still_ids[present], still_values[present])),
        )

    def store_derived(self, whole: Table, lead: Table | None, derive: Derive) -> None:
        """Store what `derive` makes of the hour, given the samples before it too (a rate needs the one before)."""
        numbers: dict[str, int | None] = {
            self._metrics.name(int(n)): int(n) for n in np.concatenate((whole.constant_ids, whole.ids)) if n >= FIRST_ID
        }
        parts = [table_columns(table, numbers) for table in (lead, whole) if table is not None]
        columns = Columns.join(parts, tuple(numbers))
        own = columns.t >= float(parts[-1].t.min())
        derived = {key: values[own] for key, values in derive(columns).items() if not np.isnan(values[own]).all()}
        if derived:
            ids = [self._metrics.number(DERIVED + key) for key in derived]
            self._varying(ids, columns.t[own], np.stack(list(derived.values())))

    def _varying(self, ids: list[int], t: Floats, columns: Floats) -> None:
        if not ids:
            return
        minutes, aggregates = by_step(*_ascending(t, columns), MINUTE_S)
        for day in np.unique(minutes // MINUTES):
            mask = minutes // MINUTES == day
            places = (minutes[mask] % MINUTES).astype(np.intp)
            for number, values in zip(ids, aggregates, strict=True):
                self._patch(number, int(day), places, values[:, mask])

    def _patch(self, number: int, day: int, places: np.ndarray[tuple[int], np.dtype[np.intp]], new: Singles) -> None:
        row = self._cursor.execute(
            "SELECT data FROM rollup WHERE server = ? AND metric = ? AND day = ?", (self._server, number, day)
        ).fetchone()
        whole = np.full((AGGREGATES, MINUTES), np.nan, np.float32)
        if row is not None:
            try:
                whole = unpack_day(row[0])
            except CodecError:
                row = None  # what can't be read is replaced: the raw hour is still there
        whole[:, places] = new
        self._cursor.execute(
            "INSERT INTO rollup (server, metric, day, data) VALUES (?, ?, ?, ?) "
            "ON CONFLICT (server, metric, day) DO UPDATE SET data=excluded.data",
            (self._server, number, day, pack_day(whole)),
        )


def _ascending(t: Floats, columns: Floats) -> tuple[Floats, Floats]:
    if len(t) > 1 and (np.diff(t) < 0).any():
        order = np.argsort(t, kind="stable")
        return t[order], columns[:, order]
    return t, columns
