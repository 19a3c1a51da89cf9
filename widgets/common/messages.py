"""The message bar: a strip that says something is not as it should be, in sentences, with at most one action."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout

from services.errors import UserError
from services.types import Health
from widgets.common.controls.boxes import HealthMark, button
from widgets.common.controls.labels import label
from widgets.common.look.theme import current_theme, theme_holder


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
        self._words.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        self._mark_place = QVBoxLayout()
        self._mark_place.addWidget(self._mark, 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(self._mark_place)
        row.addWidget(self._words, 1)
        row.addWidget(self._action, 0, Qt.AlignmentFlag.AlignTop)
        theme_holder().changed.connect(self._dress)
        theme_holder().sized.connect(self._align)
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
        self._align()
        self._dress()
        self.setVisible(bool(sentences))

    def say_error(self, error: UserError, action: str = "") -> None:
        """Show what happened, what is safe, and what to try."""
        self.say(Health.BAD, (str(error), error.safe, *error.try_), action)

    def text(self) -> str:
        """Return what is shown."""
        return self._words.text()

    def _align(self) -> None:
        """Let shape, first line and button have one middle, however many lines follow."""
        line = self._words.fontMetrics().lineSpacing()
        high = line if self._action.isHidden() else max(line, self._action.sizeHint().height())
        self._words.setContentsMargins(0, (high - line) // 2, 0, 0)
        self._mark_place.setContentsMargins(0, (high - self._mark.height()) // 2, 0, 0)

    def _dress(self) -> None:
        theme = current_theme()
        ground, ink = theme.health_tint(self._health).name(), theme.health(self._health).name()
        box = f"MessageBar {{ background: {ground}; border: none; border-radius: 8px; }}"
        sheet = f"{box} MessageBar > QLabel {{ color: {ink}; }}"
        if sheet != self.styleSheet():
            self.setStyleSheet(sheet)
