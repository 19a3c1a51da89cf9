"""A curve beside a run: title, round lines, where steps began, and the line that must not be crossed with its words."""

from __future__ import annotations

import math
from dataclasses import dataclass

from PySide6.QtCore import QLineF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from services.drawing.curve import Frame, ValueAxis, value_axis
from services.i18n import tr
from services.procedures.plan.model import Chart
from widgets.common.look.fonts import SMALL, STRONG, drawn_font, px, text_percent
from widgets.common.look.text import format_bytes, format_clock, format_number
from widgets.common.look.theme import current_theme, curve_color, theme_holder, with_alpha
from widgets.common.time_axis.ticks import time_ticks
from widgets.procedures.values import Curve

HEIGHT = 156
_LEFT, _TOP, _RIGHT, _BOTTOM = 58.0, 44.0, 14.0, 26.0
_BYTES = "B"
_INTERVALS = 3
_STILL_NOW_S = 5.0
"""A server is sampled each second, and asked anew within some seconds after a break."""


@dataclass(frozen=True, slots=True)
class StepMark:
    """A thin upright line at a moment, with its words."""

    at: float
    text: str


class MiniPlot(QWidget):
    """Paints itself; a new curve, marks or theme repaint it."""

    def __init__(self, chart: Chart) -> None:
        super().__init__()
        self._chart, self._color = chart, 0
        self._curve = Curve()
        self._marks: tuple[StepMark, ...] = ()
        self._shared: tuple[float, float] | None = None
        self._fit_text()
        theme_holder().sized.connect(self._fit_text)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(self._title())
        theme_holder().changed.connect(self.update)

    def _fit_text(self) -> None:
        self.setMinimumHeight(px(HEIGHT))
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        """Return the height in which three ticks read."""
        return QSize(300, px(HEIGHT))

    @property
    def chart(self) -> Chart:
        """Return what the curve is of."""
        return self._chart

    def set_color(self, index: int) -> None:
        """Take the curve colour that the node has on every page."""
        if index != self._color:
            self._color = index
            self.update()

    def set_curve(self, curve: Curve) -> None:
        """Show a curve."""
        self._curve = curve
        self.setAccessibleDescription(self._spoken())
        self.update()

    def set_span(self, span: tuple[float, float] | None) -> None:
        """Show this span: that of all curves beside a run; None, the curve's own."""
        if span != self._shared:
            self._shared = span
            self.update()

    def own_span(self) -> tuple[float, float] | None:
        """Return first and last moment of the curve; None while it has none."""
        times = self._curve.times
        return (times[0], max(times[-1], times[0] + 1.0)) if len(times) else None

    def x_at(self, at: float) -> float:
        """Return the pixel of a moment."""
        return self._frame().x(at) * (text_percent() / 100)

    def set_marks(self, marks: tuple[StepMark, ...]) -> None:
        """Show where steps began."""
        if marks != self._marks:
            self._marks = marks
            self.update()

    def _title(self) -> str:
        title = tr(self._chart.title)
        other = self._chart.host and self._chart.host not in title
        return f"{title}, {self._chart.host}" if other else title

    def _spoken(self) -> str:
        pairs = zip(reversed(self._curve.times), reversed(self._curve.values), strict=True)
        last = next(((t, v) for t, v in pairs if math.isfinite(v)), None)
        if last is None:
            return tr("no samples yet")
        at, value = last
        if self._curve.read_at is not None and self._curve.read_at - at > _STILL_NOW_S:
            return tr("last {value} at {at}", value=self._value(value), at=format_clock(at))
        return tr("now {value}", value=self._value(value))

    def _value(self, value: float) -> str:
        if self._curve.unit == _BYTES:
            return format_bytes(value)
        return format_number(value, self._curve.unit)

    def _card_rect(self) -> QRectF:
        """Return the card in pixels at 100 %: it is enlarged as a whole."""
        enlarged = text_percent() / 100
        return QRectF(0, 0, self.width() / enlarged, self.height() / enlarged).adjusted(0.5, 0.5, -0.5, -0.5)

    def _frame(self, low: float = 0.0, high: float = 1.0) -> Frame:
        """Return where the curve stands in the card, and what the edges of that stand for."""
        plot = self._card_rect().adjusted(_LEFT, _TOP, -_RIGHT, -_BOTTOM)
        start, end = self._shared or self.own_span() or (0.0, 1.0)
        return Frame(plot.left(), plot.top(), plot.right(), plot.bottom(), start, end, low, high)

    # -- painting ------------------------------------------------------------------------------------------------
    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw card, words, grid, limit, curve and marks."""
        del event
        painter = QPainter(self)
        self._paint(painter)
        painter.end()

    def _paint(self, painter: QPainter) -> None:
        theme = current_theme()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        enlarged = text_percent() / 100  # as a whole, words and all
        painter.scale(enlarged, enlarged)
        card = self._card_rect()
        painter.setPen(theme.line)
        painter.setBrush(theme.panel)
        painter.drawRoundedRect(card, 8, 8)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        self._paint_title(painter, card)
        finite = [v for v in self._curve.values if math.isfinite(v)]
        if len(finite) < 2:
            painter.setPen(theme.third)
            painter.drawText(_rect(self._frame()), Qt.AlignmentFlag.AlignCenter, tr("no samples yet"))
            return
        axis = value_axis(min(0.0, *finite), max([*finite, (self._chart.limit or 0.0) * 1.2]), _INTERVALS)
        frame = self._frame(axis.low, axis.high)
        self._paint_grid(painter, frame, axis)
        self._paint_limit(painter, frame)
        self._paint_curve(painter, frame)
        self._paint_marks(painter, frame)

    def _paint_title(self, painter: QPainter, card: QRectF) -> None:
        theme = current_theme()
        line = QRectF(card.x() + 14, card.y() + 8, card.width() - 28, 20)
        painter.setFont(drawn_font(SMALL))
        painter.setPen(theme.second)
        side = self._spoken()
        painter.drawText(line, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, side)
        line.setRight(line.right() - QFontMetricsF(painter.font()).horizontalAdvance(side) - 12)
        painter.setFont(drawn_font(weight=STRONG))
        painter.setPen(theme.text)
        cut = QFontMetricsF(painter.font()).elidedText(self._title(), Qt.TextElideMode.ElideRight, line.width())
        painter.drawText(line, Qt.AlignmentFlag.AlignVCenter, cut)

    def _paint_grid(self, painter: QPainter, frame: Frame, axis: ValueAxis) -> None:
        theme = current_theme()
        painter.setFont(drawn_font(SMALL))
        for value in axis.lines:
            y = frame.y(value)
            painter.setPen(QPen(theme.divider, 1))
            painter.drawLine(QLineF(frame.left, y, frame.right, y))
            painter.setPen(theme.third)
            words = QRectF(frame.left - _LEFT, y - 9, _LEFT - 6, 18)
            text = self._value(value) if value else "0"
            painter.drawText(words, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)
        for tick in time_ticks(frame.start, frame.end, 4):
            x = frame.x(tick.at)
            words = QRectF(x - 40, frame.bottom + 4, 80, 16)
            if words.right() < frame.right + 24 and words.left() > frame.left - 24:
                painter.drawText(words, Qt.AlignmentFlag.AlignCenter, tick.text)

    def _paint_limit(self, painter: QPainter, frame: Frame) -> None:
        limit = self._chart.limit
        if limit is None:
            return
        theme = current_theme()
        y, plot = frame.y(limit), _rect(frame)
        below = self._curve.values[-1] >= limit if len(self._curve.values) else True
        band = QRectF(plot.left(), y, plot.width(), plot.bottom() - y)
        if not below:
            band = QRectF(plot.left(), plot.top(), plot.width(), y - plot.top())
        painter.fillRect(band, with_alpha(theme.bad_tint, 0.8))
        painter.setPen(QPen(theme.bad, 1))
        painter.drawLine(QLineF(plot.left(), y, plot.right(), y))
        painter.setFont(drawn_font(SMALL))
        text = tr(self._chart.limit_text)
        cut = QFontMetricsF(painter.font()).elidedText(text, Qt.TextElideMode.ElideRight, plot.width() - 12)
        place = QRectF(plot.left() + 6, y + 1, plot.width() - 12, 17)
        if place.bottom() > plot.bottom():
            place.moveBottom(y - 1)
        painter.drawText(place, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, cut)

    def _paint_curve(self, painter: QPainter, frame: Frame) -> None:
        path = QPainterPath()
        for stretch in frame.lines(self._curve.times, self._curve.values):
            path.moveTo(*stretch[0])
            for point in stretch[1:]:
                path.lineTo(*point)
        pen = QPen(curve_color(self._color), 1.5)
        pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        painter.strokePath(path, pen)

    def _paint_marks(self, painter: QPainter, frame: Frame) -> None:
        """Draw every line first, then the words on a ground of their own: no neighbour's line strikes them out."""
        theme = current_theme()
        marks = [(frame.x(mark.at), mark.text) for mark in self._marks if frame.holds(mark.at)]
        painter.setPen(QPen(theme.accent, 1, Qt.PenStyle.DashLine))
        for x, _ in marks:
            painter.drawLine(QLineF(x, frame.top - 14, x, frame.bottom))
        painter.setFont(drawn_font(SMALL))
        painter.setPen(theme.accent)
        free = frame.left - 1
        for x, text in marks:
            width = QFontMetricsF(painter.font()).horizontalAdvance(text)
            left = x + 4 if x + 4 + width <= frame.right + _RIGHT - 4 else x - 4 - width
            if left < free:
                continue
            place = QRectF(left, frame.top - 18, width + 2, 16)
            painter.fillRect(place, theme.panel)
            painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, text)
            free = left + width + 6


def _rect(frame: Frame) -> QRectF:
    return QRectF(frame.left, frame.top, frame.right - frame.left, frame.bottom - frame.top)
