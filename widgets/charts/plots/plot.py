"""One plot: a widget that paints its curves itself. The page owns the time axis.

A plot on a graphics scene (pyqtgraph's or Qt's) misses budget 13: the scene, its view box and the second paint that a
moved transform asks for cost more than the curves (2.4 x a bare QPainter page against 1.3 x). So there is no scene: a
change is one paint, of a picture, when the plot's turn comes (turns.py). What Qt asks to be painted comes from that
picture, crosshair and selection over it: a resize, a page that is shown or a hand that moves never paints curves.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from services.drawing.curve import time_at, x_of
from services.events import Event
from widgets.charts.compare.marks import MarkedSpan
from widgets.charts.model import ChartSpec, SeriesLike
from widgets.charts.plots.overlay import paint_crosshair, paint_selection
from widgets.charts.plots.paint import BOTTOM, LEFT, RESTARTS, RIGHT, TOP, StillPainter, room_wanted
from widgets.charts.plots.picture import LEAST_PX, Picture
from widgets.charts.plots.state import PlotState
from widgets.charts.scales import Scale
from widgets.common.look.fonts import px, text_percent
from widgets.common.look.theme import current_theme, theme_holder
from widgets.common.turns import Turns

_RIGHT_AXIS = 44.0
_CLICK_PX = 4.0
_ZOOM_STEP = 0.8
_UNSEEN_PX, _SOON_MS = 0.1, 200


class Plot(QWidget):
    """A plot without legend or title.

    Signals:
        hovered(object): epoch seconds under the pointer, None when it left.
        clicked(float): a moment was chosen.
        panned(float): the view should move by so many seconds.
        zoomed(float, float): the view should shrink or grow by a factor around a moment.
        span_chosen(float, float): a span was dragged out. reset_wanted(): double click.
        crowded(float, float): the words of its scales want so many pixels left and right of the frame, and have fewer.
    """

    hovered = Signal(object)
    clicked = Signal(float)
    panned = Signal(float)
    zoomed = Signal(float, float)
    span_chosen = Signal(float, float)
    reset_wanted = Signal()
    resized = Signal()
    crowded = Signal(float, float)

    def __init__(self, spec: ChartSpec, parent: QWidget | None = None, turns: Turns | None = None) -> None:
        super().__init__(parent)
        self.state = PlotState(spec)
        self._scales: tuple[Scale, Scale | None, int] | None = None
        self._room = (LEFT, _RIGHT_AXIS if spec.has_right else RIGHT)
        self._turns = turns or Turns(self)
        self._picture = Picture()
        self._stale = True
        self._cursor: float | None = None
        self._pointed = False
        self._pressed: tuple[float, bool] | None = None
        self._selection: tuple[float, float] | None = None
        self._dragged = False
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(_SOON_MS)
        self._soon.timeout.connect(self.refresh)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setMouseTracking(True)
        self.setCursor(Qt.CursorShape.CrossCursor)
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
            self._refresh_for(track.step_s)
        return changed

    def set_events(self, events: Sequence[Event]) -> None:
        """Show these as marks."""
        self.state.events = events
        self.refresh()

    def set_marks(self, marks: tuple[MarkedSpan, ...]) -> None:
        """Shade these stretches of time."""
        if marks != self.state.marks:
            self.state.marks = marks
            self.refresh()

    def set_view(self, start: float, end: float) -> None:
        """Show this span (epoch seconds)."""
        if (start, end) != (self.state.start, self.state.end):
            same_span = abs((end - start) - (self.state.end - self.state.start)) < 1e-6
            moved = abs(start - self.state.start) if same_span else math.inf
            self.state.start, self.state.end = start, end
            self._refresh_for(moved)

    def set_cursor(self, at: float | None) -> None:
        """Show the crosshair at a moment."""
        if at != self._cursor:
            self._cursor = at
            self.update()

    def isolate(self, curve: str) -> None:
        """Show one curve only ('' for all)."""
        self.state.isolated = curve
        self.refresh()

    def refresh(self) -> None:
        """Paint anew when the plot's turn comes; many calls before it are one paint."""
        self._soon.stop()
        self._stale = True
        self._turns.ask(self)

    def _refresh_for(self, seconds: float) -> None:
        """Paint anew; what moves the picture by less than a tenth of a pixel may wait a moment for more of its kind."""
        if self._stale and self._turns.holds(self):
            return
        if seconds * self.frame_rect().width() < _UNSEEN_PX * (self.state.end - self.state.start):
            if not self._soon.isActive():
                self._soon.start()
        else:
            self.refresh()

    def _retheme(self, *_: object) -> None:
        self._picture.forget()  # an empty plot for a moment, rather than a bright one on a dark page
        self.refresh()
        self.update()

    # -- geometry

    def frame_rect(self) -> QRectF:
        """Return where curves are drawn, in pixels of the plot."""
        left, right = self._room
        top = px(RESTARTS) + 2 if self.state.restarts else TOP
        return QRectF(self.rect()).adjusted(left, top, -right, -px(BOTTOM))

    def set_room(self, left: float, right: float) -> None:
        """Keep so many pixels free left and right of the frame: every plot on one time axis has the same."""
        if (left, right) != self._room:
            self._room = (left, right)
            self.refresh()

    def points_wanted(self) -> int:
        """Return how many points fill the plot: one a pixel."""
        return max(100, round(self.frame_rect().width() * self.devicePixelRatioF()))

    def time_at(self, x: float) -> float:
        """Return the moment under a pixel."""
        frame = self.frame_rect()
        return time_at(x, self.state.start, self.state.end, frame.left(), frame.width())

    def x_at(self, at: float) -> float:
        """Return the pixel of a moment."""
        frame = self.frame_rect()
        return x_of(at, self.state.start, self.state.end, frame.left(), frame.width())

    def sizeHint(self) -> QSize:
        """Return a modest size; the page gives what there is."""
        return QSize(320, 140)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Paint anew; the number of points wanted follows the width."""
        super().resizeEvent(event)
        self.refresh()
        self.resized.emit()

    # -- painting

    @property
    def fresh(self) -> bool:
        """Return whether the picture shows the newest state."""
        return not self._stale

    def in_sight(self) -> bool:
        """Return whether any of it can be seen."""
        return not self.visibleRegion().isEmpty()

    def take_turn(self) -> None:
        """Paint the picture anew; out of sight it stays as it is until somebody looks."""
        if self._stale and self.in_sight():
            self.paint_picture()
            self.update()

    def leave(self) -> None:
        """Be shown no longer, and ask for no turn while it waits to be deleted."""
        self._soon.stop()
        theme_holder().changed.disconnect(self._retheme)
        self._turns.drop(self)

    def paint_now(self) -> None:
        """Show the newest state before this returns."""
        self._turns.drop(self)
        self.paint_picture()
        self.repaint()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Show the picture there is, then crosshair and selection over it; a picture out of date asks for its turn."""
        del event
        if self._stale and self.isVisible():
            self._turns.ask(self)
        elif self._stale:
            self.paint_picture()  # nobody looks: it is Qt's own picture of a hidden widget, and wanted whole
        painter = QPainter(self)
        if self._picture.pixmap.size() != self._pixels():
            painter.fillRect(self.rect(), current_theme().panel)
        painter.drawPixmap(0, 0, self._picture.pixmap)
        crossed = self._cursor is not None and self.state.start <= self._cursor <= self.state.end
        if crossed or self._selection is not None:
            self._paint_over(painter, crossed=crossed)
        painter.end()  # not left to the garbage collector: a painter that outlives its paint event crashes Qt

    def _paint_over(self, painter: QPainter, *, crossed: bool) -> None:
        """Paint what moves: the selection and the crosshair."""
        frame = self.frame_rect()
        if self._selection is not None:
            first, last = (self.x_at(at) for at in self._selection)
            paint_selection(painter, frame, first, last, self._selection, current_theme())
        if crossed and self._cursor is not None:
            paint_crosshair(painter, self.state, frame, self._cursor, current_theme(), told=self._pointed)

    def _pixels(self) -> QSize:
        return self.size() * self.devicePixelRatioF()

    def paint_picture(self) -> None:
        """Paint the still part into the picture."""
        self._stale = False
        self.state.find_restarts()
        self._picture.paint(self.state, self.frame_rect(), self._pixels(), self.devicePixelRatioF())
        self._ask_for_room()

    def _ask_for_room(self) -> None:
        """Tell when the words of new scales have less room than they need; scales change rarely, pictures often."""
        scales = (self.state.left, self.state.right, text_percent())
        if scales == self._scales:
            return
        self._scales = scales
        wanted = room_wanted(self.state)
        if wanted[0] > self._room[0] or wanted[1] > self._room[1]:
            self.crowded.emit(*wanted)

    def paint_still(self, painter: QPainter) -> None:
        """Paint the plot without crosshair: into an exported picture or an SVG."""
        self.state.find_restarts()
        frame = self.frame_rect()
        if frame.width() < LEAST_PX or frame.height() < LEAST_PX:
            return
        self.state.prepare(round(frame.width()), frame.height())
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
            self._pointed = True
            self.hovered.emit(self._inside(x))
            return
        origin, pan = self._pressed
        if not self._dragged and abs(x - origin) < _CLICK_PX:
            return
        self._dragged = True
        if pan:
            self.setCursor(Qt.CursorShape.ClosedHandCursor)
            self._pressed = (x, pan)
            self.panned.emit(self.time_at(origin) - self.time_at(x))
        else:
            frame = self.frame_rect()
            ends = (min(max(p, frame.left()), frame.right()) for p in (origin, x))
            first, last = sorted(self.time_at(p) for p in ends)
            self._selection = (first, last)
            self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """End the drag; without one it was a click that chooses a moment."""
        if self._pressed is None:
            return
        selection, self._selection = self._selection, None
        dragged, (x, _) = self._dragged, self._pressed
        self._pressed, self._dragged = None, False
        self.setCursor(Qt.CursorShape.CrossCursor)
        self.update()
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

    def leaveEvent(self, event: QEvent) -> None:
        """Take the crosshair away."""
        super().leaveEvent(event)
        self._pointed = False
        if self._pressed is None:
            self.hovered.emit(None)

    def _inside(self, x: float) -> float | None:
        frame = self.frame_rect()
        return self.time_at(x) if frame.left() - 1 <= x <= frame.right() + 1 else None

    def scale_point(self, at: float, value: float) -> QPointF:
        """Return the pixel of a point on the left scale (tests look there)."""
        frame, left = self.frame_rect(), self.state.left
        return QPointF(self.x_at(at), frame.bottom() - (value - left.low) / (left.high - left.low) * frame.height())
