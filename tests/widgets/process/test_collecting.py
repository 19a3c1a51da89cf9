"""Qt's objects in circles of references die on the window's thread, whatever a worker allocates."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.window import collecting
from app.window.collecting import Collecting


class Circle(QObject):
    """Holds itself, as a dialog does whose slots are closures of it."""

    def __init__(self) -> None:
        super().__init__()
        self.me = self


@pytest.fixture
def died_on() -> list[str]:
    return []


@pytest.fixture
def begun(qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> Iterator[Collecting]:
    monkeypatch.setattr(collecting, "LEAST_S", 0.0)
    monkeypatch.setattr(collecting, "BEAT_MS", 50)
    one = Collecting()
    one.begin()
    try:
        yield one
    finally:
        one.end()
        assert gc.isenabled()


def _left_behind(died_on: list[str]) -> weakref.ref[Circle]:
    circle = Circle()
    weakref.finalize(circle, lambda: died_on.append(threading.current_thread().name))
    return weakref.ref(circle)


def _allocate() -> None:
    kept = [[number] for number in range(300_000)]
    assert kept


def test_that_what_a_closed_dialog_left_is_freed_on_the_windows_thread_beside_a_busy_worker(
    qtbot: QtBot, begun: Collecting, died_on: list[str]
) -> None:
    left = _left_behind(died_on)
    worker = threading.Thread(target=_allocate, name="busy")
    worker.start()
    worker.join()
    assert left() is not None, "a worker collected it"
    qtbot.waitUntil(lambda: left() is None)
    assert died_on == [threading.main_thread().name]


def test_that_all_objects_are_looked_at_no_more_often_than_their_share_of_time_allows(
    begun: Collecting, died_on: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collecting, "LEAST_S", 1_000.0)
    begun.beat()
    left = _left_behind(died_on)
    begun.beat()
    assert left() is not None


def test_that_many_young_objects_are_looked_at_before_that(
    begun: Collecting, died_on: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collecting, "LEAST_S", 1_000.0)
    begun.beat()
    left = _left_behind(died_on)
    kept = [[number] for number in range(collecting.YOUNG)]
    begun.beat()
    assert left() is None
    assert kept


def test_that_it_begins_once_and_ends_once(qapp: QApplication) -> None:
    one = Collecting()
    one.end()
    assert not gc.isenabled(), "tests of the window are without it"
    gc.enable()
    one.begin()
    one.begin()
    assert not gc.isenabled()
    one.end()
    assert gc.isenabled()
