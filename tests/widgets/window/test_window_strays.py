"""A part that is shown before it has its place is a window: it flashes and takes the keyboard from the real one."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.window.main_window import MainWindow
from widgets.charts.page import ChartsPage
from widgets.journal.page import JournalPage


class Strays(QObject):
    """Notes every widget that is shown as a window."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Show and isinstance(watched, QWidget) and watched.isWindow():
            self.seen.append(type(watched).__name__)
        return False


def test_that_no_part_of_the_window_is_a_window_while_it_is_made(qtbot: QtBot, qapp: QApplication) -> None:
    strays = Strays()
    qapp.installEventFilter(strays)
    window, journal, charts = MainWindow(), JournalPage(), ChartsPage()
    qapp.removeEventFilter(strays)
    for made in (window, journal, charts):
        qtbot.addWidget(made)
    assert strays.seen == []
