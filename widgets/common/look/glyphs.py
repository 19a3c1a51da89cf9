"""A state's shape, so that it is never told by colour alone: circle, half circle, triangle, cut square, dashed ring."""

from __future__ import annotations

import math
from functools import lru_cache

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPainterPathStroker, QPolygonF, QTransform

from services.i18n import mark
from services.types import Health
from widgets.common.look.fonts import px
from widgets.common.look.theme import Theme

WORDS = {
    Health.GOOD: mark("good"),
    Health.TRANSFER: mark("in transfer"),
    Health.WARN: mark("warning"),
    Health.BAD: mark("bad"),
    Health.UNKNOWN: mark("not known"),
}


@lru_cache(maxsize=8)
def _shape(health: Health) -> QPainterPath:
    """Return a state's shape as one filled path in a unit square; built once, painted often."""
    path = QPainterPath()
    if health is Health.GOOD:
        path.addEllipse(QRectF(0.04, 0.04, 0.92, 0.92))
    elif health is Health.TRANSFER:
        path = _ring(dashes=0)
        half = QPainterPath(QPointF(0.5, 0.09))
        half.arcTo(QRectF(0.09, 0.09, 0.82, 0.82), 90, 180)
        half.closeSubpath()
        path = path.united(half)
    elif health is Health.WARN:
        path.addPolygon(QPolygonF([QPointF(0.5, 0.04), QPointF(1.0, 0.94), QPointF(0.0, 0.94)]))
        path.closeSubpath()
    elif health is Health.BAD:
        # Two halves with a real gap between them: the cut shows on every ground.
        gap = 0.13
        path.addPolygon(QPolygonF([QPointF(0.06, 0.06), QPointF(0.94 - gap, 0.06), QPointF(0.06, 0.94 - gap)]))
        path.closeSubpath()
        path.addPolygon(QPolygonF([QPointF(0.94, 0.94), QPointF(0.06 + gap, 0.94), QPointF(0.94, 0.06 + gap)]))
        path.closeSubpath()
    else:
        path = _ring(dashes=8)
    return path


def _ring(*, dashes: int) -> QPainterPath:
    """Return a ring, whole or of so many dashes, as a filled path."""
    width = 0.12
    circle = QPainterPath()
    circle.addEllipse(QRectF(0.1, 0.1, 0.8, 0.8))
    stroker = QPainterPathStroker()
    stroker.setWidth(width)
    stroker.setCapStyle(Qt.PenCapStyle.FlatCap)
    stroker.setCurveThreshold(0.01)
    if dashes:
        piece = math.pi * 0.8 / width / dashes  # the pattern's unit is the stroke's width
        stroker.setDashPattern([piece * 0.6, piece * 0.4])
    return stroker.createStroke(circle)


def shape_path(health: Health, rect: QRectF) -> QPainterPath:
    """Return a state's shape inside `rect`, for painters that draw very many."""
    return QTransform().translate(rect.x(), rect.y()).scale(rect.width(), rect.height()).map(_shape(health))


def shape_box(left: float, middle: float, size: float = 11.0) -> QRectF:
    """Return the square of a shape beside words, in their size: its left edge, and the middle of its height."""
    side = px(size)
    return QRectF(left, middle - side / 2, side, side)


def glyph(painter: QPainter, rect: QRectF, health: Health, theme: Theme) -> None:
    """Paint the shape of `health` into `rect` (square, 8 px or more). Leaves pen, brush and hints as they were."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.translate(rect.topLeft())
    painter.scale(rect.width(), rect.height())
    painter.fillPath(_shape(health), theme.health_fill(health))
    painter.restore()
