"""Paints a plot's still part: limits, grid, piles, bands, lines, dots, marks and axis words, in pixels of the plot."""

from __future__ import annotations

import math

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen, QPolygonF
from shiboken6 import VoidPtr

from services.drawing.curve import x_of
from widgets.charts.colors import curve_area, curve_line, event_pen, limit_pen, limit_tint
from widgets.charts.legend_key import event_marks
from widgets.charts.model import CurveSpec
from widgets.charts.plots.marks import paint_marks
from widgets.charts.plots.shapes import Pile, Shape
from widgets.charts.plots.state import PlotState
from widgets.charts.plots.track import Array
from widgets.charts.scales import Scale
from widgets.common.controls.written import write_small
from widgets.common.look.fonts import SMALL, px, small_width, text_percent, ui_font
from widgets.common.look.theme import Theme, with_alpha
from widgets.common.time_axis.pixels import pixel, ticks_wanted
from widgets.common.time_axis.ticks import time_ticks

# Of a plot that stands alone; those of a page have the same room left and right (board.py).
LEFT, RIGHT, TOP, BOTTOM = 60.0, 16.0, 8.0, 20.0
RESTARTS = 15.0
"""Above the frame, while a restart is in sight: the line that says whose."""
_BAND_ALPHA = 0.20
_DOT_AWAY_PX = 5.0
# A stroke wider than a pixel costs four times as much: only lines of few points may be that beautiful.
_FEW_POINTS = 1500
_FEW_WIDTH = 1.4
_WORDS_GAP = 8.0
_JOINED = 4
"""So many points before the first new one are painted with it, for the lines that lead to it."""


