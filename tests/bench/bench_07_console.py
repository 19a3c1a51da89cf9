"""Budget 7: the real window watching one server at 1 s, beside dolphie's screen watching the same server.

Both run in the same seconds on the same private MariaDB under light work, so that what disturbs one disturbs the other:
first our topology page beside dolphie's dashboard and process list, then our charts page beside its graphs. First data
are starts of their own, by turns. Ours is painted offscreen, by the processor; dolphie's terminal is not counted.
"""

from __future__ import annotations

import contextlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.bench.model import Row
from tests.bench.support import dolphie
from tests.bench.support.private_servers import MariaDb, cpu_s, mariadb, work
from tests.bench.support.starting import ROOT, environment, write_inventory
from tests.bench.support.unavailable import Unavailable

SETTLE_S, PIECE_S = 4.0, 3.0


@dataclass(frozen=True, slots=True)
class Console:
    """Our window in a process of its own."""

    process: subprocess.Popen[str]
    first_data_s: float

    def show(self, page: str) -> None:
        """Bring a page to the front."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{page}\n")
        self.process.stdin.flush()


@contextlib.contextmanager
def console(folder: Path, server: MariaDb) -> Iterator[Console]:
    """Run our window until the block ends; give it when its topology shows the server."""
    inventory = write_inventory(folder / "inventory.toml", server.port)
    command = [sys.executable, "-m", "tests.bench.support.watch_probe", "--data", str(folder / "data"), "--inventory"]
    began = time.monotonic()
    process = subprocess.Popen(
        [*command, str(inventory)],
        env=environment(folder),
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            raise Unavailable("our window ended before it had data")
        yield Console(process, float(line) - began)
    finally:
        with contextlib.suppress(OSError):
            if process.stdin is not None:
                process.stdin.close()
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(15)


def beside(ours: int, theirs: int, pieces: int) -> tuple[float, float, float]:
    """Return the median of CPU ratios over pieces of time, and both sides' CPU in %."""
    time.sleep(SETTLE_S)
    spent: list[tuple[float, float]] = []
    for _ in range(pieces):
        before = cpu_s(ours), cpu_s(theirs)
        time.sleep(PIECE_S)
        spent.append((cpu_s(ours) - before[0], cpu_s(theirs) - before[1]))
    mine, other = (statistics.median(column) / PIECE_S * 100.0 for column in zip(*spent, strict=True))
    return statistics.median(a / b for a, b in spent), mine, other


def first_data(folder: Path, server: MariaDb, turns: int) -> tuple[float, float, float]:
    """Return the median ratio of the time from start to first data, and both times."""
    pairs: list[tuple[float, float]] = []
    for turn in range(turns + 1):
        with console(folder, server) as mine:
            ours = mine.first_data_s
        with dolphie.terminal(folder, server.port, panels="dashboard,processlist") as other:
            theirs = other.first_data_s
        if turn:  # the first one of each fills the caches
            pairs.append((ours, theirs))
    ours, theirs = (statistics.median(column) for column in zip(*pairs, strict=True))
    return statistics.median(a / b for a, b in pairs), ours, theirs


def run(rounds: int) -> list[Row]:
    """Measure all three clauses."""
    dolphie.executable()
    with mariadb() as server, work(server), tempfile.TemporaryDirectory(prefix="pilothouse-bench-") as name:
        folder = Path(name)
        first = first_data(folder, server, max(2, rounds // 2))
        with console(folder, server) as mine:
            with dolphie.terminal(folder, server.port, panels="dashboard,processlist") as other:
                plain = beside(mine.process.pid, other.pid, rounds)
            mine.show("charts")
            with dolphie.terminal(folder, server.port, panels="dashboard,processlist,graphs") as other:
                graphs = beside(mine.process.pid, other.pid, rounds)
    detail = f"{rounds} x {PIECE_S:.0f} s, dolphie {dolphie.VERSION}, {os.cpu_count()} cores"
    return [
        Row(7, "a", "console's CPU, one server at 1 s: topology page against dolphie's dashboard", plain[0], 0.5,
            detail=f"{plain[1]:.1f} : {plain[2]:.1f} %, {detail}"),
        Row(7, "b", "the same with graphs: charts page against dolphie with its graphs", graphs[0], 0.3,
            detail=f"{graphs[1]:.1f} : {graphs[2]:.1f} %, {detail}"),
        Row(7, "c", "first data shown, from the start of the process, against dolphie's", first[0], 0.6,
            detail=f"{first[1] * 1000:.0f} : {first[2] * 1000:.0f} ms"),
    ]  # fmt: skip
