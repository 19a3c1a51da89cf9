"""The real window in a process watched from inside: `python -m tests.bench.support.soaked INVENTORY SECONDS OUT`.

It runs as the program starts it, off screen, its pages turned each ten seconds. At its end it writes what it saw (a
`Soaked`) to OUT. Whoever starts it may give it a core or half of one: servers and load stand outside this process.
"""

from __future__ import annotations

import argparse
import gc
import os
import pickle
import subprocess
import sys
import tempfile
import time
from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from services.sampling.model import ConsoleCost
from tests.bench.support.control_group import ControlGroup
from tests.bench.support.soaked_memory import Memory, MemoryCourse, sqlite_in_use

if TYPE_CHECKING:
    from app.window.session import WindowSession
    from services.series import Series
    from widgets.bridge.stalls import Stall

ROOT = Path(__file__).resolve().parents[3]
PAGES = ("topology", "charts", "journal")
TURN_MS = 10_000
LONG_COLLECTION_MS = 10.0
END_S = 60.0
"""How long a window may take to start and to end."""


@dataclass
class Soaked:
    """What the window saw of itself. Moments are UTC epoch seconds; `collections`: (end, ms) of those over 10 ms.

    Attributes:
        ready: when all pages stood: what is late before it is the start's, which has budgets of its own (2b, 2c).
        holes: server -> (begin, length) of every stretch of more than 2.5 s without a value.
        held_back_s: how long a quota held it back, of `seconds`.
    """

    began: float = 0.0
    ready: float = 0.0
    seconds: float = 0.0
    memory: Sequence[Memory] = ()
    holes: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    cost: ConsoleCost = field(default_factory=ConsoleCost)
    stalls: Sequence[Stall] = ()
    collections: list[tuple[float, float]] = field(default_factory=list)
    held_back_s: float = 0.0

    def late(self) -> tuple[Stall, ...]:
        """Return the stalls after the start."""
        return tuple(stall for stall in self.stalls if stall.at > self.ready)


def soaked(
    inventory: Path,
    seconds: float,
    group: ControlGroup | None,
    *,
    own_core: int | None = None,
    meanwhile: Callable[[], None] | None = None,
) -> Soaked:
    """Run the window as a process of its own, in a control group and on a processor if given; return what it saw.

    Args:
        meanwhile: called as soon as the window runs; what it does is not the window's.
    """
    with tempfile.TemporaryDirectory(prefix="pilothouse-soak-") as folder:
        out = Path(folder) / "soaked"
        # The window waits for a line: it is in its group before it begins.
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.bench.support.soaked", str(inventory), f"{seconds:g}", str(out)],
            cwd=ROOT, env={**os.environ, "QT_QPA_PLATFORM": "offscreen"}, stdin=subprocess.PIPE, text=True,
        )  # fmt: skip
        try:
            if group is not None:
                group.take(process.pid)
            if own_core is not None:
                os.sched_setaffinity(process.pid, {own_core})
            assert process.stdin is not None
            process.stdin.close()
            if meanwhile is not None:
                meanwhile()
            process.wait(seconds + END_S)
        finally:
            process.kill()
            process.wait()
        if process.returncode:
            raise RuntimeError(f"the window ended with {process.returncode}")
        found = pickle.loads(out.read_bytes())
        assert isinstance(found, Soaked)
        found.held_back_s = group.held_back_s() if group is not None else 0.0
        return found


def _run(inventory: Path, seconds: float, folder: Path) -> Soaked:
    assert "numpy" not in sys.modules, "app.__main__ says how numpy behaves; it is read when numpy is imported"
    from PySide6.QtCore import QCoreApplication, QEventLoop, QTimer
    from PySide6.QtWidgets import QApplication

    import app.__main__  # noqa: F401 - for what it sets
    from app.error_hooks import ErrorHooks
    from app.window.main_window import MainWindow
    from app.window.window_run import Play, WindowStart

    found, course = Soaked(seconds=seconds), MemoryCourse()
    gc.disable()  # as run_window does until everything is loaded
    application = QApplication.instance() or QApplication([])
    assert isinstance(application, QApplication)
    window = MainWindow(bare=True)
    window.resize(1440, 900)
    options = Namespace(inventory=inventory, data=folder)
    start = WindowStart(options, ErrorHooks(), window, Play(None, autoplay=False, start_s=None))
    window.show()
    session = start.at_once()
    session.ready.connect(lambda: setattr(found, "ready", time.time()))
    _watch_collections(found)
    found.began = time.time()
    course.start()
    beats = QTimer()
    beats.setInterval(TURN_MS)
    turns = iter(range(10**9))
    beats.timeout.connect(lambda: window.show_page(PAGES[next(turns) % len(PAGES)]))
    beats.timeout.connect(lambda: setattr(course, "bounded", bounded_bytes(session)))
    beats.start()
    loop = QEventLoop()
    QTimer.singleShot(int(seconds * 1000), loop.quit)
    loop.exec()
    beats.stop()
    course.stop()
    QCoreApplication.processEvents()
    found.memory = course.readings
    _gather(session, found)
    start.stop()
    return found


def bounded_bytes(session: WindowSession) -> int:
    """Return what the stores hold that grow up to a known size: hot rings, opened blocks, page caches, curves."""
    from services.sampling.watcher import Watcher
    from widgets.charts.plots.plot import Plot

    if session.controller is None:
        return 0
    source = session.controller.source
    assert isinstance(source, Watcher)
    store = source._store
    rings = sum(ring._rows.nbytes for _, ring in store._all_rings())
    opened = [block for _, block in tuple(store._file._cache._blocks.values())]
    blocks = sum(len(block._data) + block._kept + block._unpacker.memory_size() for block in opened)
    tracks = [track for plot in session.window.findChildren(Plot) for track in plot.state.tracks.values()]
    return rings + blocks + sqlite_in_use() + sum(array.nbytes for track in tracks for array in track._arrays.values())


def _gather(session: WindowSession, found: Soaked) -> None:
    assert session.controller is not None, "the window never got its source"
    source = session.controller.source
    found.cost = source.cost()
    found.stalls = tuple(session.controller.stalls.stalls)
    for server in source.servers():
        end = found.began + found.seconds - 5
        found.holes[server] = _holes(source.series(server, "uptime", found.began + 10, end, 10_000_000))


def _watch_collections(found: Soaked) -> None:
    begun = [0.0]

    def note(phase: str, _info: dict[str, int]) -> None:
        if phase == "start":
            begun[0] = time.perf_counter()
        elif (took := (time.perf_counter() - begun[0]) * 1000.0) > LONG_COLLECTION_MS:
            found.collections.append((time.time(), took))

    gc.callbacks.append(note)


def _holes(series: Series) -> list[tuple[float, float]]:
    import numpy as np

    have = series.t[~np.isnan(series.value)]
    steps = np.diff(have)
    return [(float(have[i]), float(steps[i])) for i in np.flatnonzero(steps > 2.5)]


def main() -> int:
    """Run the window and write what it saw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("inventory", type=Path)
    parser.add_argument("seconds", type=float)
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    sys.stdin.read()
    found = _run(options.inventory, options.seconds, options.out.with_name("data"))
    options.out.write_bytes(pickle.dumps(found))
    return 0


if __name__ == "__main__":
    from tests.bench.support.soaked import main as named  # so that what is written names its classes by their module

    sys.exit(named())
