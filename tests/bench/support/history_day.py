"""24 hours of a real stream in our store, in naive SQLite and in DuckDB: built once per run, for budgets 10 and 11."""

from __future__ import annotations

import atexit
import importlib.util
import shutil
import sqlite3
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from services.clock import ManualClock
from services.history.recordings.recording import finish_recording
from services.history.store import HistoryStore
from tests.bench.support.stream import long_stream, read_stream
from tests.bench.support.unavailable import Unavailable

HOURS = 24
NAIVE_METRICS = 60
"""Naive SQLite gets a ninth of the metrics (all of them would be 1.8 GB): that shortens its reads, never ours."""
READ = ("questions", "innodb_checkpoint_age", "threads_running", "bytes_sent")
"""The metrics that are read: three that change each second, one that does now and then."""
NAIVE = (
    "CREATE TABLE sample (ts REAL, metric INTEGER, value REAL)",
    "CREATE INDEX sample_metric ON sample (metric, ts)",
)


@dataclass(frozen=True, slots=True)
class Day:
    """Where the day lies. `start`, `end`: epoch seconds; `values`: numbers stored; `keys`: metrics of the stream."""

    store: Path
    start: float
    end: float
    values: int
    keys: tuple[str, ...]
    varying: tuple[str, ...]


@cache
def folder() -> Path:
    """Return a folder that is removed at the end of the run."""
    made = Path(tempfile.mkdtemp(prefix="pilothouse-bench-"))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


@cache
def our_day() -> Day:
    """Build the day in our store by its own code: appended, packed, aggregated, finished as a recording is."""
    stream = read_stream("mariadb_status")
    path = folder() / "ours.pilothouse"
    clock = ManualClock()
    store = HistoryStore.open(path, clock=clock, background=False, max_bytes=0, keep_days=1e5)
    count, first, last = 0, None, 0.0
    for part in long_stream(stream, HOURS):
        for sample in part.samples():
            store.append(sample)
            clock._now = sample.at
            count += len(sample.values)
        store.flush()
        store.tidy()
        first, last = first or float(part.at[0]), float(part.at[-1])
    store.close()
    finish_recording(path)
    varies = (stream.values != stream.values[0]).any(axis=0)
    varying = tuple(key for key, moved in zip(stream.keys, varies, strict=True) if moved)
    return Day(path, first or 0.0, last, count, stream.keys, varying)


@cache
def naive_day() -> Path:
    """Build the day as rows (ts, metric, value) with an index."""
    chosen = naive_keys()
    path = folder() / "naive.sqlite"
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode=OFF")
    connection.execute(NAIVE[0])
    connection.execute("BEGIN")
    for part in long_stream(read_stream("mariadb_status"), HOURS):
        places = [part.keys.index(key) for key in chosen]
        for at, row in zip(part.at.tolist(), part.values[:, places].tolist(), strict=True):
            connection.executemany(
                "INSERT INTO sample VALUES (?, ?, ?)", [(at, number, value) for number, value in enumerate(row)]
            )
    connection.execute(NAIVE[1])
    connection.execute("COMMIT")
    connection.close()
    return path


def naive_keys() -> list[str]:
    """Return the metrics of the naive table; a metric's place is its number."""
    return [*READ, *(key for key in our_day().varying if key not in READ)][:NAIVE_METRICS]


@cache
def duckdb_day() -> Path:
    """Build the day as a wide DuckDB table, a column a metric."""
    if importlib.util.find_spec("duckdb") is None:
        raise Unavailable("DuckDB is not to be had here")
    import duckdb

    path = folder() / "wide.duckdb"
    connection = duckdb.connect(str(path))
    keys = our_day().keys
    columns = ", ".join(f'"{key}" DOUBLE' for key in keys)
    connection.execute(f"CREATE TABLE wide (ts DOUBLE, {columns})")
    for part in long_stream(read_stream("mariadb_status"), HOURS):
        table = {"ts": part.at} | {key: np.ascontiguousarray(part.values[:, i]) for i, key in enumerate(keys)}
        connection.register("part", table)
        connection.execute("INSERT INTO wide SELECT * FROM part")
        connection.unregister("part")
    connection.close()
    return path