class StillPainter:
    """Paints one state into one rectangle with one theme."""

    def __init__(
        self, painter: QPainter, state: PlotState, frame: QRectF, theme: Theme, origin: float | None = None
    ) -> None:
        """Know what to paint where; `origin` is the moment that curves have at the left edge (the view's start)."""
        self._painter = painter
        self._state = state
        self._frame = frame
        self._theme = theme
        self._origin = state.start if origin is None else origin
        self._per_second = frame.width() / (state.end - state.start)
        self._thin = self.is_thin(state)
        self._words_from = self._since = -math.inf

    @staticmethod
    def is_thin(state: PlotState) -> bool:
        """Return whether lines have so few points that they may be wider than a pixel."""
        return sum(len(shape.t) for _, shape in state.shapes) <= _FEW_POINTS

    @staticmethod
    def inside(frame: QRectF) -> QRectF:
        """Return where curves are painted: the frame with the half of a line at its edges."""
        return frame.adjusted(0, -2, 0, 1)

    def paint(self, new_from: float | None = None) -> None:
        """Paint everything but crosshair and selection.

        Args:
            new_from: the pixel from which on curves are new; the time axis is, and all else is there already.
        """
        painter = self._painter
        painter.setFont(ui_font(SMALL))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        message = self._state.message()
        if new_from is not None:
            self._clear_below()
        self._axes(values=not message)
        if message:
            self._words(message)
            return
        painter.save()
        self._clip(new_from)
        self._limit_bands()
        if self._state.pile is None:
            paint_marks(painter, self._state, self._frame, self._theme)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._grid()
        if self._state.pile is not None:
            self._pile(*self._state.pile)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
            paint_marks(painter, self._state, self._frame, self._theme)  # areas would cover it
        for curve, shape in self._state.shapes:
            self._band(curve, shape)
        for curve, shape in self._state.shapes:
            self._line(curve, shape)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        self._limit_lines()
        self._events()
        self._restarts()
        painter.restore()
        self._restart_words()

    def _clear_below(self) -> None:
        """Take the time axis away; words of the scales reach into its height and are written again there."""
        top = self.inside(self._frame).bottom()
        below = QRectF(0, top, self._painter.device().width(), self._painter.device().height())
        self._painter.setClipRect(below)
        self._painter.fillRect(below, self._theme.panel)
        self._words_from = top - px(SMALL)

    def _clip(self, new_from: float | None) -> None:
        """Paint nothing outside the frame, or only what is new in it."""
        inside = self.inside(self._frame)
        if new_from is not None:
            inside.setLeft(new_from)
        self._painter.setClipRect(inside)
        if new_from is not None:
            self._painter.fillRect(inside, self._theme.panel)
            self._since = self._origin + (new_from - self._frame.left()) / self._per_second

    # -- mapping

    def _x(self, t: Array) -> Array:
        return (t - self._origin) * self._per_second + self._frame.left()

    def _x_of(self, at: float) -> float:
        return x_of(at, self._state.start, self._state.end, self._frame.left(), self._frame.width())

    def _y(self, value: Array, scale: Scale) -> Array:
        return self._frame.bottom() - (value - scale.low) * (self._frame.height() / (scale.high - scale.low))

    def y_of(self, value: float, scale: Scale) -> float:
        """Return the height of a value."""
        return self._frame.bottom() - (value - scale.low) * self._frame.height() / (scale.high - scale.low)

    # -- axes and ground

    def _grid(self) -> None:
        painter, frame = self._painter, self._frame
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(QPen(self._theme.divider, 1))
        for value, _ in self._state.left.ticks:
            y = round(self.y_of(value, self._state.left))
            painter.drawLine(QPointF(frame.left(), y), QPointF(frame.right(), y))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)

    def _axes(self, *, values: bool) -> None:
        """Write the axes; a plot without samples has no scale of values."""
        painter, frame, theme = self._painter, self._frame, self._theme
        painter.setPen(theme.third)
        if values:
            right = frame.left() - _WORDS_GAP
            for value, words in self._state.left.ticks:
                y = self.y_of(value, self._state.left)
                if y > self._words_from:
                    write_small(painter, right, y, 1.0, words)
        if values and self._state.right is not None:
            self._right_words(self._state.right)
        # A stroke of several device pixels begins half its width before its end: it must not reach into the frame.
        first = self.inside(frame).bottom() + (0.5 if painter.device().devicePixelRatio() > 1 else 0.0)
        top, middle = frame.bottom() + 4, frame.bottom() + 4 + px(8)
        for tick in time_ticks(
            self._state.start, self._state.end, ticks_wanted(frame.width() / (text_percent() / 100))
        ):
            x = self._x_of(tick.at)
            painter.setPen(theme.line)
            painter.drawLine(QPointF(pixel(x), first), QPointF(pixel(x), top))
            painter.setPen(theme.second if tick.strong else theme.third)
            if frame.left() - 12 <= x <= frame.right() - 12:
                write_small(painter, x, middle, 0.5, tick.text)

    def _right_words(self, scale: Scale) -> None:
        """Write the right scale outside the frame (the plot makes room for it)."""
        left = self._frame.right() + _WORDS_GAP
        for (_, words), (value, _) in zip(scale.ticks, self._state.left.ticks, strict=True):
            write_small(self._painter, left, self.y_of(value, self._state.left), 0.0, words)

    def _words(self, message: str) -> None:
        self._painter.setPen(self._theme.third)
        self._painter.setPen(QPen(self._theme.divider, 1))
        frame = self._frame
        for part in range(5):
            y = round(frame.bottom() - part * frame.height() / 4)
            self._painter.drawLine(QPointF(frame.left(), y), QPointF(frame.right(), y))
        metrics = QFontMetricsF(self._painter.font())
        flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
        box = metrics.boundingRect(frame.adjusted(24, 0, -24, 0), int(flags), message)
        self._painter.fillRect(box.adjusted(-8, -4, 8, 4), self._theme.panel)
        self._painter.setPen(self._theme.second)
        self._painter.drawText(box, flags, message)

    # -- limits

    def _limit_bands(self) -> None:
        scale, frame = self._state.left, self._frame
        for band in self._state.spec.bands:
            if band.start >= scale.high:
                continue
            top = self.y_of(min(scale.high, band.end if band.end is not None else scale.high), scale)
            rect = QRectF(QPointF(frame.left(), top), QPointF(frame.right(), self.y_of(band.start, scale)))
            self._painter.fillRect(rect, with_alpha(limit_tint(band.tone, self._theme), 0.85))

    def _limit_lines(self) -> None:
        for line in self._state.spec.limits:
            y = round(self.y_of(line.value, self._state.left))
            self._painter.setPen(limit_pen(line.tone, self._theme))
            self._painter.drawLine(QPointF(self._frame.left(), y), QPointF(self._frame.right(), y))

    # -- curves

    def _line(self, curve: CurveSpec, shape: Shape) -> None:
        if not len(shape.t):
            return
        color = curve_line(curve, self._theme)
        pen = QPen(color, _FEW_WIDTH if self._thin else 1)
        if self._thin:
            pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        self._painter.setPen(pen)
        scale = self._state.scale_of(curve)
        new = slice(max(0, int(shape.t.searchsorted(self._since)) - _JOINED), None)
        x, y = self._x(shape.t[new]), self._y(shape.y[new], scale)
        for first, last in finite_runs(y):
            if last - first == 1:
                self._spot(float(x[first]), float(y[first]), color, 1.4)
            else:
                self._painter.drawPolyline(polygon(x[first:last], y[first:last]))
        if len(shape.dot_t):
            away = np.abs(self._y(shape.dot_y, scale) - self._y(shape.dot_edge, scale)) >= _DOT_AWAY_PX
            self._dots(self._x(shape.dot_t[away]), self._y(shape.dot_y[away], scale), color)

    def _band(self, curve: CurveSpec, shape: Shape) -> None:
        if not len(shape.band_t):
            return
        scale = self._state.scale_of(curve)
        x, low, high = self._x(shape.band_t), self._y(shape.p5, scale), self._y(shape.p95, scale)
        self._painter.setPen(Qt.PenStyle.NoPen)
        self._painter.setBrush(with_alpha(curve_line(curve, self._theme), _BAND_ALPHA))
        for first, last in finite_runs(low + high):
            self._area(x, low, high, first, last)
        self._painter.setBrush(Qt.BrushStyle.NoBrush)

    def _pile(self, curves: list[CurveSpec], pile: Pile) -> None:
        x = self._x(pile.t)
        scale = self._state.left
        tops = [self._y(row, scale) for row in pile.tops]
        self._painter.setPen(Qt.PenStyle.NoPen)
        for row, curve in enumerate(curves):
            self._painter.setBrush(curve_area(curve, self._theme))
            for first, last in finite_runs(tops[-1]):
                self._area(x, tops[row], tops[row + 1], first, last)
        self._painter.setBrush(Qt.BrushStyle.NoBrush)
        if len(pile.dot_t):
            away = np.abs(self._y(pile.dot_y, scale) - self._y(pile.dot_edge, scale)) >= _DOT_AWAY_PX
            color = with_alpha(self._theme.text, 0.55)
            self._dots(self._x(pile.dot_t[away]), self._y(pile.dot_y[away], scale), color)

    def _area(self, x: Array, low: Array, high: Array, first: int, last: int) -> None:
        if last - first == 1:  # a lone column between two gaps is a column wide
            left, height = float(x[first]), float(low[first] - high[first])
            self._painter.drawRect(QRectF(left - 0.5, float(high[first]), 1, height))
            return
        around_x = np.concatenate([x[first:last], x[first:last][::-1]])
        around_y = np.concatenate([low[first:last], high[first:last][::-1]])
        self._painter.drawPolygon(polygon(around_x, around_y))

    def _dots(self, x: Array, y: Array, color: QColor) -> None:
        for at_x, at_y in zip(x.tolist(), y.tolist(), strict=True):
            self._spot(at_x, at_y, color, 1.5)

    def _spot(self, x: float, y: float, color: QColor, radius: float) -> None:
        self._painter.save()
        self._painter.setPen(Qt.PenStyle.NoPen)
        self._painter.setBrush(color)
        self._painter.drawEllipse(QPointF(x, y), radius, radius)
        self._painter.restore()

    # -- marks

    def _events(self) -> None:
        state = self._state
        taken = -10.0
        marks = event_marks(state.events, state.start, state.end)
        for at, health in sorted(marks, key=lambda mark: mark[0]):
            x = pixel(self._x_of(at))
            if x - taken < 3:
                continue
            taken = x
            self._painter.setPen(event_pen(health, self._theme))
            self._painter.drawLine(QPointF(x, self._frame.top()), QPointF(x, self._frame.bottom()))

    def _restarts(self) -> None:
        for at, _ in self._state.restarts:
            x = pixel(self._x_of(at))
            self._painter.setPen(QPen(self._theme.warn_fill, 1))
            self._painter.drawLine(QPointF(x, self._frame.top()), QPointF(x, self._frame.bottom()))

    def _restart_words(self) -> None:
        """Say who restarted, above the frame: words over curves would hide them."""
        taken, frame = -1e9, self._frame
        for at, words in self._state.restarts:
            width = small_width(words) + 8
            x = pixel(self._x_of(at))
            left = x - 1 if x + width < frame.right() else x + 1 - width
            if left < taken:
                continue
            taken, high = left + width + 2, px(RESTARTS)
            box = QRectF(left, frame.top() - high - 1, width, high)
            self._painter.fillRect(box, self._theme.warn_tint)
            self._painter.setPen(self._theme.warn)
            self._painter.drawText(box, Qt.AlignmentFlag.AlignCenter, words)


