"""One plot: pyqtgraph's view and box hold the range, one item of ours paints it. The page owns the time axis.

Performance: the still part is painted once per change into a picture; crosshair and selection only lie over it. The
box has no children in data coordinates, so no change of its transform asks for a second paint.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QEnterEvent, QMouseEvent, QPainter, QPixmap, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QFrame, QGraphicsView, QWidget

from services.events import Event
from widgets.charts.model import ChartSpec, SeriesLike
from widgets.charts.plot_overlay import paint_crosshair, paint_selection
from widgets.charts.plot_paint import BOTTOM, LEFT, RIGHT, TOP, StillPainter
from widgets.charts.plot_state import PlotState
from widgets.common.theme import current_theme, theme_holder

_RIGHT_AXIS = 44.0
_CLICK_PX = 4.0
_ZOOM_STEP = 0.8


class _Layer(pg.GraphicsObject):  # type: ignore[misc]
    """The one item: paints the still picture and what lies over it."""

    def __init__(self, plot: Plot) -> None:
        super().__init__()
        self._plot = plot

    def boundingRect(self) -> QRectF:
        """Return the whole of the plot."""
        return QRectF(self._plot.viewport().rect())

    def paint(self, painter: QPainter, *_: object) -> None:
        """Paint what the plot shows now."""
        self._plot.paint_layer(painter)


class Plot(pg.GraphicsView):  # type: ignore[misc]
    """A plot without legend or title.

    Signals:
        hovered(object): epoch seconds under the pointer, None when it left.
        clicked(float): a moment was chosen.
        panned(float): the view should move by so many seconds.
        zoomed(float, float): the view should shrink or grow by a factor around a moment.
        span_chosen(float, float): a span was dragged out. reset_wanted(): double click.
    """

    hovered = Signal(object)
    clicked = Signal(float)
    panned = Signal(float)
    zoomed = Signal(float, float)
    span_chosen = Signal(float, float)
    reset_wanted = Signal()
    resized = Signal()

    def __init__(self, spec: ChartSpec, parent: QWidget | None = None) -> None:
        super().__init__(parent, useOpenGL=False, background=None)
        self.state = PlotState(spec)
        self._still = QPixmap()
        self._stale = True
        self._cursor: float | None = None
        self._pressed: tuple[float, bool] | None = None
        self._selection: tuple[float, float] | None = None
        self._dragged = False
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setViewportUpdateMode(QGraphicsView.ViewportUpdateMode.FullViewportUpdate)
        self.setCacheMode(QGraphicsView.CacheModeFlag.CacheNone)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setMouseTracking(True)
        self.viewport().setCursor(Qt.CursorShape.CrossCursor)
        self.viewport().setAutoFillBackground(False)
        self._box = pg.ViewBox(enableMenu=False, enableMouse=False, defaultPadding=0)
        self._box.disableAutoRange()
        self.setCentralItem(self._box)
        self._layer = _Layer(self)
        self._layer.setParentItem(self._box)
        theme_holder().changed.connect(self._retheme)

    # -- data

    def set_series(self, curve: str, series: SeriesLike) -> None:
        """Replace a curve's data."""
        self.state.tracks[curve].replace(series)
        self.refresh()

    def append(self, curve: str, series: SeriesLike) -> bool:
        """Add newer points; return whether anything changed."""
        track = self.state.tracks[curve]
        changed = track.append(series)
        if changed:
            track.forget_before(self.state.start - (self.state.end - self.state.start))
            self.refresh()
        return changed

    def set_events(self, events: Sequence[Event]) -> None:
        """Show these as marks."""
        self.state.events = events
        self.refresh()

    def set_view(self, start: float, end: float) -> None:
        """Show this span (epoch seconds)."""
        if (start, end) != (self.state.start, self.state.end):
            self.state.start, self.state.end = start, end
            self.refresh()

    def set_cursor(self, at: float | None) -> None:
        """Show the crosshair at a moment."""
        if at != self._cursor:
            self._cursor = at
            self.viewport().update()

    def isolate(self, curve: str) -> None:
        """Show one curve only ('' for all)."""
        self.state.isolated = curve
        self.refresh()

    def refresh(self) -> None:
        """Paint anew at the next occasion; many calls before it are one paint."""
        self._stale = True
        self.viewport().update()

    def _retheme(self, *_: object) -> None:
        self.refresh()

    # -- geometry

    def frame_rect(self) -> QRectF:
        """Return where curves are drawn, in pixels of the plot."""
        right = _RIGHT_AXIS if self.state.spec.has_right else RIGHT
        return QRectF(self.viewport().rect()).adjusted(LEFT, TOP, -right, -BOTTOM)

    def points_wanted(self) -> int:
        """Return how many points fill the plot: one a pixel."""
        ratio: float = self.devicePixelRatioF()
        return max(100, round(self.frame_rect().width() * ratio))

    def time_at(self, x: float) -> float:
        """Return the moment under a pixel."""
        frame, state = self.frame_rect(), self.state
        return state.start + (x - frame.left()) / max(1.0, frame.width()) * (state.end - state.start)

    def x_at(self, at: float) -> float:
        """Return the pixel of a moment."""
        frame, state = self.frame_rect(), self.state
        return frame.left() + (at - state.start) / (state.end - state.start) * frame.width()

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        """Keep the item as large as the plot."""
        super().resizeEvent(event)
        if event is not None and hasattr(self, "_layer"):
            self._layer.prepareGeometryChange()
            self._stale = True
            self.resized.emit()

    # -- painting

    def paint_layer(self, painter: QPainter) -> None:
        """Paint the still picture (made anew when stale), then crosshair and selection."""
        ratio = self.devicePixelRatioF()
        if self._stale or self._still.devicePixelRatio() != ratio:
            self._still = self._make_still(ratio)
            self._stale = False
        painter.drawPixmap(0, 0, self._still)
        frame = self.frame_rect()
        if self._selection is not None:
            first, last = (self.x_at(at) for at in self._selection)
            paint_selection(painter, frame, first, last, self._selection, current_theme())
        if self._cursor is not None and self.state.start <= self._cursor <= self.state.end:
            paint_crosshair(painter, self.state, frame, self._cursor, current_theme())

    def _make_still(self, ratio: float) -> QPixmap:
        size = self.viewport().size()
        if self._still.size() != size * ratio or self._still.devicePixelRatio() != ratio:
            self._still = QPixmap(size * ratio)
            self._still.setDevicePixelRatio(ratio)
        self._still.fill(current_theme().panel)
        painter = QPainter(self._still)
        self.paint_still(painter)
        painter.end()
        return self._still

    def paint_still(self, painter: QPainter) -> None:
        """Paint the plot without crosshair: on the screen, into a picture or an SVG."""
        frame = self.frame_rect()
        if frame.width() < 8 or frame.height() < 8:
            return
        self.state.prepare(round(frame.width()), frame.height())
        left = self.state.left
        self._box.setRange(
            xRange=(self.state.start, self.state.end), yRange=(left.low, left.high), padding=0, disableAutoRange=False
        )
        StillPainter(painter, self.state, frame, current_theme()).paint()

    # -- the hand

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin to drag out a span; with Shift, the middle button or on the time axis: to move."""
        middle = event.button() == Qt.MouseButton.MiddleButton
        if not middle and event.button() != Qt.MouseButton.LeftButton:
            return
        below = event.position().y() > self.frame_rect().bottom()
        pan = middle or below or bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        self._pressed = (event.position().x(), pan)
        self._dragged = False
        event.accept()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Move the crosshair, the selection or the view."""
        x = event.position().x()
        if self._pressed is None:
            self.hovered.emit(self._inside(x))
            return
        origin, pan = self._pressed
        if not self._dragged and abs(x - origin) < _CLICK_PX:
            return
        self._dragged = True
        if pan:
            self.viewport().setCursor(Qt.CursorShape.ClosedHandCursor)
            self._pressed = (x, pan)
            self.panned.emit(self.time_at(origin) - self.time_at(x))
        else:
            frame = self.frame_rect()
            ends = (min(max(p, frame.left()), frame.right()) for p in (origin, x))
            first, last = sorted(self.time_at(p) for p in ends)
            self._selection = (first, last)
            self.viewport().update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """End the drag; without one it was a click that chooses a moment."""
        if self._pressed is None:
            return
        selection, self._selection = self._selection, None
        dragged, (x, _) = self._dragged, self._pressed
        self._pressed, self._dragged = None, False
        self.viewport().setCursor(Qt.CursorShape.CrossCursor)
        self.viewport().update()
        if selection is not None:
            self.span_chosen.emit(*selection)
        elif not dragged and event.button() == Qt.MouseButton.LeftButton:
            at = self._inside(x)
            if at is not None:
                self.clicked.emit(at)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Go back to the span of the range button."""
        event.accept()
        self.reset_wanted.emit()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom around the pointer; a sideways wheel moves."""
        delta = event.angleDelta()
        if abs(delta.x()) > abs(delta.y()):
            self.panned.emit(-delta.x() / 120.0 * 0.1 * (self.state.end - self.state.start))
        elif delta.y():
            self.zoomed.emit(self.time_at(event.position().x()), _ZOOM_STEP ** (delta.y() / 120.0))
        event.accept()

    def leaveEvent(self, event: object) -> None:
        """Take the crosshair away."""
        del event
        if self._pressed is None:
            self.hovered.emit(None)

    def enterEvent(self, event: QEnterEvent) -> None:
        """Nothing to do before the pointer moves."""
        event.accept()

    def _inside(self, x: float) -> float | None:
        frame = self.frame_rect()
        return self.time_at(x) if frame.left() - 1 <= x <= frame.right() + 1 else None

    def scale_point(self, at: float, value: float) -> QPointF:
        """Return the pixel of a point on the left scale (tests look there)."""
        frame, left = self.frame_rect(), self.state.left
        return QPointF(self.x_at(at), frame.bottom() - (value - left.low) / (left.high - left.low) * frame.height())
