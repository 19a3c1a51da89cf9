"""Somebody who scrolls a form changes nothing in it: a field takes the wheel only while it is written in."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox, QPushButton, QScrollArea, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from widgets.common.controls.spin import Spin
from widgets.common.look.theme import apply_theme
from widgets.inventory.connection_dialog import ConnectionDialog

NOTCH = 120


@pytest.fixture
def dialog(qtbot: QtBot, qapp: QApplication) -> ConnectionDialog:
    apply_theme(qapp, "light")
    made = ConnectionDialog()
    made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(made)
    made.resize(880, 420)
    with qtbot.waitActive(made):
        made.show()
        made.activateWindow()
    return made


def turn(qapp: QApplication, field: QWidget, notches: int) -> None:
    """Turn the wheel over a field as a window system tells of it: from the window down, focus and all."""
    at = field.mapTo(field.window(), field.rect().center())
    for _ in range(abs(notches)):
        delta = QPoint(0, NOTCH if notches > 0 else -NOTCH)
        QTest.wheelEvent(field.window().windowHandle(), QPointF(at), delta)
        qapp.processEvents()


def fields_of(place: QWidget) -> list[QComboBox]:
    return [box for box in place.findChildren(QComboBox) if box.isVisible() and box.isEnabled()]


def test_that_the_wheel_over_a_form_changes_no_choice_and_scrolls_the_form(
    qapp: QApplication, dialog: ConnectionDialog
) -> None:
    scroll = next(a for a in dialog.findChildren(QScrollArea) if a.widget() is dialog.form)
    before = dialog.form.draft().entry
    for box in fields_of(dialog.form):
        scroll.verticalScrollBar().setValue(0)
        scroll.ensureWidgetVisible(box)
        place = scroll.verticalScrollBar().value()
        turn(qapp, box, 1 if place == scroll.verticalScrollBar().maximum() else -1)
        assert scroll.verticalScrollBar().value() != place
        assert not box.hasFocus()
    assert dialog.form.draft().entry == before


def test_that_a_choice_which_has_the_focus_still_follows_the_wheel(
    qapp: QApplication, dialog: ConnectionDialog
) -> None:
    box = fields_of(dialog.form)[0]
    next(a for a in dialog.findChildren(QScrollArea) if a.widget() is dialog.form).ensureWidgetVisible(box)
    box.setFocus()
    turn(qapp, box, -1)
    assert box.currentIndex() == 1


def test_that_the_wheel_over_a_number_changes_it_only_while_it_is_written_in(qtbot: QtBot, qapp: QApplication) -> None:
    form = QWidget()
    column = QVBoxLayout(form)
    number, other = Spin(), QPushButton("Save")
    for part in (other, number):
        column.addWidget(part)
    qtbot.addWidget(form)
    with qtbot.waitActive(form):
        form.show()
        form.activateWindow()
    other.setFocus()
    turn(qapp, number, 3)
    assert (number.value(), number.hasFocus()) == (0, False)
    number.setFocus()
    turn(qapp, number, 3)
    assert number.value() == 3
