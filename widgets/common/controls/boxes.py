"""Small parts every page is built of: buttons, hairlines, a state's shape as a widget."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QFrame,
    QPushButton,
    QSizePolicy,
    QStyle,
    QStyleOptionButton,
    QStylePainter,
    QWidget,
)

from services.i18n import tr
from services.types import Health
from widgets.common.controls.plain import set_tip
from widgets.common.look.fonts import px
from widgets.common.look.glyphs import WORDS, glyph
from widgets.common.look.theme import current_theme, theme_holder

_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class PressButton(QPushButton):
    """A button that Enter presses as Space does, on every platform; a key that is held presses it once.

    Qt leaves Enter to the desktop's theme (QPlatformTheme::ButtonPressKeys): GNOME's has it, a bare X server's has not,
    and in a dialog Enter would press the default button in place of the one that has the keys.
    """

    def __init__(self, text: str = "") -> None:
        super().__init__(text)
        self.setAutoDefault(False)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Press it."""
        if event.key() not in _ENTER:
            super().keyPressEvent(event)
        elif not event.isAutoRepeat():
            self.click()


def button(text: str, kind: str = "", *, on: Callable[[], object] | None = None, hint: str = "") -> QPushButton:
    """Return a push button of the style sheet's `kind`; `hint` is its tooltip and spoken description."""
    made = PressButton(text)
    made.setProperty("kind", kind)
    if hint:
        set_tip(made, hint)
        made.setAccessibleDescription(hint)
    if on is not None:
        made.clicked.connect(lambda _checked=False: on())
    return made


class CutButton(PressButton):
    """A button as wide as its place: its words stand in two lines where one has no room, and are cut where two have
    none; the tooltip has the whole."""

    def __init__(self, text: str, *, hint: str = "") -> None:
        super().__init__(text)
        self._hint = hint
        self.setAccessibleDescription(hint)
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)  # Fixed: one line, always
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def shown_text(self) -> str:
        """Return the words as broken, and cut, for the present width."""
        return "\n".join(self._lines(self.width()))

    def hasHeightForWidth(self) -> bool:
        """Its height follows from its width."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Return the height of one line or two."""
        more = len(self._lines(width)) - 1
        return self.sizeHint().height() + more * self.fontMetrics().lineSpacing()

    def _lines(self, width: int) -> list[str]:
        metrics, room, text = self.fontMetrics(), width - 28, self.text()
        if metrics.horizontalAdvance(text) <= room:
            return [text]
        words = text.split(" ")
        fits = [n for n in range(1, len(words)) if metrics.horizontalAdvance(" ".join(words[:n])) <= room]
        first, rest = (" ".join(words[: fits[-1]]), " ".join(words[fits[-1] :])) if fits else ("", text)
        cut = metrics.elidedText(rest, Qt.TextElideMode.ElideRight, room)
        return [first, cut] if first else [cut]

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
            cut = self.shown_text().replace("\n", " ") != self.text()
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
        self._fit_text()
        theme_holder().sized.connect(self._fit_text)
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

    def _fit_text(self) -> None:
        """A shape is as large as the words it stands beside."""
        self.setFixedSize(px(self._size), px(self._size))

    def sizeHint(self) -> QSize:
        """Return the fixed size."""
        return QSize(px(self._size), px(self._size))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the shape."""
        del event
        painter = QPainter(self)
        glyph(painter, QRectF(0, 0, px(self._size), px(self._size)), self._health, current_theme())
        painter.end()
