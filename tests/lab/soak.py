"""A soak of the whole program on the lab (root): `python -m tests.lab.soak --minutes 30 --out resources/docs/soak.md`.

The window as the program starts it (off screen) watches the Galera estate under load; pages are turned, one node is
killed and returned. Reported: holes in the histories, the course of memory, stalls of the window's event loop with
what it was doing, polls missed. Too long for an automated run: the page it writes stands in the docs.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import tempfile
import threading
import time
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from services.sampling.model import ConsoleCost
from tests.lab.estate.estate import Estate
from tests.lab.estate.load import Load
from tests.lab.estate.locks import lab_lock
from tests.lab.soak_memory import FULL_S, Memory, MemoryCourse, slope

if TYPE_CHECKING:
    from app.session import WindowSession
    from services.series import Series
    from widgets.bridge.stalls import Stall

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
PAGES = ("topology", "charts", "journal")
LONG_COLLECTION_MS = 10.0


@dataclass
class Findings:
    """What the soak saw. Moments are UTC epoch seconds; `collections`: (end, ms) of garbage collections over 10 ms."""

    began: float = 0.0
    memory: Sequence[Memory] = ()
    provoked: list[tuple[float, float]] = field(default_factory=list)
    holes: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    cost: ConsoleCost = field(default_factory=ConsoleCost)
    stalls: Sequence[Stall] = ()
    collections: list[tuple[float, float]] = field(default_factory=list)


def soak(minutes: float, own_core: int | None = None) -> Findings:
    """Run for so many minutes; return what was seen.

    Args:
        own_core: the processor that the console has for itself, as a workstation of its own would; servers and load,
            which a real one would not carry, get the others. None: the console and they share what there is.
    """
    with lab_lock("session-galera"):
        estate = Estate("galera")
        if own_core is not None:
            estate.down()
            os.sched_setaffinity(0, os.sched_getaffinity(0) - {own_core})  # what is started from here on inherits it
        estate.up()
        estate.undo()
        estate.load_stop()
        estate.load_start(Load(seconds=int(minutes * 60) + 60, rate=40, threads=6), ["n1"])
        os.environ.update(estate.environment())
        if own_core is not None:
            os.sched_setaffinity(0, {own_core})
        try:
            with tempfile.TemporaryDirectory(prefix="pilothouse-soak-") as folder:
                return _run(estate, minutes * 60.0, Path(folder))
        finally:
            estate.load_stop()
            estate.undo()


def _run(estate: Estate, seconds: float, folder: Path) -> Findings:
    assert "numpy" not in sys.modules, "app.__main__ says how numpy behaves; it is read when numpy is imported"
    from PySide6.QtCore import QCoreApplication, QEventLoop, QTimer
    from PySide6.QtWidgets import QApplication

    import app.__main__  # noqa: F401 - for what it sets
    from app.error_hooks import ErrorHooks
    from app.main_window import MainWindow
    from app.window_run import Play, WindowStart

    found, course = Findings(), MemoryCourse()
    gc.disable()  # as run_window does until everything is loaded
    application = QApplication.instance() or QApplication([])
    assert isinstance(application, QApplication)
    window = MainWindow(bare=True)
    window.resize(1440, 900)
    options = Namespace(inventory=estate.client_dir / "inventory.toml", data=folder)
    start = WindowStart(options, ErrorHooks(), window, Play(None, autoplay=False, start_s=None))
    window.show()
    session = start.at_once()
    _watch_collections(found)
    found.began = time.time()
    course.start()
    beats = QTimer()
    beats.setInterval(10_000)
    turns = iter(range(10**9))
    beats.timeout.connect(lambda: window.show_page(PAGES[next(turns) % len(PAGES)]))
    beats.start()
    loop = QEventLoop()
    QTimer.singleShot(int(seconds * 1000), loop.quit)
    QTimer.singleShot(int(seconds * 400), lambda: _provoke(estate, found))
    loop.exec()
    beats.stop()
    course.stop()
    QCoreApplication.processEvents()
    found.memory = course.readings
    _gather(session, found, seconds)
    start.stop()
    return found


def _gather(session: WindowSession, found: Findings, seconds: float) -> None:
    assert session.controller is not None, "the window never got its source"
    source = session.controller.source
    found.cost = source.cost()
    found.stalls = tuple(session.controller.stalls.stalls)
    for server in source.servers():
        found.holes[server] = _holes(
            source.series(server, "uptime", found.began + 10, found.began + seconds - 5, 10_000_000)
        )


def _watch_collections(found: Findings) -> None:
    begun = [0.0]

    def note(phase: str, _info: dict[str, int]) -> None:
        if phase == "start":
            begun[0] = time.perf_counter()
        elif (took := (time.perf_counter() - begun[0]) * 1000.0) > LONG_COLLECTION_MS:
            found.collections.append((time.time(), took))

    gc.callbacks.append(note)


def _provoke(estate: Estate, found: Findings) -> None:
    """Kill n3 and start it again, from a thread of its own: the window's loop must not wait for the lab."""

    def act() -> None:
        begin = time.time()
        estate.kill9("n3")
        time.sleep(20)
        estate.start("n3")
        found.provoked.append((begin, time.time()))

    threading.Thread(target=act, name="soak-provoke", daemon=True).start()


