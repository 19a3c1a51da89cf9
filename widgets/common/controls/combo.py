"""A box of choices whose words end in an ellipsis where they have no room; Qt's own cuts a letter in two."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QPaintEvent, QWheelEvent
from PySide6.QtWidgets import QComboBox, QStyle, QStyleOptionComboBox, QStylePainter

from widgets.common.controls.plain import set_tip
from widgets.common.controls.spin import is_for_form, leave_wheel_to_form


class Combo(QComboBox):
    """The whole text is in the tooltip; somebody who scrolls past it does not choose."""

    def __init__(self) -> None:
        super().__init__()
        leave_wheel_to_form(self)
        self.currentTextChanged.connect(self._tell_whole)

    def _tell_whole(self, text: str) -> None:
        set_tip(self, text)

    def shown_text(self) -> str:
        """Return the chosen text as it is painted."""
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        return self._cut(option)

    def _cut(self, option: QStyleOptionComboBox) -> str:
        style = self.style()
        part = QStyle.SubControl.SC_ComboBoxEditField
        room = style.subControlRect(QStyle.ComplexControl.CC_ComboBox, option, part, self).width()
        return self.fontMetrics().elidedText(self.currentText(), Qt.TextElideMode.ElideRight, room - 2)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Choose only where the keys are."""
        if not is_for_form(self, event):
            super().wheelEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint as Qt does, with the words that fit (QComboBox::paintEvent)."""
        del event
        painter = QStylePainter(self)
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        option.currentText = self._cut(option)
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)
        painter.end()
