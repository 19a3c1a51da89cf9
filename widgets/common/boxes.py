"""Small parts every page is built of: buttons, hairlines, the message bar, the page that teaches when it is empty."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from services.types import Health
from widgets.common.glyphs import WORDS, glyph
from widgets.common.labels import label, set_kind
from widgets.common.theme import current_theme, theme_holder


def button(text: str, kind: str = "", *, on: Callable[[], object] | None = None, hint: str = "") -> QPushButton:
    """Return a push button of the style sheet's `kind`; `hint` is its tooltip and spoken description."""
    made = QPushButton(text)
    made.setProperty("kind", kind)
    made.setAutoDefault(False)
    if hint:
        made.setToolTip(hint)
        made.setAccessibleDescription(hint)
    if on is not None:
        made.clicked.connect(lambda _checked=False: on())
    return made


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
        self.setFixedSize(size, size)
        self.setAccessibleName(WORDS[health])
        theme_holder().changed.connect(self.update)

    def set_health(self, health: Health) -> None:
        """Show another state."""
        if health is not self._health:
            self._health = health
            self.setAccessibleName(WORDS[health])
            self.update()

    def sizeHint(self) -> QSize:
        """Return the fixed size."""
        return QSize(self._size, self._size)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the shape."""
        del event
        painter = QPainter(self)
        glyph(painter, QRectF(0, 0, self._size, self._size), self._health, current_theme())


class MessageBar(QFrame):
    """A strip that says something is not as it should be: shape, words on a tint, at most one action."""

    acted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._health = Health.WARN
        self._mark = HealthMark(Health.WARN)
        self._words = label("", wrap=True)
        self._words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._action = button("", on=self.acted.emit)
        self._action.hide()
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 8, 12, 8)
        row.setSpacing(8)
        row.addWidget(self._mark, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self._words, 1)
        row.addWidget(self._action, 0, Qt.AlignmentFlag.AlignTop)
        theme_holder().changed.connect(self._dress)
        self.hide()

    def say(self, health: Health, sentences: Sequence[str], action: str = "") -> None:
        """Show these sentences, one a line; an empty sequence hides the bar."""
        text = "\n".join(sentences)
        if self._words.text() != text:
            self._words.setText(text)
            self.setAccessibleName(text)
        self._health = health
        self._mark.set_health(health)
        self._action.setText(action)
        self._action.setVisible(bool(action))
        self._dress()
        self.setVisible(bool(sentences))

    def text(self) -> str:
        """Return what is shown."""
        return self._words.text()

    def _dress(self) -> None:
        theme = current_theme()
        ground, ink = theme.health_tint(self._health).name(), theme.health(self._health).name()
        box = f"MessageBar {{ background: {ground}; border: none; border-radius: 8px; }}"
        sheet = f"{box} MessageBar > QLabel {{ color: {ink}; }}"
        if sheet != self.styleSheet():
            self.setStyleSheet(sheet)


@dataclass(frozen=True, slots=True)
class Way:
    """One way out of an empty page: what the button says, what it will do."""

    text: str
    hint: str = ""
    primary: bool = False


class EmptyState(QWidget):
    """An empty place that says what is missing, since when, and what to do. `chosen` gives the way's index."""

    chosen = Signal(int)

    def __init__(self, width: int = 440) -> None:
        super().__init__()
        self._mark = HealthMark(Health.UNKNOWN, 20)
        self._title = label("", "title", wrap=True)
        self._text = label("", "second", wrap=True)
        self._tries = label("", "second", wrap=True)
        for words in (self._title, self._text, self._tries):
            words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._ways: tuple[Way, ...] = ()
        self._row = QHBoxLayout()
        self._row.setSpacing(8)
        inner = QVBoxLayout()
        inner.setSpacing(8)
        inner.addWidget(self._mark)
        inner.addWidget(self._title)
        inner.addWidget(self._text)
        inner.addWidget(self._tries)
        inner.addSpacing(8)
        inner.addLayout(self._row)
        block = QWidget()
        block.setLayout(inner)
        block.setFixedWidth(width)
        middle = QHBoxLayout()
        middle.addStretch(1)
        middle.addWidget(block)
        middle.addStretch(1)
        outer = QVBoxLayout(self)
        outer.addStretch(2)
        outer.addLayout(middle)
        outer.addStretch(3)

    def say(
        self,
        title: str,
        text: str = "",
        *,
        tries: Sequence[str] = (),
        ways: Sequence[Way] = (),
        health: Health = Health.UNKNOWN,
    ) -> None:
        """Show the words; `tries` are sentences of advice, `ways` become buttons."""
        self._mark.set_health(health)
        _put(self._title, title)
        _put(self._text, text)
        _put(self._tries, "\n".join(tries))
        self.setAccessibleName(f"{title} {text}")
        if tuple(ways) != self._ways:
            self._ways = tuple(ways)
            self._rebuild_ways()

    def texts(self) -> tuple[str, str, str]:
        """Return title, text and advice as shown."""
        return self._title.text(), self._text.text(), self._tries.text()

    def _rebuild_ways(self) -> None:
        while (item := self._row.takeAt(0)) is not None:
            if (old := item.widget()) is not None:
                old.deleteLater()
        for i, way in enumerate(self._ways):
            made = button(way.text, "primary" if way.primary else "", hint=way.hint)
            made.clicked.connect(lambda _=False, index=i: self.chosen.emit(index))
            self._row.addWidget(made)
        self._row.addStretch(1)


def _put(words: QLabel, text: str) -> None:
    if words.text() != text:
        words.setText(text)
    words.setVisible(bool(text))


__all__ = ["EmptyState", "HealthMark", "MessageBar", "Way", "button", "hairline", "label", "set_kind"]
