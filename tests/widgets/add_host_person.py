"""Somebody before the add-host dialog. The window's background calls are answered by the test, as hosts would."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app.vault import SessionVault
from app.window.hosts.add_host import AddHost
from app.window.main_window import MainWindow
from services.connections.probe.test import Step
from services.inventory.model import HostEntry
from tests.widgets.fake_sources import FakeOps
from widgets.bridge.ops import Ops
from widgets.inventory.connection_dialog import ConnectionDialog

LONG = "Not configured: data only for root (logs, /proc of other users) is not shown."
RESULTS = (
    Step("name", "Name", "passed", "db1 is 10.20.0.11."),
    Step("tcp", "SSH port", "passed", "db1 port 22 answers as SSH."),
    Step("host-key", "Host key", "passed", LONG),
    Step("ssh-login", "SSH login", "passed", "Logged in as dba by key."),
    Step("sudo", "sudo", "skipped", "Not configured."),
    Step("sql-tcp", "Database port", "passed", "A server answers."),
    Step("sql-login", "Database login", "passed", LONG),
    Step("tls", "TLS", "warned", "Not encrypted."),
    Step("rights", "Rights", "passed", "Everything."),
)


class Person:
    """Somebody before the dialog; hosts answer when the test says so."""

    def __init__(self, qtbot: QtBot, window: MainWindow, path: Path) -> None:
        self.qtbot = qtbot
        self.window = window
        self.path = path
        self.ops = FakeOps()
        self.vault = SessionVault()
        self.hosts = AddHost(window, cast("Ops", self.ops), self.vault, path, window)
        self.added: list[tuple[HostEntry, ...]] = []
        self.hosts.added.connect(self.added.append)

    def opens(self, entry: HostEntry | None = None) -> ConnectionDialog:
        if entry is None:
            self.hosts.open()
        else:
            self.hosts.edit(entry)
        made = self.dialog()
        made.activateWindow()
        self.qtbot.waitUntil(lambda: QApplication.activeWindow() is made)
        return made

    def dialog(self) -> ConnectionDialog:
        return next(d for d in self.window.findChildren(ConnectionDialog) if d.isVisible())

    def fills(self) -> ConnectionDialog:
        dialog = self.opens()
        dialog.form.address.setText("db1")
        dialog.form.sql_user.setText("monitor")
        return dialog

    def presses(self, text: str) -> None:
        button(self.dialog(), text).click()

    def hears(self, *steps: Step) -> None:
        """Hear the answers one by one, as the worker tells them."""
        for step in steps:
            self.hosts._stepped.emit(self.hosts._tests, step)
            QApplication.processEvents()

    def key(self, key: Qt.Key) -> None:
        focused = QApplication.focusWidget()
        assert focused is not None
        QTest.keyClick(focused, key)

    def tabs_to(self, wanted: QWidget) -> None:
        for _ in range(60):
            if QApplication.focusWidget() is wanted:
                return
            self.key(Qt.Key.Key_Tab)
        raise AssertionError(wanted.accessibleName())

    def types(self, text: str) -> None:
        focused = QApplication.focusWidget()
        assert isinstance(focused, QLineEdit)
        QTest.keyClicks(focused, text)


def button(dialog: QWidget, text: str) -> QPushButton:
    return next(b for b in dialog.findChildren(QPushButton) if b.text().startswith(text))
