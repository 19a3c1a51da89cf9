"""The stretches of time that are being compared, shaded under the curves of every chart, each with its word."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen

from services.drawing.curve import x_of
from services.i18n import tr
from widgets.charts.compare.marks import Side
from widgets.charts.plots.state import PlotState
from widgets.common.look.fonts import SMALL, px, small_width
from widgets.common.look.theme import Theme, with_alpha
from widgets.common.time_axis.pixels import pixel

_ALPHA: dict[Side, float] = {"before": 0.10, "after": 0.20}
"""After is darker than before; the word says which it is."""
_PAD = 4.0


def paint_marks(painter: QPainter, state: PlotState, frame: QRectF, theme: Theme) -> None:
    """Paint what is in sight of the marked stretches."""
    for start, end, side in state.marks:
        first, last = (x_of(at, state.start, state.end, frame.left(), frame.width()) for at in (start, end))
        left, right = pixel(max(first, frame.left())), pixel(min(last, frame.right()))
        if right < left:
            continue
        shaded = QRectF(left, frame.top(), right - left, frame.height())
        painter.fillRect(shaded, with_alpha(theme.accent, _ALPHA[side]))
        painter.setPen(QPen(theme.accent, 1))
        for x in {pixel(first), pixel(last)}:
            if frame.left() <= x <= frame.right():
                painter.drawLine(QPointF(x, frame.top()), QPointF(x, frame.bottom()))
        _word(painter, shaded, tr("before") if side == "before" else tr("after"), theme)


def _word(painter: QPainter, shaded: QRectF, word: str, theme: Theme) -> None:
    """Write it into the upper corner, under the curves, where it has room."""
    if small_width(word) + 2 * _PAD <= shaded.width():
        painter.setPen(theme.accent)
        box = shaded.adjusted(_PAD, 1, -_PAD, 0)
        box.setHeight(px(SMALL) + 4)
        painter.drawText(box, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, word)
