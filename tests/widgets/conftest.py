"""What several files of widget tests share."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.widgets import builders_procedures as p
from widgets.common.theme import apply_theme
from widgets.procedures.wizard import WizardPage


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
