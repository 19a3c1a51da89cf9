"""Reading one-minute aggregates back: the rows of a metric's days, and the hours in which it did not vary."""

from __future__ import annotations

import sqlite3

import numpy as np

from services.history.columns.rollup import AGGREGATES, MINUTE_S, MINUTES, Singles, doubles, unpack_day, unpack_still
from services.history.columns.values import Rollups
from services.history.recordings.bounds import CodecError


def read_rollups(cursor: sqlite3.Cursor, server: int | None, metric: int | None, start: float, end: float) -> Rollups:
    """Return the aggregates of the minutes that begin within [start - 60 s, end]; NaN for minutes without samples.

    Minutes before the first and after the last with a value are left out.
    """
    first = int(start // MINUTE_S)
    count = max(0, int(end // MINUTE_S) - first + 1)
    whole = np.full((AGGREGATES, count), np.nan, np.float32)
    if server is not None and metric is not None and count:
        _days(cursor, server, metric, first, whole)
        _still_hours(cursor, server, metric, first, whole)
    some = np.flatnonzero(~np.isnan(whole[1]))
    inside = slice(int(some[0]), int(some[-1]) + 1) if len(some) else slice(0, 0)
    t = np.arange(first, first + count, dtype=np.float64)[inside] * MINUTE_S
    minimum, average, maximum, p5, p95 = (doubles(row[inside]) for row in whole)
    return Rollups(t, minimum, average, maximum, p5, p95)


def _days(cursor: sqlite3.Cursor, server: int, metric: int, first: int, whole: Singles) -> None:
    last = first + whole.shape[1] - 1
    rows = cursor.execute(
        "SELECT day, data FROM rollup WHERE server = ? AND metric = ? AND day BETWEEN ? AND ?",
        (server, metric, first // MINUTES, last // MINUTES),
    )
    for day, data in rows:
        try:
            minutes = unpack_day(data)
        except CodecError:
            continue
        low, high = max(first, day * MINUTES), min(last + 1, (day + 1) * MINUTES)
        whole[:, low - first : high - first] = minutes[:, low - day * MINUTES : high - day * MINUTES]


def _still_hours(cursor: sqlite3.Cursor, server: int, metric: int, first: int, whole: Singles) -> None:
    """Fill hours without a single aggregate from the hour's constants."""
    last = first + whole.shape[1] - 1
    missing = np.isnan(whole[1])
    if not missing.any():
        return
    known = np.flatnonzero(~missing) + first
    empty = sorted(set(range(first // 60, last // 60 + 1)).difference((known // 60).tolist()))
    if not empty:
        return
    rows = cursor.execute(
        "SELECT hour, data FROM still WHERE server = ? AND hour BETWEEN ? AND ?", (server, empty[0], empty[-1])
    )
    wanted = set(empty)
    for hour, data in rows:
        if hour not in wanted:
            continue
        try:
            sampled, ids, values = unpack_still(data)
        except CodecError:
            continue
        found = np.flatnonzero(ids == metric)
        if len(found):
            places = hour * 60 - first + np.flatnonzero(sampled)
            whole[:, places[(places >= 0) & (places < whole.shape[1])]] = np.float32(values[found[0]])
