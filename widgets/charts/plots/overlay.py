"""What lies over a plot and moves with the hand: crosshair with its moment and dots, the span being dragged out."""

from __future__ import annotations

import math

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPen

from services.drawing.curve import x_of
from widgets.charts.colors import curve_line
from widgets.charts.plots.state import PlotState
from widgets.common.look.fonts import SMALL, STRONG, px, ui_font
from widgets.common.look.text import format_clock, format_duration
from widgets.common.look.theme import Theme, with_alpha
from widgets.common.time_axis.pixels import pixel, ticks_wanted
from widgets.common.time_axis.ticks import time_ticks

_NEAR_PX = 4.0


def paint_crosshair(
    painter: QPainter, state: PlotState, frame: QRectF, at: float, theme: Theme, *, told: bool = True
) -> None:
    """Paint the line through a moment, a dot on each curve, the moment below; `told`: an event's words when on it.

    The strip says the words already: only the plot under the pointer repeats them, over its own curves.
    """
    per_second = frame.width() / (state.end - state.start)
    x = x_of(at, state.start, state.end, frame.left(), frame.width())
    painter.setPen(QPen(theme.accent, 1))
    painter.drawLine(QPointF(pixel(x), frame.top() - 4), QPointF(pixel(x), frame.bottom()))
    if not state.message():
        _dots(painter, state, frame, x, at, theme)
    painter.setFont(ui_font(SMALL, STRONG))
    words = format_clock(at)
    _clear_ticks(painter, state, frame, x, theme)
    _chip(painter, frame, x, frame.bottom() + 3, words, theme)
    near = [e for e in state.events if any(abs(m - at) * per_second <= _NEAR_PX for m in (e.at, e.until or e.at))]
    if told and near:
        _sentence(painter, frame, x, near[-1].text, theme)


def _dots(painter: QPainter, state: PlotState, frame: QRectF, x: float, at: float, theme: Theme) -> None:
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    for curve, _ in state.shapes:
        value = state.tracks[curve.key].value_at(at)
        scale = state.scale_of(curve)
        if math.isfinite(value) and scale.low <= value <= scale.high:
            y = frame.bottom() - (value - scale.low) / (scale.high - scale.low) * frame.height()
            painter.setPen(QPen(theme.panel, 1.5))
            painter.setBrush(curve_line(curve, theme))
            painter.drawEllipse(QPointF(x, y), 3.5, 3.5)
    painter.restore()


def _clear_ticks(painter: QPainter, state: PlotState, frame: QRectF, x: float, theme: Theme) -> None:
    """Hide the words of ticks that the moment's own words would half cover."""
    metrics = QFontMetricsF(painter.font())
    reach = metrics.horizontalAdvance("00:00:00") / 2 + 8
    for tick in time_ticks(state.start, state.end, ticks_wanted(frame.width())):
        middle = x_of(tick.at, state.start, state.end, frame.left(), frame.width())
        half = metrics.horizontalAdvance(tick.text) / 2 + 1
        if abs(middle - x) < reach + half:
            painter.fillRect(QRectF(middle - half, frame.bottom() + 5, 2 * half, px(15)), theme.panel)


def _chip(painter: QPainter, frame: QRectF, x: float, y: float, words: str, theme: Theme) -> None:
    width = QFontMetricsF(painter.font()).horizontalAdvance(words) + 12
    left = min(max(x - width / 2, frame.left() - 20), frame.right() + 12 - width)
    box = QRectF(left, y, width, px(16))
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.accent)
    painter.drawRoundedRect(box, 3, 3)
    painter.restore()
    painter.setPen(theme.on_accent)
    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, words)


def _sentence(painter: QPainter, frame: QRectF, x: float, words: str, theme: Theme) -> None:
    painter.setFont(ui_font(SMALL))
    metrics = QFontMetricsF(painter.font())
    words = metrics.elidedText(words, Qt.TextElideMode.ElideRight, frame.width() * 0.7)
    width = metrics.horizontalAdvance(words) + 12
    left = x + 6 if x + 6 + width <= frame.right() else x - 6 - width
    box = QRectF(left, frame.top() + 2, width, px(18))
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(theme.line, 1))
    painter.setBrush(theme.panel)
    painter.drawRoundedRect(box, 3, 3)
    painter.restore()
    painter.setPen(theme.text)
    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, words)


def paint_selection(
    painter: QPainter, frame: QRectF, first: float, last: float, span: tuple[float, float], theme: Theme
) -> None:
    """Paint the span that is being dragged out, with its length."""
    box = QRectF(QPointF(first, frame.top()), QPointF(last, frame.bottom()))
    painter.fillRect(box, with_alpha(theme.accent, 0.14))
    painter.setPen(QPen(theme.accent, 1))
    for x in (first, last):
        painter.drawLine(QPointF(pixel(x), frame.top()), QPointF(pixel(x), frame.bottom()))
    painter.setFont(ui_font(SMALL, STRONG))
    _chip(painter, frame, (first + last) / 2, frame.bottom() + 3, format_duration(span[1] - span[0]), theme)
