"""Small parts the pages of procedures share: wrapped words, a strip on a tint, emptying a layout."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QLabel, QLayout

from services.types import Health
from widgets.common.controls.labels import label
from widgets.common.look.theme import current_theme, theme_holder


def text_label(text: str, kind: str = "") -> QLabel:
    """Return a label that wraps, can be marked with the mouse and hides while it has nothing to say."""
    made = label(text, kind, wrap=True)
    made.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    if not text:
        made.hide()
    return made


def put(shown: QLabel, text: str) -> None:
    """Change a label's words in place; an empty label is not shown."""
    if shown.text() != text:
        shown.setText(text)
    shown.setVisible(bool(text))


def emptied(layout: QLayout) -> None:
    """Take everything out of a layout and let it go."""
    while (item := layout.takeAt(0)) is not None:
        if (old := item.widget()) is not None:
            old.hide()
            old.deleteLater()
        elif (inner := item.layout()) is not None:
            emptied(inner)


class TintedFrame(QFrame):
    """A box on a state's tint; it follows the theme."""

    def __init__(self, health: Health = Health.WARN) -> None:
        super().__init__()
        self._health = health
        self.setObjectName("tinted")
        theme_holder().changed.connect(self._dress)
        self._dress()

    def set_health(self, health: Health) -> None:
        """Stand on another state's tint."""
        self._health = health
        self._dress()

    def _dress(self) -> None:
        theme = current_theme()
        sheet = (
            f"QFrame#tinted {{ background: {theme.health_tint(self._health).name()}; border: 1px solid "
            f"{theme.health_fill(self._health).name()}; border-radius: 8px; }}"
        )
        if sheet != self.styleSheet():
            self.setStyleSheet(sheet)
