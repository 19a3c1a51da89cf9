"""Budget 10: bytes per sample of a day of a real stream, and the writer's CPU against naive rows."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

from services.clock import ManualClock
from services.history.store import HistoryStore
from services.series import Sample
from tests.bench.model import Row, paired
from tests.bench.support.history_day import NAIVE, folder, our_day
from tests.bench.support.stream import read_stream

SAMPLES = 600
PROMETHEUS_B = 1.3  # published: about 1.3 bytes per sample


def _ours(samples: list[Sample], path: Path) -> float:
    """Return CPU seconds per sample of the store: one commit a second, blocks packed as they close."""
    for old in path.parent.glob(path.name + "*"):
        old.unlink()
    clock = ManualClock(samples[0].at)
    store = HistoryStore.open(path, clock=clock, background=False)
    started = time.process_time()
    for sample in samples:
        store.append(sample)
        store.flush()
        clock.advance(1.0)
        store.tidy()
    spent = time.process_time() - started
    store.close()
    return spent / len(samples)


def _naive(samples: list[Sample], path: Path) -> float:
    """Return CPU seconds per sample of rows with an index, one commit a second (WAL, synchronous NORMAL, as ours)."""
    for old in path.parent.glob(path.name + "*"):
        old.unlink()
    numbers = {key: i for i, key in enumerate(samples[0].values)}
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=NORMAL")
    for statement in NAIVE:
        connection.execute(statement)
    started = time.process_time()
    for sample in samples:
        connection.execute("BEGIN")
        connection.executemany(
            "INSERT INTO sample VALUES (?, ?, ?)", [(sample.at, numbers[k], v) for k, v in sample.values.items()]
        )
        connection.execute("COMMIT")
    spent = time.process_time() - started
    connection.close()
    return spent / len(samples)


def _parts(path: Path) -> tuple[int, int]:
    """Return the payload bytes of blocks and of one-minute aggregates."""
    connection = sqlite3.connect(path)
    (blocks,) = connection.execute("SELECT sum(length(data)) FROM block").fetchone()
    (minutes,) = connection.execute(
        "SELECT (SELECT sum(length(data)) FROM rollup) + (SELECT sum(length(data)) FROM still)"
    ).fetchone()
    connection.close()
    return int(blocks), int(minutes)


def run(rounds: int) -> list[Row]:
    """Return the rows of budget 10."""
    day = our_day()
    blocks, minutes = _parts(day.store)
    total = day.store.stat().st_size
    each = total / day.values
    stream = read_stream("mariadb_status")
    detail = (
        f"24 h x {len(day.keys)} metrics of {stream.version}, {len(day.varying)} vary: file {total / 1e6:.2f} MB; "
        f"seconds {blocks / day.values:.3f} B, one-minute aggregates {minutes / day.values:.3f} B, the rest is SQLite's"
    )
    samples = stream.samples()[:SAMPLES]
    here = folder()
    ratio, ours, naive = paired(
        lambda: _ours(samples, here / "w.sqlite"), lambda: _naive(samples, here / "n.sqlite"), rounds
    )
    cpu = (
        f"{ours * 1e6:.0f} us and {naive * 1e6:.0f} us of CPU per sample of {len(stream.keys)} values, one commit each"
    )
    return [
        Row(10, "a", "bytes per sample of a day, whole file (aggregates and SQLite's overhead included)", each, 0.15,
            "B/sample", detail),
        Row(10, "b", "the same against Prometheus's published 1.3 B", each / PROMETHEUS_B, 0.12),
        Row(10, "c", "writer's CPU against naive SQLite rows", ratio, 0.02, detail=cpu),
    ]  # fmt: skip
