"""Budget 8: `pilothouse record` beside dolphie's daemon, both on the same private MariaDB in the same seconds.

Ours keeps every numeric variable; what dolphie keeps is 71 status variables and the settings. CPU is taken while both
run. Size is that of the file a person has after five minutes, which the budget's figures are of (ours as `record`
leaves it, its with the journal folded in). What each file has once, however long it is (the names of our metrics and
empty tables, dolphie's dictionary), is a good part of it; therefore what one sample adds, the bytes of the rows alone,
is told beside it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from services.history.recordings.recording import open_recording
from tests.bench.model import Row
from tests.bench.support import dolphie
from tests.bench.support.private_servers import cpu_s, mariadb, work
from tests.bench.support.starting import ROOT, environment, write_inventory
from tests.bench.support.unavailable import Unavailable

SETTLE_S, PIECE_S, RECORD_S = 30.0, 8.0, 300.0
_ROWS = "SELECT count(*) FROM replay_data"
_OUR_ROWS = ("block", "journal", "rollup", "still", "snapshot", "event")


@dataclass(frozen=True, slots=True)
class Kept:
    """What a recorder left: bytes on disk, bytes of the rows that grow with time, samples, metrics of each."""

    size: int
    content: int
    samples: int
    metrics: int

    @property
    def each(self) -> float:
        """Bytes a sample."""
        return self.size / max(1, self.samples)

    @property
    def added(self) -> float:
        """Bytes that a sample adds."""
        return self.content / max(1, self.samples)


def content(path: Path, tables: tuple[str, ...]) -> int:
    """Return the bytes of all values in these tables."""
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        total = 0
        for table in tables:
            columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
            lengths = "+".join(f"coalesce(length(CAST({column} AS BLOB)), 0)" for column in columns)
            total += connection.execute(f"SELECT coalesce(sum({lengths}), 0) FROM {table}").fetchone()[0]
        return total
    finally:
        connection.close()


@contextlib.contextmanager
def recorder(folder: Path, port: int, path: Path) -> Iterator[int]:
    """Run `pilothouse record` until the block ends; give its process. It is interrupted as a person would."""
    inventory = write_inventory(folder / "inventory.toml", port)
    process = subprocess.Popen(
        [sys.executable, "-m", "app", "record", path, "--inventory", inventory, "--data", folder / "data"],
        env=environment(folder),
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process.pid
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(10)


def ours(path: Path) -> Kept:
    """Read our recording."""
    store = open_recording(path)
    try:
        span = store.range() or (0.0, 0.0)
        server = store.servers()[0]
        keys = store.keys(server)
        return Kept(path.stat().st_size, content(path, _OUR_ROWS), len(store.read(server, (), *span).t), len(keys))
    finally:
        store.close()


def theirs(replays: Path, scratch: Path) -> Kept:
    """Count dolphie's rows in a copy whose journal is folded in, as closing it properly does."""
    files = sorted(replays.rglob("*.db"))
    if not files:
        raise Unavailable("dolphie's daemon wrote no file")
    for part in files[0].parent.glob(f"{files[0].name}*"):
        shutil.copy(part, scratch / part.name)
    copy = scratch / files[0].name
    connection = sqlite3.connect(copy)
    try:
        rows = int(connection.execute(_ROWS).fetchone()[0])
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        connection.close()
    return Kept(copy.stat().st_size, content(copy, ("replay_data",)), rows, 71)


def run(rounds: int) -> list[Row]:
    """Let both record side by side."""
    dolphie.executable()
    spent: list[tuple[float, float]] = []
    with mariadb() as server, work(server), tempfile.TemporaryDirectory(prefix="pilothouse-bench-") as name:
        folder, path = Path(name), Path(name) / "bench.pilothouse"
        with dolphie.daemon(folder, server.port) as (other, replays), recorder(folder, server.port, path) as mine:
            begun = time.monotonic()
            time.sleep(SETTLE_S)
            for _ in range(rounds):
                before = cpu_s(mine), cpu_s(other)
                time.sleep(PIECE_S)
                spent.append((cpu_s(mine) - before[0], cpu_s(other) - before[1]))
            time.sleep(max(0.0, begun + RECORD_S - time.monotonic()))
        (folder / "copy").mkdir()
        kept, other_kept = ours(path), theirs(replays, folder / "copy")
    cpu, other_cpu = (statistics.median(column) / PIECE_S * 100.0 for column in zip(*spent, strict=True))
    detail = f"dolphie {dolphie.VERSION}, {os.cpu_count()} cores"
    return [
        Row(8, "a", "headless recorder's CPU against dolphie's daemon", statistics.median(a / b for a, b in spent), 0.5,
            detail=f"{cpu:.2f} : {other_cpu:.2f} %, {rounds} x {PIECE_S:.0f} s, {detail}"),
        Row(8, "b", "bytes a sample, whole file against dolphie's", kept.each / other_kept.each, 0.15,
            detail=f"{kept.each:.0f} : {other_kept.each:.0f} B, {kept.samples} samples of {kept.metrics} metrics : "
            f"{other_kept.samples} rows of {other_kept.metrics} status variables"),
        Row(8, "c", "bytes that a sample adds, against dolphie's", kept.added / other_kept.added, 0.15,
            detail=f"{kept.added:.0f} : {other_kept.added:.0f} B, after {kept.samples} samples"),
    ]  # fmt: skip
