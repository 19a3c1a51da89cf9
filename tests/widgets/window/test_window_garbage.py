"""A closed window leaves nothing of Qt alive to Python's collector, which runs on whichever thread it likes."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from app.window.main_window import PAGES
from tests.widgets import builders as b
from tests.widgets.fake_sources import FakeLiveSource, open_window
from tests.widgets.steering_builders import scripted, steering_window


@contextmanager
def nothing_is_freed() -> Iterator[list[object]]:
    """Collect at the end only, and keep what would be freed in the list."""
    found: list[object] = []
    gc.collect()
    gc.disable()
    try:
        yield found
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        found.extend(gc.garbage)
    finally:
        gc.set_debug(0)
        gc.garbage.clear()


@pytest.fixture
def plain(qtbot: QtBot, qapp: QApplication) -> Callable[[], None]:
    def use() -> None:
        with open_window(qapp, FakeLiveSource(b.estate(b.sst_running()))) as opened:
            for key, _ in PAGES:
                opened.window.show_page(key)
                qapp.processEvents()
            qtbot.waitUntil(lambda: not opened.ops.busy())

    return use


@pytest.fixture
def steering(qtbot: QtBot, qapp: QApplication, tmp_path: Path) -> Callable[[], None]:
    def use() -> None:
        with steering_window(qtbot, qapp, tmp_path, scripted()) as person:
            person.runs_to_the_question()
            person.presses(person.wizard.question, "Yes, continue")
            person.waits(lambda: not person.steering.runs.driven)
            person.presses(person.wizard, "Close")

    return use


@pytest.mark.parametrize("kind", ["plain", "steering"])
def test_that_a_closed_window_leaves_the_collector_nothing_that_lives(
    kind: str, request: pytest.FixtureRequest
) -> None:
    use: Callable[[], None] = request.getfixturevalue(kind)
    with nothing_is_freed() as found:
        use()
    objects = [thing for thing in found if isinstance(thing, QObject)]
    assert objects, "nothing was collected: the window is still held by somebody"
    assert [f"{type(thing).__name__} {thing.objectName()}" for thing in objects if isValid(thing)] == []