def _holes(series: Series) -> list[tuple[float, float]]:
    """Return (begin, length) of every stretch of more than 2.5 s without a value."""
    import numpy as np

    have = series.t[~np.isnan(series.value)]
    steps = np.diff(have)
    return [(float(have[i]), float(steps[i])) for i in np.flatnonzero(steps > 2.5)]


def report(found: Findings, minutes: float, beside: str) -> str:
    """Return the findings as a page."""
    lines = [
        "# Soak",
        "",
        f"Written by `python -m tests.lab.soak --minutes {minutes:g}`: the window as the program starts it,",
        "off screen, three Galera nodes (MariaDB 10.11), sysbench at 40 transactions a second, pages turned each 10 s,",
        f"n3 killed once. Begun {_clock(found.began)} UTC, 0 min below. {beside}".rstrip(),
        "",
        "| what | measured |",
        "| --- | --- |",
        *(f"| {what} | {measured} |" for what, measured in _rows(found)),
        "",
        *(f"- unprovoked: {server} at {_clock(at)} for {length:.1f} s" for server, at, length in _unprovoked(found)),
        *_stall_lines(found),
        *_memory_lines(found),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _rows(found: Findings) -> list[tuple[str, str]]:
    cost, grown = found.cost, slope(found.memory)
    unprovoked = len(_unprovoked(found))
    share = 100 * cost.cpu_s / max(1.0, cost.uptime_s)
    slow = "too short to say"
    if grown is not None:
        slow = (
            f"{'flat' if grown.flat else 'NOT flat'}: {grown.bytes_per_hour / 1e6:+.1f} MB an hour, "
            f"{100 * grown.share_per_hour:+.1f} % (least squares over {grown.readings} readings)"
        )
    return [
        ("holes over 2.5 s that were not provoked", f"{unprovoked}"),
        ("holes while n3 was down (provoked)", f"{sum(map(len, found.holes.values())) - unprovoked}"),
        (f"anonymous memory after minute {FULL_S / 60:.0f}, when all rings are full", slow),
        ("stalls of the event loop over 50 ms", f"{cost.ui_stalls_over_50ms}"),
        ("of them over 50 ms without the wait for a processor", f"{sum(s.ours_ms > 50 for s in found.stalls)}"),
        ("of them with over 50 ms of the console's own CPU time", f"{sum(s.process_ms > 50 for s in found.stalls)}"),
        ("longest time the event loop was late", f"{cost.ui_stall_ms_max:.0f} ms"),
        ("garbage collections over 10 ms, the longest", f"{len(found.collections)}, {_longest(found):.0f} ms"),
        ("polls, missed", f"{cost.polls}, {cost.missed_polls}"),
        ("a poll, median and p95", f"{cost.poll_ms_p50:.1f} ms, {cost.poll_ms_p95:.1f} ms"),
        ("CPU of the console", f"{share:.1f} % of a core"),
    ]


def _longest(found: Findings) -> float:
    return max((took for _, took in found.collections), default=0.0)


def _unprovoked(found: Findings) -> list[tuple[str, float, float]]:
    return [
        (server, begin, length)
        for server, holes in found.holes.items()
        for begin, length in holes
        if not any(start - 3 <= begin <= end + 30 for start, end in found.provoked)
    ]


def _stall_lines(found: Findings) -> list[str]:
    lines = ["", "## Stalls over 50 ms", ""]
    if not found.stalls:
        return [*lines, "None."]
    for stall in found.stalls:
        swept = [took for at, took in found.collections if stall.at - stall.ms / 1000 - 0.1 <= at <= stall.at + 0.02]
        garbage = f", garbage collection {sum(swept):.0f} ms" if swept else ""
        lines.append(
            f"- minute {(stall.at - found.began) / 60:.1f} ({_clock(stall.at)}): {stall.ms:.0f} ms, of it CPU of the "
            f"window's thread {stall.own_ms:.0f} ms, of all threads {stall.process_ms:.0f} ms, waited for a processor "
            f"{stall.queued_ms:.0f} ms{garbage}; "
            f"`{stall.doing or 'not seen'}`"
        )
    return lines


def _memory_lines(found: Findings) -> list[str]:
    told = ", ".join(f"n3 down from minute {(a - found.began) / 60:.1f} to {(b - found.began) / 60:.1f}"
                     for a, b in found.provoked)  # fmt: skip
    return [
        "",
        "## Memory, minute by minute",
        "",
        f"MB (10^6 bytes). {told}.",
        "",
        "| minute | resident | proportional | anonymous |",
        "| ---: | ---: | ---: | ---: |",
        *(
            f"| {m.at_s / 60:.0f} | {m.resident / 1e6:.1f} | {m.proportional / 1e6:.1f} | {m.anonymous / 1e6:.1f} |"
            for m in found.memory
        ),
    ]


def _clock(at: float) -> str:
    return time.strftime("%H:%M:%S", time.gmtime(at))


def main() -> int:
    """Run the soak and print (and write) its page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--out", type=Path, default=None)
    parser.add_argument("--beside", default="", help="a sentence for the page: what else ran on the machine")
    parser.add_argument("--own-core", type=int, default=None, help="the console's own processor; servers get the rest")
    options = parser.parse_args()
    page = report(soak(options.minutes, options.own_core), options.minutes, options.beside)
    sys.stdout.write(page)
    if options.out:
        options.out.write_text(page, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
