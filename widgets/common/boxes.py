"""Small parts every page is built of: buttons, hairlines, a state's shape as a widget."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QFrame,
    QPushButton,
    QSizePolicy,
    QStyle,
    QStyleOptionButton,
    QStylePainter,
    QWidget,
)

from services.types import Health
from services.words import tr
from widgets.common.glyphs import WORDS, glyph
from widgets.common.plain import set_tip
from widgets.common.theme import current_theme, theme_holder


def button(text: str, kind: str = "", *, on: Callable[[], object] | None = None, hint: str = "") -> QPushButton:
    """Return a push button of the style sheet's `kind`; `hint` is its tooltip and spoken description."""
    made = QPushButton(text)
    made.setProperty("kind", kind)
    made.setAutoDefault(False)
    if hint:
        set_tip(made, hint)
        made.setAccessibleDescription(hint)
    if on is not None:
        made.clicked.connect(lambda _checked=False: on())
    return made


class CutButton(QPushButton):
    """A button as wide as its place, whose words are cut where they don't fit; the tooltip has the whole."""

    def __init__(self, text: str, *, hint: str = "") -> None:
        super().__init__(text)
        self._hint = hint
        self.setAutoDefault(False)
        self.setAccessibleDescription(hint)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def shown_text(self) -> str:
        """Return the words as cut for the present width."""
        return self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, self.width() - 28)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint as Qt does (QPushButton::paintEvent), with the words that fit."""
        del event
        painter = QStylePainter(self)
        option = QStyleOptionButton()
        self.initStyleOption(option)
        option.text = self.shown_text()
        painter.drawControl(QStyle.ControlElement.CE_PushButton, option)
        painter.end()

    def event(self, event: QEvent) -> bool:
        """Offer the whole text as tooltip where it does not fit, and the hint."""
        if event.type() is QEvent.Type.ToolTip:
            cut = self.shown_text() != self.text()
            set_tip(self, "\n".join(p for p in (self.text() if cut else "", self._hint) if p))
        return super().event(event)


def hairline(kind: str = "hairline") -> QFrame:
    """Return a line of one pixel between regions ("vline" stands upright)."""
    line = QFrame()
    line.setProperty("kind", kind)
    return line


class HealthMark(QWidget):
    """A state's shape as a widget of its own."""

    def __init__(self, health: Health = Health.UNKNOWN, size: int = 12) -> None:
        super().__init__()
        self._health = health
        self._size = size
        self._owner = ""
        self.setFixedSize(size, size)
        self._speak()
        theme_holder().changed.connect(self.update)

    def set_health(self, health: Health) -> None:
        """Show another state."""
        if health is not self._health:
            self._health = health
            self._speak()
            self.update()

    def set_owner(self, owner: str) -> None:
        """Name whose state it is, for who hears it."""
        if owner != self._owner:
            self._owner = owner
            self._speak()

    def _speak(self) -> None:
        word = tr(WORDS[self._health])
        self.setAccessibleName(f"{word}, {self._owner}" if self._owner else word)

    def sizeHint(self) -> QSize:
        """Return the fixed size."""
        return QSize(self._size, self._size)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the shape."""
        del event
        painter = QPainter(self)
        glyph(painter, QRectF(0, 0, self._size, self._size), self._health, current_theme())
        painter.end()
