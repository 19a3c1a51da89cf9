"""A small curve without axes: shape only, the numbers stand beside it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QTransform

from services.drawing.curve import stretches
from widgets.common.look.theme import with_alpha


class Spark:
    """The curve of one series inside one rectangle: paths are built once, on any thread, and painted often.

    Attributes: values, rect: what it was made of; nothing changes afterwards.
    """

    __slots__ = ("_areas", "_line", "rect", "values")

    def __init__(self, values: Sequence[float], rect: QRectF) -> None:
        """Build the paths; NaN is a gap. The scale starts at zero unless the values are far from it."""
        self.values, self.rect = tuple(values), rect
        self._line = QPainterPath()
        self._areas = QPainterPath()
        finite = [v for v in values if math.isfinite(v)]
        if len(finite) < 2:
            return
        low, high = min(finite), max(finite)
        if low >= 0 and low < high * 0.6:
            low = 0.0
        if high - low < 1e-9:
            high = low + 1.0  # a flat line lies on the ground
        step = rect.width() / (len(values) - 1)
        scale = rect.height() / (high - low)
        points = ((rect.x() + i * step, rect.bottom() - (value - low) * scale) for i, value in enumerate(values))
        for run in stretches(points):
            self._add(run, rect.bottom())

    @property
    def empty(self) -> bool:
        """Return whether there is nothing to draw."""
        return self._line.isEmpty()

    def fitted(self, rect: QRectF) -> Spark:
        """Return the same curve inside another rectangle, itself where it fits."""
        return self if rect == self.rect else Spark(self.values, rect)

    def _add(self, run: list[tuple[float, float]], ground: float) -> None:
        if len(run) < 2:
            return
        piece = QPainterPath()
        piece.moveTo(*run[0])
        for point in run[1:]:
            piece.lineTo(*point)
        self._line.addPath(piece)
        piece.lineTo(run[-1][0], ground)
        piece.lineTo(run[0][0], ground)
        piece.closeSubpath()
        self._areas.addPath(piece)

    def paint(self, painter: QPainter, color: QColor, into: QRectF | None = None) -> None:
        """Draw the curve over a light area of its colour, stretched into another rectangle where one is given."""
        line, areas = self._line, self._areas
        if into is not None and into != self.rect:
            fit = QTransform.fromTranslate(into.x(), into.y())
            fit.scale(into.width() / self.rect.width(), into.height() / self.rect.height())
            fit.translate(-self.rect.x(), -self.rect.y())
            line, areas = fit.map(line), fit.map(areas)
        painter.fillPath(areas, with_alpha(color, 0.12))
        pen = QPen(color, 1.25)
        pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        painter.strokePath(line, pen)
