"""The empty place that teaches: what is missing, since when, until when, and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from services.types import Health
from widgets.common.controls.boxes import HealthMark, button
from widgets.common.controls.labels import label
from widgets.common.controls.wrap_row import WrapRow
from widgets.common.look.fonts import px
from widgets.common.look.theme import theme_holder


@dataclass(frozen=True, slots=True)
class EmptyAction:
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
        self._ways: tuple[EmptyAction, ...] = ()
        self._row = WrapRow()
        inner = QVBoxLayout()
        inner.setSpacing(8)
        inner.addWidget(self._mark)
        inner.addWidget(self._title)
        inner.addWidget(self._text)
        inner.addWidget(self._tries)
        inner.addSpacing(8)
        inner.addWidget(self._row)
        block = QWidget()
        block.setLayout(inner)
        self._block, self._width = block, width
        self._fit_text()
        theme_holder().sized.connect(self._fit_text)
        middle = QHBoxLayout()
        middle.addStretch(1)
        middle.addWidget(block, 1000)  # its whole width wherever the place has that
        middle.addStretch(1)
        outer = QVBoxLayout(self)
        outer.addStretch(2)
        outer.addLayout(middle)
        outer.addStretch(3)

    def _fit_text(self) -> None:
        self._block.setMaximumWidth(px(self._width))

    def say(
        self,
        title: str,
        text: str = "",
        *,
        tries: Sequence[str] = (),
        ways: Sequence[EmptyAction] = (),
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
        self._row.drop_all()
        for i, way in enumerate(self._ways):
            made = button(way.text, "primary" if way.primary else "", hint=way.hint)
            made.clicked.connect(lambda _=False, index=i: self.chosen.emit(index))
            self._row.add(made)
        self._row.setVisible(bool(self._ways))


def _put(words: QLabel, text: str) -> None:
    if words.text() != text:
        words.setText(text)
    words.setVisible(bool(text))
