"""Budget 11: a day of one metric at full resolution, against naive SQLite and DuckDB; and its one-minute aggregates."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from services.history.columns.rollup import MINUTE_S, by_step
from services.history.store import HistoryStore
from tests.bench.model import Row, missing, paired
from tests.bench.support.history_day import READ, duckdb_day, naive_day, naive_keys, our_day
from tests.bench.support.unavailable import Unavailable


def _timed(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def _ours() -> float:
    """Return seconds to read a day of one metric, averaged over READ, each with a newly opened file."""
    day = our_day()
    spent = 0.0
    for key in READ:
        store = HistoryStore.open(day.store, read_only=True)
        spent += _timed(
            lambda key=key, store=store: _checked(store.read("db1", (key,), day.start, day.end).values[key])
        )  # type: ignore[misc]
        store.close()
    return spent / len(READ)


def _checked(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> None:
    assert len(values) == 86_400


def _naive() -> float:
    spent = 0.0
    path: Path = naive_day()
    day = our_day()
    for key in READ:
        connection = sqlite3.connect(path)

        def read(connection: sqlite3.Connection = connection, number: int = naive_keys().index(key)) -> None:
            rows = connection.execute(
                "SELECT ts, value FROM sample WHERE metric = ? AND ts BETWEEN ? AND ? ORDER BY ts",
                (number, day.start, day.end),
            ).fetchall()
            _checked(np.array(rows)[:, 1])

        spent += _timed(read)
        connection.close()
    return spent / len(READ)


def _duckdb() -> float:
    import duckdb

    spent = 0.0
    for key in READ:
        connection = duckdb.connect(str(duckdb_day()), read_only=True)
        connection.execute("SET threads=1")
        spent += _timed(
            lambda c=connection, k=key: _checked(c.execute(f'SELECT ts, "{k}" FROM wide ORDER BY ts').fetchnumpy()[k])  # type: ignore[misc]
        )
        connection.close()
    return spent / len(READ)


def _minutes(*, stored: bool) -> float:
    """Return seconds for the one-minute aggregates of a day: stored ones, or computed from the seconds."""
    day = our_day()
    spent = 0.0
    for key in READ:
        store = HistoryStore.open(day.store, read_only=True)

        def from_seconds(store: HistoryStore = store, key: str = key) -> None:
            columns = store.read("db1", (key,), day.start, day.end)
            by_step(columns.t, columns.values[key][None, :], MINUTE_S)

        def from_minutes(store: HistoryStore = store, key: str = key) -> None:
            assert len(store.rollups("db1", key, day.start, day.end).t) == 1_440

        store.rollups("db1", "uptime", day.start, day.end)  # the file is open and its schema read, for both
        spent += _timed(from_minutes if stored else from_seconds)
        store.close()
    return spent / len(READ)


def run(rounds: int) -> list[Row]:
    """Return the rows of budget 11."""
    naive_day()
    ratio, ours, naive = paired(_ours, _naive, rounds)
    rows = [
        Row(11, "a", "24 h of one metric, every second, against naive SQLite", ratio, 0.2,
            detail=f"{ours * 1e3:.1f} ms and {naive * 1e3:.1f} ms (naive holds a ninth of the metrics)"),
    ]  # fmt: skip
    ratio, stored, scanned = paired(lambda: _minutes(stored=True), lambda: _minutes(stored=False), rounds)
    rows.append(
        Row(11, "c", "its one-minute aggregates, stored against computed from the seconds", ratio, 0.01,
            detail=f"{stored * 1e3:.3f} ms and {scanned * 1e3:.1f} ms")
    )  # fmt: skip
    title = "24 h of one metric, every second, against DuckDB (wide table, one thread)"
    try:
        duckdb_day()
    except Unavailable as reason:
        return [*rows, missing(11, "b", title, 2.5, reason)]
    ratio, ours, duck = paired(_ours, _duckdb, rounds)
    return [*rows, Row(11, "b", title, ratio, 2.5, detail=f"{ours * 1e3:.1f} ms and {duck * 1e3:.1f} ms")]
