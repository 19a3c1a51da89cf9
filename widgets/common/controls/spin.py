"""A field for a number, and whose the mouse wheel is over a field: its own while it is written in, else the form's."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QSpinBox, QWidget


def leave_wheel_to_form(field: QWidget) -> None:
    """Let the wheel give a field no focus: Qt's own fields take it, and the next notch changes their value."""
    field.setFocusPolicy(Qt.FocusPolicy.StrongFocus)


def is_for_form(field: QWidget, event: QWheelEvent) -> bool:
    """Tell whether a turn of the wheel scrolls what the field stands in; the event is then passed on to it."""
    if field.hasFocus():
        return False
    event.ignore()
    return True


class Spin(QSpinBox):
    """A number; somebody who scrolls past it does not change it."""

    def __init__(self) -> None:
        super().__init__()
        leave_wheel_to_form(self)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Change the number only where it is written in."""
        if not is_for_form(self, event):
            super().wheelEvent(event)
