"""A soak of the whole program on the lab (root): `python -m tests.lab.soak --minutes 30 --out resources/docs/soak.md`.

The real window (off screen) watches the Galera estate under load; pages are turned, one node is killed and returned.
Reported: holes in the histories, resident memory over time, stalls of the window's event loop, polls missed.
Too long for an automated run: the table it writes stands in the docs.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from argparse import Namespace
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from tests.lab.estate.estate import Estate
from tests.lab.estate.load import Load
from tests.lab.estate.locks import lab_lock

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
PAGES = ("topology", "charts", "journal")


@dataclass
class Findings:
    """What the soak saw. `memory`: (seconds since the start, bytes)."""

    memory: list[tuple[float, int]] = field(default_factory=list)
    provoked: list[tuple[float, float]] = field(default_factory=list)
    holes: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    cost: object = None
    stalls: list[float] = field(default_factory=list)


def soak(minutes: float) -> Findings:
    """Run for so many minutes; return what was seen."""
    with lab_lock("session-galera"):
        estate = Estate("galera")
        estate.up()
        estate.undo()
        estate.load_stop()
        estate.load_start(Load(seconds=int(minutes * 60) + 60, rate=40, threads=6), ["n1"])
        os.environ.update(estate.environment())
        try:
            with tempfile.TemporaryDirectory(prefix="pilothouse-soak-") as folder:
                return _run(estate, minutes * 60.0, Path(folder))
        finally:
            estate.load_stop()
            estate.undo()


def _run(estate: Estate, seconds: float, folder: Path) -> Findings:
    from PySide6.QtCore import QCoreApplication, QEventLoop, QTimer
    from PySide6.QtWidgets import QApplication

    from app.error_hooks import ErrorHooks
    from app.main_window import MainWindow
    from app.session import LiveOpener, WindowSession
    from app.vault import SessionVault
    from services.sampling.cost import resident_bytes
    from widgets.bridge.ops import Ops
    from widgets.common.theme import apply_theme

    application = QApplication.instance() or QApplication([])
    assert isinstance(application, QApplication)
    apply_theme(application, "light")
    window = MainWindow()
    window.resize(1440, 900)
    options = Namespace(inventory=estate.client_dir / "inventory.toml", data=folder)
    session = WindowSession(window, Ops(), ErrorHooks(), LiveOpener(options, SessionVault()))
    window.show()
    session.load()
    found, began = Findings(), time.time()
    beats = QTimer()
    beats.setInterval(10_000)
    turn = [0]

    def beat() -> None:
        turn[0] += 1
        window.show_page(PAGES[turn[0] % len(PAGES)])
        found.memory.append((time.time() - began, resident_bytes()))
        if session.controller is not None:
            found.stalls.append(session.controller.stalls.worst_ever_ms)

    beats.timeout.connect(beat)
    beats.start()
    loop = QEventLoop()
    QTimer.singleShot(int(seconds * 1000), loop.quit)
    QTimer.singleShot(int(seconds * 400), lambda: _provoke(estate, found))
    loop.exec()
    beats.stop()
    QCoreApplication.processEvents()
    assert session.controller is not None, "the window never got its source"
    source = session.controller.source
    found.cost = source.cost()
    for server in source.servers():
        found.holes[server] = _holes(source.series(server, "uptime", began + 10, began + seconds - 5, 10_000_000))
    session.stop()
    return found


def _provoke(estate: Estate, found: Findings) -> None:
    """Kill n3 and start it again, from threads of their own: the window's loop must not wait for the lab."""
    import threading

    def act() -> None:
        begin = time.time()
        estate.kill9("n3")
        time.sleep(20)
        estate.start("n3")
        found.provoked.append((begin, time.time()))

    threading.Thread(target=act, name="soak-provoke", daemon=True).start()


def _holes(series: object) -> list[tuple[float, float]]:
    """Return (begin, length) of every stretch of more than 2.5 s without a value."""
    t, value = series.t, series.value  # type: ignore[attr-defined]
    have = t[~np.isnan(value)]
    steps = np.diff(have)
    return [(float(have[i]), float(steps[i])) for i in np.flatnonzero(steps > 2.5)]


def report(found: Findings, minutes: float) -> str:
    """Return the findings as a page."""
    first = [b for s, b in found.memory if s > 60][:6] or [b for _, b in found.memory[:6]]
    last = [b for _, b in found.memory[-6:]]
    unprovoked = [
        (server, begin, length)
        for server, holes in found.holes.items()
        for begin, length in holes
        if not any(start - 3 <= begin <= end + 30 for start, end in found.provoked)
    ]
    cost = found.cost
    lines = [
        "# Soak",
        "",
        f"Written by `python -m tests.lab.soak --minutes {minutes:g}`: the real window off screen, three Galera nodes",
        "(MariaDB 10.11) under sysbench at 40 transactions a second, pages turned each ten seconds, n3 killed once.",
        "",
        "| what | measured |",
        "| --- | --- |",
        f"| holes over 2.5 s that were not provoked | {len(unprovoked)} |",
        f"| holes while n3 was down (provoked) | {sum(len(h) for h in found.holes.values()) - len(unprovoked)} |",
        (f"| resident memory after the first minute, at the end | {np.median(first) / 1e6:.0f} MB, "
        f"{np.median(last) / 1e6:.0f} MB (ratio {np.median(last) / np.median(first):.3f}) |"),
        f"| stalls of the event loop over 50 ms | {getattr(cost, 'ui_stalls_over_50ms', '?')} |",
        f"| longest stall | {getattr(cost, 'ui_stall_ms_max', 0.0):.0f} ms |",
        f"| polls, missed | {getattr(cost, 'polls', 0)}, {getattr(cost, 'missed_polls', 0)} |",
        (f"| a poll, median and p95 | {getattr(cost, 'poll_ms_p50', 0.0):.1f} ms, "
        f"{getattr(cost, 'poll_ms_p95', 0.0):.1f} ms |"),
        (f"| CPU of the console | {100 * getattr(cost, 'cpu_s', 0.0) / max(1.0, getattr(cost, 'uptime_s', 1.0)):.1f} % "
        "of a core |"),
        "",
        *(f"- unprovoked: {server} at {time.strftime('%H:%M:%S', time.localtime(at))} for {length:.1f} s"
          for server, at, length in unprovoked),
    ]  # fmt: skip
    return "\n".join(lines).rstrip() + "\n"


def main() -> int:
    """Run the soak and print (and write) its page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args()
    page = report(soak(options.minutes), options.minutes)
    sys.stdout.write(page)
    if options.out:
        options.out.write_text(page, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
