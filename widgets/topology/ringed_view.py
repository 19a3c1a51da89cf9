"""A view of a drawing that shows at its edge, and at its selected node, that it has the keys."""

from __future__ import annotations

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QFocusEvent, QPainter, QPen
from PySide6.QtWidgets import QGraphicsView

from widgets.topology.paint_state import PaintState


class RingedView(QGraphicsView):
    """Tells the items by their common state whether the focus is here."""

    def __init__(self, state: PaintState) -> None:
        super().__init__()
        self._state = state

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show where the arrows begin: a ring around the drawing and one around the selected node."""
        super().focusInEvent(event)
        self._state.focused = True
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Take the rings away."""
        super().focusOutEvent(event)
        self._state.focused = False
        self.viewport().update()

    def drawForeground(self, painter: QPainter, rect: QRectF | QRect) -> None:
        """Draw the ring at the edge of what is seen."""
        super().drawForeground(painter, rect)
        if self.hasFocus():
            painter.save()
            painter.resetTransform()
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(self._state.theme.accent, 2))
            painter.drawRect(self.viewport().rect().adjusted(1, 1, -1, -1))
            painter.restore()
