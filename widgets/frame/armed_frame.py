"""The frame around the window while sessions may change servers: 3 px, unmistakable, in nobody's way."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QRect, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QRegion
from PySide6.QtWidgets import QWidget

from services.i18n import tr
from widgets.common.look.theme import current_theme, theme_holder

WIDTH = 3


class ArmedFrame(QWidget):
    """Lies over its window's edge, takes no click and no focus; hidden until `set_armed(True)`."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAccessibleName(tr("Armed: this window may change servers"))
        theme_holder().changed.connect(self.update)
        window.installEventFilter(self)
        self.hide()

    def set_armed(self, armed: bool) -> None:
        """Show or hide the frame."""
        self._fit()
        self.setVisible(armed)
        self.raise_()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the window's size, and stay on top of what is added to it."""
        if event.type() is QEvent.Type.Resize:
            self._fit()
        elif event.type() is QEvent.Type.ChildAdded and self.isVisible():
            self.raise_()
        return super().eventFilter(watched, event)

    def _fit(self) -> None:
        box = self._window.rect()
        self.setGeometry(box)
        # Only the edge is this widget's: what lies inside repaints without it.
        self.setMask(QRegion(box).subtracted(QRegion(box.adjusted(WIDTH, WIDTH, -WIDTH, -WIDTH))))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Fill the edge."""
        del event
        painter = QPainter(self)
        painter.fillRect(QRect(0, 0, self.width(), self.height()), current_theme().warn_fill)
        painter.end()
