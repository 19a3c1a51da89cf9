"""The first hosts are on the screen before what procedures need is loaded. On a fake source and a scripted service."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.error_hooks import ErrorHooks
from app.mark_shelf import MarkShelf, SessionShelf
from app.window import pages, session
from app.window.main_window import MainWindow
from app.window.session import WindowSession
from app.window.steering.door import ServiceDoor
from tests.widgets.fake_sources import FakeLiveSource
from tests.widgets.steering_builders import ScriptedDoor, scripted
from widgets.bridge.ops import Ops
from widgets.bridge.source import EstateSource
from widgets.common.look.theme import apply_theme


class FakeSteeredOpener:
    """Opens a fake source whose service is scripted."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def refuse_nothing(self) -> None:
        return None

    def open(self) -> EstateSource:
        return FakeLiveSource()

    def door(self) -> ServiceDoor:
        return cast("ServiceDoor", ScriptedDoor(self._folder, scripted()))

    def shelf(self) -> MarkShelf:
        return SessionShelf()

    def close(self) -> None:
        return None


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """What procedures need is being loaded until the test lets it be."""
    loaded, load = threading.Event(), pages.import_steering

    def slowly() -> None:
        assert loaded.wait(20.0)
        load()

    monkeypatch.setattr(session, "STEERING_LATER_MS", 0)
    monkeypatch.setattr(pages, "import_steering", slowly)
    yield loaded
    loaded.set()


def test_that_hosts_are_shown_while_what_procedures_need_is_still_loaded(
    qtbot: QtBot, qapp: QApplication, tmp_path: Path, held: threading.Event
) -> None:
    apply_theme(qapp, "light")
    window = MainWindow()
    ops = Ops(window)
    started = WindowSession(window, ops, ErrorHooks(), FakeSteeredOpener(tmp_path))
    ready: list[bool] = []
    started.ready.connect(lambda: ready.append(True))
    window.show()
    started.load()
    try:
        qtbot.waitUntil(lambda: window.topology.canvas.item("db1") is not None, timeout=20_000)
        assert started.steering is None
        assert not ready
        window.show_page("procedures")  # asked for before it is there: it comes to the front when it is
        held.set()
        qtbot.waitUntil(lambda: bool(ready), timeout=20_000)
        assert started.steering is not None
        assert window.page() == "procedures"
    finally:
        held.set()
        started.stop()
        window.may_close = None
        window.close()
        window.deleteLater()
        started.deleteLater()
        qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


def test_that_the_first_paint_waits_for_no_import_that_only_later_parts_need() -> None:
    late = "dataclasses", "hashlib", "json", "services.connections.tls.known_certificates"
    code = (
        "import sys, PySide6.QtWidgets; had = set(sys.modules);"
        "import app.__main__, app.cli.commands.window, app.places; app.__main__.build_parser().parse_args([]);"
        f"print(*sorted({set(late)} & (set(sys.modules) - had)))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == []
