"""Whatever raises in the window becomes one sentence in it: a slot, an event handler, a worker, a thread of its own."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.error_hooks import ErrorHooks
from services.errors import UserError
from services.workstation import data_place
from tests.unit.app.test_boundary import RAISED, thrower
from widgets.bridge.newest import Newest
from widgets.bridge.ops import Ops
from widgets.common.controls.labels import ValueLabel

ROOT = Path(__file__).resolve().parents[3]
EVERY = pytest.mark.parametrize("raised", RAISED, ids=lambda one: f"{type(one).__name__}-{str(one)[:12]}")
LOGGED = pytest.mark.expected_log("ERROR", ".*")


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[UserError]:
    """What the window was given to show, with the hooks as a start installs them."""
    monkeypatch.setattr(data_place, "folder", lambda: tmp_path)
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    monkeypatch.setattr(threading, "excepthook", threading.excepthook)
    hooks, shown = ErrorHooks(), list[UserError]()
    hooks.install()
    hooks.show_with(shown.append)
    return shown


def assert_one_sentence(told: list[UserError], capfd: pytest.CaptureFixture[str]) -> None:
    assert len(told) == 1
    assert told[0].sentence.strip()
    out, errors = capfd.readouterr()
    assert "Traceback" not in out + errors + told[0].as_text()


@LOGGED
@EVERY
def test_that_a_slot_that_raises_is_one_sentence(
    raised: BaseException, qtbot: QtBot, told: list[UserError], capfd: pytest.CaptureFixture[str]
) -> None:
    def slot() -> None:
        raise raised

    QTimer.singleShot(0, slot)
    qtbot.waitUntil(lambda: bool(told))
    assert_one_sentence(told, capfd)


@LOGGED
@EVERY
def test_that_a_clipboard_that_raises_is_one_sentence(
    raised: BaseException,
    qtbot: QtBot,
    told: list[UserError],
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(QGuiApplication, "clipboard", thrower(raised))
    label = ValueLabel("10.0.0.1")
    qtbot.addWidget(label)
    QTimer.singleShot(0, label.copy)
    qtbot.waitUntil(lambda: bool(told))
    assert_one_sentence(told, capfd)


def test_that_the_desktop_is_asked_for_nothing_else_than_its_clipboard_and_its_languages() -> None:
    """What else of it is ever reached has to get a row above: it fails as it likes."""
    desktop = re.compile(
        r"\b(QDesktopServices|QSystemTrayIcon|QPrinter|QProcess|QSettings|QStandardPaths|webbrowser)\b"
    )
    files = [file for part in ("app", "widgets") for file in (ROOT / part).rglob("*.py")]
    assert [file.name for file in files if desktop.search(file.read_text(encoding="utf-8"))] == []


class Handler(QObject):
    """Raises where Qt calls into Python by itself."""

    def __init__(self, raised: BaseException) -> None:
        super().__init__()
        self.raised = raised

    def customEvent(self, _event: QEvent) -> None:
        """See QObject."""
        raise self.raised


@LOGGED
@EVERY
def test_that_an_event_handler_that_raises_is_one_sentence(
    raised: BaseException, qtbot: QtBot, told: list[UserError], capfd: pytest.CaptureFixture[str]
) -> None:
    handler = Handler(raised)
    QApplication.postEvent(handler, QEvent(QEvent.Type.User))
    qtbot.waitUntil(lambda: bool(told))
    assert_one_sentence(told, capfd)


@LOGGED
@EVERY
def test_that_a_thread_that_raises_is_one_sentence(
    raised: BaseException, qtbot: QtBot, told: list[UserError], capfd: pytest.CaptureFixture[str]
) -> None:
    def work() -> None:
        raise raised

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert_one_sentence(told, capfd)


@LOGGED
@EVERY
def test_that_an_error_of_a_task_is_told_and_leaves_nobody_waiting(raised: BaseException, qtbot: QtBot) -> None:
    def work() -> object:
        raise raised

    told = list[UserError]()
    ops = Ops()
    ops.failed.connect(told.append)
    ops.run("odd", work, lambda _answer: None)
    qtbot.waitUntil(lambda: bool(told))
    assert not ops.busy()
    ops.run("odd", lambda: 1, told.append)  # type: ignore[arg-type]  # and the worker lives
    qtbot.waitUntil(lambda: len(told) == 2)
    ops.shutdown()


@LOGGED
@EVERY
def test_that_a_question_that_raises_is_told_and_leaves_nobody_waiting(raised: BaseException, qtbot: QtBot) -> None:
    def work() -> Iterator[object]:
        yield 1
        raise raised

    told = list[UserError]()
    newest = Newest()
    newest.failed.connect(told.append)
    newest.ask(work)
    qtbot.waitUntil(lambda: bool(told))
    assert not newest.busy()
    newest.shutdown()


def test_that_an_interrupt_from_the_terminal_closes_the_window_without_a_traceback(
    qtbot: QtBot, told: list[UserError], capfd: pytest.CaptureFixture[str]
) -> None:
    sys.excepthook(KeyboardInterrupt, KeyboardInterrupt(), None)
    out, errors = capfd.readouterr()
    assert (told, out + errors) == ([], "")