def room_wanted(state: PlotState) -> tuple[float, float]:
    """Return how many pixels left and right of the frame the words of the scales take."""
    if state.message():
        return 0.0, 0.0
    scales = (state.left, state.right)
    left, right = (max((small_width(words) for _, words in scale.ticks), default=0.0) if scale else 0.0
                   for scale in scales)  # fmt: skip
    return left + _WORDS_GAP + 1, right + _WORDS_GAP + 1 if right else 0.0


def finite_runs(values: Array) -> list[tuple[int, int]]:
    """Return (first, past the last) of each run of finite values: what lies between is a gap and is not bridged."""
    finite = np.isfinite(values)
    if finite.all():
        return [(0, len(values))] if len(values) else []
    edges = np.flatnonzero(np.diff(np.concatenate([[0], finite.astype(np.int8), [0]])))
    return list(zip(edges[0::2].tolist(), edges[1::2].tolist(), strict=True))


def polygon(x: Array, y: Array) -> QPolygonF:
    """Return points as Qt wants them, filled through its memory instead of one by one."""
    made = QPolygonF()
    made.resize(len(x))
    # A QPointF is two doubles (qpoint.h); the view dies before the polygon does.
    pointer = VoidPtr(made.data(), 16 * len(x), True)  # type: ignore[arg-type, call-arg] # the stubs know one form only
    memory = np.frombuffer(pointer, dtype=np.float64).reshape(-1, 2)  # type: ignore[call-overload]
    memory[:, 0] = x
    memory[:, 1] = y
    return made
