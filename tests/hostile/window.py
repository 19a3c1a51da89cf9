"""The window off screen against hostile servers: `python -m tests.hostile.window [SECONDS]`, every mode there is.

The main window as the program starts it watches an honest server beside the hostile ones, turns its pages and looks at
every host. Printed: stalls of the window's thread, memory, how often the honest server was sampled, and what each host
said; 1 where something is not as it must be.
"""

from __future__ import annotations

import functools
import gc
import logging
import os
import sys
import tempfile
import time
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from unittest import mock

if TYPE_CHECKING:
    from app.window.session import WindowSession
    from services.discovery.model import NodeView
    from services.sampling.watcher import Watcher
    from widgets.bridge.stalls import Stall

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QAbstractItemModel, QEventLoop, QModelIndex, Qt, QTimer
from PySide6.QtWidgets import QAbstractItemView, QApplication, QLabel, QWidget

from services.connections.host import HostSession
from services.connections.limits import Limits
from tests.hostile.memory import grown, resident
from tests.hostile.servers.estate import HONEST, Estate, Hostile

QUICK = Limits(connect_s=1.0, handshake_s=2.0, auth_s=2.0, channel_s=2.0, close_s=2.0, backoff_most_s=4.0)
BUILT_S, SETTLE_S = 60.0, 8.0
"""Building the window, at most; then the first look around and each host's first try, before anything is measured."""
STALL_MS = 50.0


@dataclass
class Findings:
    """What was seen.

    Attributes:
        stalls: of the window's thread over 50 ms, after it had settled; worst_ms: the longest of them that the machine
            did not cause by giving the window no processor. own_ms: the most CPU time of the window's thread in one of
            them, which is the same on a busy machine and on an idle one.
        grown: bytes of memory at the highest, above what the settled window had.
        sampled_s, gap_s: seconds watched, and the longest time between two samples of the honest server.
        samples: of the honest server in that time.
        silent: hosts that must end with a sentence and have none; told: host -> its sentence.
        odd: (who, text) that a person must never see; logged: warnings and errors of the program.
    """

    stalls: list[Stall] = field(default_factory=list)
    worst_ms: float = 0.0
    own_ms: float = 0.0
    grown: int = 0
    sampled_s: float = 0.0
    gap_s: float = 0.0
    samples: int = 0
    silent: list[str] = field(default_factory=list)
    told: dict[str, str] = field(default_factory=dict)
    odd: set[tuple[str, str]] = field(default_factory=set)
    logged: list[str] = field(default_factory=list)


def watch(folder: Path, seconds: float, *, every: int = 1, limits: Limits = QUICK) -> Findings:
    """Watch an estate of hostile servers for so long; needs a QApplication."""
    os.environ["HOSTILE_PASSWORD"] = "geheim"
    found = Findings()
    opened = functools.partial(HostSession, limits=limits)
    with Estate(folder, every=every) as estate, mock.patch("app.compose.HostSession", opened):
        _watch(estate, folder, seconds, found)
    return found


def _watch(estate: Estate, folder: Path, seconds: float, found: Findings) -> None:
    from app.window.main_window import MainWindow
    from app.window.window_run import Play, WindowStart
    from tests.lab.window_hooks import TestedHooks

    window = MainWindow(bare=True)
    window.resize(1440, 900)
    options = Namespace(inventory=estate.inventory, data=folder / "data", theme="light")
    gc.disable()  # as run_window has it until the session is ready: what was loaded is never collected again
    start = WindowStart(options, TestedHooks(), window, Play(None, autoplay=False, start_s=None))
    window.show()
    session = start.at_once()
    try:
        _build(session)
        _run(SETTLE_S)
        _measure(session, {host.name for host in estate.hosts}, seconds, found)
        _gather(session, estate.hosts, found)
    finally:
        start.stop()
        window.close()
        window.deleteLater()
        _run(0.1)


def _run(seconds: float) -> None:
    loop = QEventLoop()
    QTimer.singleShot(int(seconds * 1000), loop.quit)
    loop.exec()


def _build(session: WindowSession) -> None:
    end = time.monotonic() + BUILT_S
    while session.controller is None and time.monotonic() < end:
        _run(0.1)


