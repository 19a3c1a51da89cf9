"""One picture per page, made by the program itself: shows each page, waits until it has its data, saves it, ends."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QEvent, QEventLoop

from app.cli.arguments import FINDINGS, GOOD
from app.error_hooks import ErrorHooks
from app.window.main_window import PAGES, SETTINGS
from app.window.session import WindowSession
from services.discovery.model import EstateSnapshot
from services.errors import BadInput
from services.events import Event
from services.i18n import tr
from services.types import Health, Reach
from services.workstation.files import private_folder, write_whole
from widgets.charts.page import ChartsPage
from widgets.common.pictures import picture_bytes

LOAD_LIMIT_S = 30.0
SETTLE_S = 0.6
SHEET = "shortcuts"
LIVE_CHARTS_S = 8.0


def take_pictures(session: WindowSession, folder: Path, theme: str, hooks: ErrorHooks) -> int:
    """Write `PAGE-THEME-WxH.png` for every page, and for the sheet of shortcuts; return the exit code.

    Raises the first error that nobody caught: a page that could not be built is no picture.
    """
    try:
        private_folder(folder)
    except OSError as problem:
        raise BadInput(
            tr("The folder {folder} cannot be created: {problem}.", folder=folder, problem=problem.strerror)
        ) from problem
    ready: list[bool] = []
    session.ready.connect(lambda: ready.append(True))
    came = _spin(lambda: bool(ready) or hooks.uncaught is not None, LOAD_LIMIT_S)
    hooks.raise_uncaught()
    if not came:
        raise BadInput(tr("The window was not ready for its pictures within 30 s."))
    window = session.window
    pages = [key for key, _ in PAGES] if session.controller is not None else [window.page()]
    for page in (*pages, SETTINGS, SHEET):
        if page == SHEET:
            window.show_page(pages[0])
            window.show_sheet()
        else:
            window.show_page(page)
            _pose(session, page)
        if (focused := window.focusWidget()) is not None:
            focused.clearFocus()  # the ring tells a person at the keyboard where it types; a picture has nobody
        _settle(session)
        hooks.raise_uncaught()
        _lay_out()
        for charts in window.findChildren(ChartsPage):
            charts.paint_now()
        path = folder / f"{page}-{theme}-{window.width()}x{window.height()}.png"
        try:
            write_whole(path, picture_bytes(window.grab().toImage()))
        except OSError as problem:
            raise BadInput(
                tr("{path} could not be written: {problem}.", path=path, problem=problem.strerror or problem),
                try_=(tr("Choose another folder."),),
            ) from problem
        sys.stdout.write(f"{path}\n")
    if session.failed is not None:
        sys.stderr.write(session.failed.as_text() + "\n")
        return FINDINGS
    return GOOD


def _pose(session: WindowSession, page: str) -> None:
    """Put a recording at its telling moment (the journal: at its end); give a live estate its first seconds."""
    controller = session.controller
    if controller is None:
        return
    if controller.player is None:
        _spin(lambda: _is_asked(controller.estate), LOAD_LIMIT_S)
        if page == "charts":
            _spin(lambda: False, LIVE_CHARTS_S)
        steering = session.steering
        if page == "procedures" and steering is not None:
            _spin(lambda: steering.runs.is_open and not steering.runs.busy(), LOAD_LIMIT_S)
        return
    controller.player.pause()
    end = controller.source.span()[1]
    controller.look_at(end if page == "journal" else telling_moment(controller.player.all_events(), end))


def _is_asked(estate: EstateSnapshot) -> bool:
    """Return whether a host answers, or every one was asked and none does: that is a picture too."""
    nodes = [node for cluster in estate.clusters for node in cluster.nodes if node.host]
    return bool(estate.hosts_answering) or bool(nodes and all(node.reach is Reach.NONE for node in nodes))


def telling_moment(events: Sequence[Event], end: float) -> float:
    """Return a moment worth a picture: while the longest transfer runs, else just after the worst event, else the end.

    A transfer that goes over from SST to catching up says most when the larger part is done.
    """
    spans = [e for e in events if e.kind == "transfer" and e.until is not None and e.until - e.at > 2.0]
    if spans:
        longest = max(spans, key=lambda e: (e.until or e.at) - e.at)
        return longest.at + 0.8 * ((longest.until or longest.at) - longest.at)
    told = [e for e in events if e.health.severity >= Health.WARN.severity]
    if told:
        return min(end, max(told, key=lambda e: e.health.severity).at + 2.0)
    return end


def _settle(session: WindowSession) -> None:
    """Let timers run until no background call is under way and the page has been quiet for a moment."""
    _spin(lambda: False, SETTLE_S)
    _spin(lambda: not session.ops.busy() and not _drawing(session), 10.0)
    _spin(lambda: False, SETTLE_S)


def _lay_out() -> None:
    """Place what the last beat has shown or hidden: a picture has no next frame in which that is done."""
    for _ in range(3):  # a section's new height is its panel's, and then the scrolled page's
        QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest.value)


def _drawing(session: WindowSession) -> bool:
    return session.controller is not None and session.controller.busy()


def _spin(done: Callable[[], bool], limit_s: float) -> bool:
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline:
        QCoreApplication.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 20)
        if done():
            return True
        time.sleep(0.005)
    return False
