"""The sign of something that is switched on for a while and must be switched off again: a star of eight rays."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from widgets.common.look.theme import current_theme, theme_holder


def paint_duty(painter: QPainter, box: QRectF) -> None:
    """Draw the star into a square; leaves the painter as it was."""
    painter.save()
    pen = QPen(current_theme().transfer, 1.8)
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    painter.setPen(pen)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.translate(box.center())
    half = box.height() / 2 - 1
    for _ in range(4):
        painter.drawLine(QPointF(0, -half), QPointF(0, half))
        painter.rotate(45)
    painter.restore()


class DutyMark(QWidget):
    """The star as a widget; the words beside it say what it stands for."""

    def __init__(self, size: int = 14) -> None:
        super().__init__()
        self.setFixedSize(size, size)
        theme_holder().changed.connect(self.update)

    def sizeHint(self) -> QSize:
        """Return the fixed size."""
        return self.size()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the star."""
        del event
        painter = QPainter(self)
        paint_duty(painter, QRectF(self.rect()))
        painter.end()