def _measure(session: WindowSession, names: set[str], seconds: float, found: Findings) -> None:
    """Turn the pages, look at one host after the other, and see how long the window stands still."""
    from app.window.main_window import PAGES

    assert session.controller is not None, "the window never got its source"
    controller, window = session.controller, session.window
    pages = [key for key, _ in PAGES]
    nodes = _watched(session, names)
    for page in pages:  # each is built once, which is nobody's bytes
        window.show_page(page)
        _run(0.5)
    meter, turns = controller.stalls, iter(range(10**9))

    def turn() -> None:
        at = next(turns)
        if at % 8 == 0:
            window.show_page(pages[at // 8 % len(pages)])
        if nodes:
            controller.select_node(nodes[at % len(nodes)].node_id)

    beats = QTimer()
    beats.setInterval(max(100, int(seconds * 1000 / (2 * max(1, len(nodes))))))
    beats.timeout.connect(turn)
    meter.stalls.clear()
    beats.start()
    began, before = time.time(), resident()
    with grown() as memory:
        _run(seconds)
    beats.stop()
    found.grown = memory.bytes if before else 0
    found.sampled_s = seconds
    found.stalls = list(meter.stalls)
    found.worst_ms = max((stall.ours_ms for stall in found.stalls), default=0.0)
    found.own_ms = max((stall.own_ms for stall in found.stalls), default=0.0)
    _sampled(session, began, found)


def _sampled(session: WindowSession, began: float, found: Findings) -> None:
    import numpy as np

    assert session.controller is not None
    series = session.controller.source.series(HONEST, "uptime", began, began + found.sampled_s, 1_000_000)
    moments = series.t[~np.isnan(series.value)]
    found.samples = len(moments)
    edges = np.concatenate(([began], moments, [began + found.sampled_s]))
    found.gap_s = float(np.diff(edges).max())


def _watched(session: WindowSession, names: set[str]) -> list[NodeView]:
    """Return the nodes of hosts that are watched; a liar names hundreds more."""
    assert session.controller is not None
    clusters = session.controller.source.snapshot().clusters
    return [node for cluster in clusters for node in cluster.nodes if node.host in names]


def _gather(session: WindowSession, hosts: tuple[Hostile, ...], found: Findings) -> None:
    from app.window.main_window import PAGES

    assert session.controller is not None
    source: Watcher = session.controller.source  # type: ignore[assignment]
    facts = source.hub.facts()
    for host in hosts:
        told = [problem.sentence for problem in facts[host.name].problems] if host.name in facts else []
        found.told[f"{host.name} {host.mode}"] = " ".join(told)
        if host.told and not "".join(told).strip():
            found.silent.append(f"{host.name} {host.mode}")
    session.window.show_page(PAGES[0][0])
    for node in _watched(session, {host.name for host in hosts}):
        session.controller.select_node(node.node_id)
        _run(0.05)
        found.odd |= set(odd_texts(session.window.topology))
    for page, _ in PAGES:
        session.window.show_page(page)
        _run(0.3)
        found.odd |= set(odd_texts(session.window))


def odd_texts(window: QWidget) -> Iterator[tuple[str, str]]:
    """Yield (who, text) of what would be acted on: a sign that is not seen, markup where Qt reads any."""
    from tests.widgets.seen_texts import told

    for part in window.findChildren(QWidget):
        yield from ((who, text) for who, text in told(part) if _is_odd(text))
        if isinstance(part, QLabel):
            rich = part.textFormat() is not Qt.TextFormat.PlainText and "<" in part.text()
            if rich or _is_odd(part.text()):
                yield f"label {part.objectName()}", part.text()[:200]
        if isinstance(part, QAbstractItemView) and part.model() is not None:
            yield from (("row", text) for text in _rows(part.model(), QModelIndex()) if _is_odd(text))


_ROLES = (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole)


def _rows(model: QAbstractItemModel, parent: QModelIndex) -> Iterator[str]:
    for row in range(model.rowCount(parent)):
        for column in range(model.columnCount(parent)):
            index = model.index(row, column, parent)
            yield from (str(model.data(index, role) or "") for role in _ROLES)
            if column == 0:
                yield from _rows(model, index)


_SPACES = "\n\t\u00a0\u2009\u202f"
"""The console's own between digits, and of lines."""


def _is_odd(text: str) -> bool:
    """Tell a sign that acts on a terminal or hides, and a picture in what Qt would take for rich text."""
    unseen = any(not sign.isprintable() and sign not in _SPACES for sign in text)
    return unseen or (text.startswith("<p>") and "<img" in text)


def report(found: Findings) -> str:
    """Return the findings as lines."""
    lines = [f"  {host}: {told[:160] or 'answers'}" for host, told in found.told.items()]
    lines += [
        f"  stall of {one.ms:.0f} ms, {one.ours_ms:.0f} not for want of a processor, "
        f"{one.own_ms:.0f} of work: {one.doing}"
        for one in found.stalls
    ]
    lines += [f"  MUST NOT BE SEEN: {who}: {text!r}" for who, text in sorted(found.odd)[:20]]
    lines += [f"  NO SENTENCE: {host}" for host in found.silent]
    lines += [f"  LOGGED: {text}" for text in found.logged[:20]]
    lines.append(
        f"{len(found.told)} hosts, {found.sampled_s:.0f} s: {len(found.stalls)} stalls over {STALL_MS:.0f} ms, "
        f"the longest {found.worst_ms:.0f} ms, the most work in one {found.own_ms:.0f} ms; "
        f"memory grew {found.grown / 1e6:.0f} MB; "
        f"the honest server has {found.samples} samples, no gap over {found.gap_s:.1f} s"
    )
    return "\n".join(lines)


def main() -> int:
    """Run from the command line."""
    import app.__main__  # noqa: F401 - for what it sets

    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    logged: list[str] = []
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: logged.append(f"{record.levelname} {record.getMessage()}")  # type: ignore[method-assign]
    logging.getLogger().addHandler(handler)
    application = QApplication.instance() or QApplication([])
    with tempfile.TemporaryDirectory(prefix="pilothouse-hostile-") as folder:
        found = watch(Path(folder), seconds, limits=Limits(backoff_most_s=4.0) if seconds > 60 else QUICK)
    del application
    found.logged = logged
    sys.stdout.write(report(found) + "\n")
    return 1 if found.odd or found.silent or found.logged else 0


if __name__ == "__main__":
    raise SystemExit(main())
