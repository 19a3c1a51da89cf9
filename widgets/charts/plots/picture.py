"""A plot's still part as a picture: what two frames have in common is moved, and only what is new is painted.

While samples come, a frame differs from the one before it by its newest columns and by where the moments of the time
axis stand. So curves stand on whole pixels of time: they move by whole pixels or not at all, and never shimmer. What
changed is found by comparing the points of the curves, not by what was told of them: a value that came late, a gap
that was filled or an axis that grew is painted like anything else.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QPainter, QPixmap

from widgets.charts.legend_key import event_marks
from widgets.charts.plots.paint import StillPainter
from widgets.charts.plots.shapes import Shape, first_change
from widgets.charts.plots.state import PlotState
from widgets.common.look.fonts import text_percent
from widgets.common.look.theme import Theme, current_theme

LEAST_PX = 8
_PEN_PX = 3.0
"""So far beside a point its line, joins and spot may reach."""
_MOST_NEW = 0.5
"""Of the frame's width: where more is new, all is painted."""
_SAME_SPAN = 1e-7
"""The two ends of a span are rounded; it is the same one."""


@dataclass(frozen=True, slots=True)
class _Frame:
    """What was painted: `ground` is all that changes the whole picture, `column` the pixel of time at the left edge."""

    ground: tuple[object, ...]
    step_s: float
    column: int
    shapes: tuple[Shape, ...]

    @property
    def origin(self) -> float:
        """Return the moment at the left edge."""
        return self.column * self.step_s


class Picture:
    """The picture of one plot, in device pixels."""

    def __init__(self) -> None:
        self.pixmap = QPixmap()
        self._before: _Frame | None = None

    def forget(self) -> None:
        """Have no picture until the next is painted."""
        self.pixmap, self._before = QPixmap(), None

    def paint(self, state: PlotState, frame: QRectF, size: QSize, ratio: float) -> None:
        """Paint the newest state, `frame` in the pixels of a plot that has `size` device pixels."""
        if self.pixmap.size() != size or self.pixmap.devicePixelRatio() != ratio:
            self.pixmap, self._before = QPixmap(size), None
            self.pixmap.setDevicePixelRatio(ratio)
        theme, before = current_theme(), self._before
        self._before = None
        if frame.width() < LEAST_PX or frame.height() < LEAST_PX:
            self.pixmap.fill(theme.panel)
            return
        state.prepare(round(frame.width()), frame.height())
        now = _frame_of(state, frame, ratio, theme, before)
        movable = _movable(state, frame, ratio)
        new_from = _new_from(before, now, frame, ratio) if before is not None and movable else None
        if before is None or new_from is None:
            self.pixmap.fill(theme.panel)
        elif now.column != before.column:
            held = QRectF(StillPainter.inside(frame))
            device = QRectF(held.topLeft() * ratio, held.size() * ratio).toRect()
            self.pixmap.scroll(before.column - now.column, 0, device)
        painter = QPainter(self.pixmap)
        StillPainter(painter, state, frame, theme, now.origin).paint(new_from)
        painter.end()
        self._before = now if movable else None


def _frame_of(state: PlotState, frame: QRectF, ratio: float, theme: Theme, before: _Frame | None) -> _Frame:
    step = (state.end - state.start) / (frame.width() * ratio)
    if before is not None and math.isclose(step, before.step_s, rel_tol=_SAME_SPAN):
        step = before.step_s
    keys = tuple(curve.key for curve, _ in state.shapes)
    thin = StillPainter.is_thin(state)
    ground = (frame.getRect(), step, theme, text_percent(), state.left, state.right, keys, thin, state.marks)
    return _Frame(ground, step, math.floor(state.start / step + 0.5), tuple(shape for _, shape in state.shapes))


def _movable(state: PlotState, frame: QRectF, ratio: float) -> bool:
    """Return whether nothing but lines changes from frame to frame, and they stand on whole device pixels."""
    if state.pile is not None or state.restarts or state.spec.limits or state.message():
        return False
    if any(len(shape.band_t) or len(shape.dot_t) for _, shape in state.shapes):
        return False
    if event_marks(state.events, state.start, state.end):
        return False
    return ratio == round(ratio) and QRectF(frame.toRect()) == frame


def _new_from(before: _Frame, now: _Frame, frame: QRectF, ratio: float) -> float | None:
    """Return the pixel from which on the picture differs once it was moved; None: paint all of it."""
    moved = (now.column - before.column) / ratio
    if before.ground != now.ground or not 0 <= moved <= frame.width() * _MOST_NEW:
        return None
    at = min((first_change(*pair) for pair in zip(before.shapes, now.shapes, strict=True)), default=math.inf)
    x = min(frame.left() + (at - now.origin) / (now.step_s * ratio), frame.right() - moved) - _PEN_PX
    return math.floor(x) if x > frame.left() + frame.width() * _MOST_NEW else None
