"""What several files of widget tests share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.window.main_window import MainWindow
from tests.widgets import builders_procedures as p
from tests.widgets.add_host_person import Person
from widgets.common.look.text import speak_of_past
from widgets.common.look.theme import apply_text_size, apply_theme
from widgets.procedures.run.wizard import WizardPage


@pytest.fixture(autouse=True)
def _present() -> Iterator[None]:
    """A test that showed a recording leaves no window that speaks of the past."""
    yield
    speak_of_past(past=False)


@pytest.fixture
def text_size(qapp: QApplication) -> Iterator[Callable[[int], None]]:
    """Gives text a size in percent, for this test."""
    yield partial(apply_text_size, qapp)
    apply_text_size(qapp, 100)


@pytest.fixture
def wizard(qtbot: QtBot, qapp: QApplication) -> WizardPage:
    """A wizard in an active window."""
    apply_theme(qapp, "light")
    made = WizardPage(lambda: p.NOW)
    made.set_about(p.ABOUTS[0])
    made.resize(1208, 828)
    qtbot.addWidget(made)
    with qtbot.waitActive(made):
        made.show()
        made.activateWindow()
    return made


@pytest.fixture
def person(qtbot: QtBot, qapp: QApplication, tmp_path: Path) -> Person:
    """Somebody before a small window, about to add a host."""
    apply_theme(qapp, "light")
    window = MainWindow()
    window.resize(960, 600)
    qtbot.addWidget(window)
    window.show()
    return Person(qtbot, window, tmp_path / "conf" / "inventory.toml")
