"""While a recording still loads, the window says so; no axis begins before its samples. On fake sources."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.error_hooks import ErrorHooks
from app.window.controller import Controller
from app.window.main_window import MainWindow
from app.window.pages import build_pages
from app.window.session import RecordingOpener, WindowSession
from tests.widgets.fake_sources import NOW, FakeLiveSource, FakeRecording
from tests.widgets.seen_texts import painted
from widgets.bridge.ops import Ops
from widgets.bridge.source import EstateSource
from widgets.charts.page import ChartsPage
from widgets.common.look.theme import apply_theme
from widgets.journal.page import JournalPage
from widgets.timeline.strip import EventStrip


class SlowRecording(RecordingOpener):
    """A recording on a disk that takes its time."""

    def __init__(self) -> None:
        super().__init__(Path("slow.pilothouse"), autoplay=True, start_s=None)
        self.read = threading.Event()

    def open(self) -> EstateSource:
        assert self.read.wait(20.0)
        return FakeRecording()


def test_that_a_recording_that_still_loads_says_so_and_speaks_of_no_hosts(qtbot: QtBot, qapp: QApplication) -> None:
    apply_theme(qapp, "light")
    window, opener = MainWindow(), SlowRecording()
    session = WindowSession(window, Ops(window), ErrorHooks(), opener)
    window.show()
    session.load()
    try:
        assert window.status.badge() == "REPLAY"
        assert window.status.message() == "opening the recording…"
        said = " ".join(painted(window))
        assert "Opening the recording" in said
        assert "Its file on this workstation is read; no host is contacted." in said
        assert "hosts are queried" not in said
        with qtbot.waitSignal(session.ready, timeout=20_000):
            opener.read.set()
        assert window.status.message() == ""
    finally:
        opener.read.set()
        session.stop()


@pytest.mark.parametrize("source", [FakeLiveSource, FakeRecording])
def test_that_no_axis_ever_begins_in_1970(qtbot: QtBot, qapp: QApplication, source: type[FakeLiveSource]) -> None:
    window = MainWindow()
    ops = Ops(window)
    controller = Controller(source(), window, ops, parent=window)
    try:
        for _ in build_pages(controller, window, ops, parent=window):
            charts = window.findChildren(ChartsPage)
            strips = window.findChildren(EventStrip)
            assert all(one.view().end == NOW for one in (*charts, *strips))
            assert all(one.view().start > NOW - 3600 for one in (*charts, *strips))
            assert all(one.scene().word == ("LIVE" if source is FakeLiveSource else "REPLAY") for one in strips)
        assert len(window.findChildren(ChartsPage)) == 1
    finally:
        controller.stop()
        ops.shutdown()
        window.close()
        window.deleteLater()


def test_that_a_page_is_made_in_one_turn_and_placed_and_dressed_in_another(qtbot: QtBot, qapp: QApplication) -> None:
    apply_theme(qapp, "light")
    window = MainWindow()
    ops = Ops(window)
    controller = Controller(FakeRecording(), window, ops, parent=window)
    before = qapp.allWidgets()  # held: of a widget that is gone another may take the id
    known = {id(widget) for widget in before}

    def pages() -> list[tuple[str, bool, bool]]:
        """Return of each page made since: its class, whether it stands in the window, whether it is dressed."""
        made = [widget for widget in qapp.allWidgets() if isinstance(widget, ChartsPage | JournalPage)]
        new = [widget for widget in made if id(widget) not in known]
        return sorted((type(page).__name__, page.window() is window, page.styleSheet() != "") for page in new)

    try:
        seen = [pages() for _ in build_pages(controller, window, ops, parent=window)]
    finally:
        controller.stop()
        ops.shutdown()
        window.close()
        window.deleteLater()
    charts = ("ChartsPage", True, True)
    assert seen[:5] == [
        [],
        [("ChartsPage", False, False)],
        [charts],
        [charts, ("JournalPage", False, False)],
        [charts, ("JournalPage", True, True)],
    ]


def test_that_nothing_is_said_any_more_in_a_window_that_is_gone(
    qtbot: QtBot, qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is said for a while is taken back minutes later, and the window may be closed meanwhile."""
    monkeypatch.setattr("app.window.controller.PAST_SAID_S", -0.99)
    monkeypatch.setattr("app.window.controller.NOTICE_MS", 10)
    window = MainWindow()
    ops = Ops(window)
    controller = Controller(FakeLiveSource(), window, ops, parent=qapp)
    controller.start()
    controller.say_for_now("It is done.")
    controller.stop()
    ops.shutdown()
    window.close()
    window.deleteLater()
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    qtbot.wait(50)
    controller.deleteLater()
