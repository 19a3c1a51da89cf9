"""Enter presses the button that has the keys, on every page and in every dialog, as Space does."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtTest import QSignalSpy
from PySide6.QtWidgets import QApplication, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from services.inventory.model import HostEntry, SshAccess
from tests.widgets import builders as b
from tests.widgets.fake_sources import FakeLiveSource, open_window
from tests.widgets.inventory.test_connection_dialog_form import KEY
from widgets.common.controls.boxes import CutButton, PressButton
from widgets.common.empty import EmptyAction, EmptyState
from widgets.inventory.connection_dialog import ConnectionDialog
from widgets.inventory.first_run import FirstRunPage
from widgets.inventory.question import Question

ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
WAYS = {
    "Add a host": "add_host_requested", "Open the demo": "demo_requested", "MySQL Workbench": "import_requested",
    "Choose another inventory": "other_inventory_requested", "Create a new one…": "new_inventory_requested",
}  # fmt: skip


def named(widget: QWidget, text: str) -> QPushButton:
    return next(one for one in widget.findChildren(QPushButton) if text in one.text())


@pytest.mark.parametrize("key", ENTER)
@pytest.mark.parametrize("text", WAYS)
def test_that_enter_presses_every_way_in_of_the_first_page(qtbot: QtBot, text: str, key: Qt.Key) -> None:
    page = FirstRunPage("There is no inventory.")
    qtbot.addWidget(page)
    spy = QSignalSpy(getattr(page, WAYS[text]))
    qtbot.keyClick(named(page, text), key)
    assert spy.count() == 1


def test_that_enter_presses_what_an_empty_page_offers(qtbot: QtBot) -> None:
    empty = EmptyState()
    qtbot.addWidget(empty)
    empty.say("Nobody answers.", ways=(EmptyAction("Retry"), EmptyAction("Edit", primary=True)))
    spy = QSignalSpy(empty.chosen)
    qtbot.keyClick(named(empty, "Edit"), ENTER[0])
    assert spy.at(0) == [1]


def test_that_in_a_dialog_enter_presses_the_button_with_the_keys_and_not_the_default_one(qtbot: QtBot) -> None:
    dialog = ConnectionDialog(entry=HostEntry("db1", "10.20.0.11", ssh=SshAccess("dba")))
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(dialog)
    tests, saves = QSignalSpy(dialog.test_requested), QSignalSpy(dialog.save_requested)
    qtbot.keyClick(named(dialog, "Test"), ENTER[0])
    assert (tests.count(), saves.count()) == (1, 0)


def test_that_a_question_opens_on_its_refusal_and_enter_accepts_only_where_a_person_went(qtbot: QtBot) -> None:
    dialog = ConnectionDialog()
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(dialog)
    dialog.show()
    for tabs, accepted in ((0, False), (1, True)):
        asked = dialog.ask_host_key(KEY)
        assert isinstance(asked, Question)
        asked.activateWindow()
        qtbot.waitUntil(lambda asked=asked: QApplication.activeWindow() is asked)  # type: ignore[misc]
        spy = QSignalSpy(asked.answered)
        while tabs and asked.focusWidget() is not named(asked, "Accept"):
            qtbot.keyClick(asked.focusWidget() or asked, Qt.Key.Key_Tab)
        qtbot.keyClick(asked.focusWidget() or asked, ENTER[0])
        assert spy.at(0) == [KEY, accepted]


def test_that_a_key_that_is_held_presses_once(qtbot: QtBot) -> None:
    made = PressButton("Go")
    qtbot.addWidget(made)
    spy = QSignalSpy(made.clicked)
    for again in (False, True, True):
        none = Qt.KeyboardModifier.NoModifier
        QApplication.sendEvent(made, QKeyEvent(QEvent.Type.KeyPress, ENTER[0], none, "\r", again))
    assert spy.count() == 1


def test_that_every_button_of_the_window_is_one_that_enter_presses(qtbot: QtBot, qapp: QApplication) -> None:
    with open_window(qapp, FakeLiveSource(b.estate(b.healthy()))) as opened:
        made = opened.window.findChildren(QPushButton)
        assert len(made) > 10
        assert [one.text() for one in made if not isinstance(one, PressButton)] == []


def test_that_no_page_makes_a_button_of_another_kind() -> None:
    root = Path(__file__).parents[3]
    files = [path for folder in ("app", "widgets") for path in (root / folder).rglob("*.py")]
    others = ("= QPushButton(", "= QToolButton(")
    assert [path.name for path in files if any(other in path.read_text("utf-8") for other in others)] == []
    assert issubclass(CutButton, PressButton)
