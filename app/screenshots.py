"""One picture per page, made by the program itself: shows each page, waits until it has its data, saves it, ends."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QEventLoop

from app.arguments import FINDINGS, GOOD
from app.main_window import PAGES
from app.session import WindowSession
from services.errors import BadInput
from services.events import Event

LOAD_LIMIT_S = 30.0
SETTLE_S = 0.6


def take_pictures(session: WindowSession, folder: Path, theme: str) -> int:
    """Write `PAGE-THEME-WxH.png` for every page into `folder`; return the exit code."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise BadInput(f"The folder {folder} can't be made: {problem.strerror}.") from problem
    ready: list[bool] = []
    session.ready.connect(lambda: ready.append(True))
    if not _spin(lambda: bool(ready), LOAD_LIMIT_S):
        raise BadInput("The window was not ready for its pictures within 30 s.")
    window = session.window
    pages = [key for key, _ in PAGES] if session.controller is not None else [window.page()]
    for page in pages:
        window.show_page(page)
        _pose(session, page)
        _settle(session)
        path = folder / f"{page}-{theme}-{window.width()}x{window.height()}.png"
        if not window.grab().save(str(path)):
            raise BadInput(f"{path} could not be written.", try_=("Choose another folder.",))
        sys.stdout.write(f"{path}\n")
    if session.failed is not None:
        sys.stderr.write(session.failed.as_text() + "\n")
        return FINDINGS
    return GOOD


def _pose(session: WindowSession, page: str) -> None:
    """Put a recording at its telling moment: the topology while a transfer runs, everything else at its end."""
    from services.sampling.replay import Replay

    controller = session.controller
    if controller is None or not isinstance(controller.source, Replay):
        return
    replay = controller.source
    replay.pause()
    start, end = replay.span()
    moment = _telling_moment(replay.all_events(), end) if page == "topology" else end
    replay.seek(max(start, min(end, moment)))
    controller.pump.beat()


def _telling_moment(events: Sequence[Event], end: float) -> float:
    spans = [e for e in events if e.kind == "transfer" and e.until is not None and e.until - e.at > 2.0]
    if not spans:
        return end
    longest = max(spans, key=lambda e: (e.until or e.at) - e.at)
    return longest.at + 0.6 * ((longest.until or longest.at) - longest.at)


def _settle(session: WindowSession) -> None:
    """Let timers run until no background call is under way and the page has been quiet for a moment."""
    _spin(lambda: False, SETTLE_S)
    _spin(lambda: not session.ops.busy(), 10.0)
    _spin(lambda: False, SETTLE_S)


def _spin(done: Callable[[], bool], limit_s: float) -> bool:
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline:
        QCoreApplication.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 20)
        if done():
            return True
        time.sleep(0.005)
    return False
