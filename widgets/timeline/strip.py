"""The event strip: the window's one time axis, with what happened on it and the cursor that looks at the past."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QPointF, QSize, Qt, Signal
from PySide6.QtGui import (
    QFontMetricsF,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QSinglePointEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from services.events import Event
from services.i18n import tr
from widgets.common.commands.shortcuts import STRIP, act_of
from widgets.common.controls.plain import show_tip
from widgets.common.look.fonts import SMALL, drawn_font, drawn_small_width, px, text_percent
from widgets.common.look.styling import wear
from widgets.common.look.text import format_moment
from widgets.common.look.theme import current_theme, theme_holder
from widgets.common.time_axis.pixels import SIDE
from widgets.common.time_axis.view import MINUTE, View
from widgets.common.turns import Turns
from widgets.timeline.placement import Bar, Label, Mark, place_bars, place_labels, place_marks
from widgets.timeline.strip_paint import (
    AXIS_Y,
    FLAG_HEIGHT,
    HEIGHT,
    MARGIN,
    StripScene,
    flag_rect,
    paint_strip,
)
from widgets.timeline.under_pointer import under_pointer, words_of

_CLICK_PX = 4.0
_ZOOM_STEP = 0.8


class EventStrip(QWidget):
    """Frozen events in, signals out.

    Drag (or Left, Right) looks at the past; the wheel, plus and minus zoom; Shift or the middle button moves the view;
    Ctrl+Left and Ctrl+Right go from event to event; End (live: or Escape) returns to the present.

    Signals:
        cursor_moved(object): the moment to look at (epoch seconds, float), None: the present.
        event_selected(object): an Event was chosen; cursor_moved to its moment follows.
        range_changed(float, float, bool): the person chose another span; True: its end follows the present.
        live_wanted(): return to the present, cursor and span.
        mark_wanted(str, float): the stretch "before" or "after" a change begins or ends at this moment.
    """

    cursor_moved = Signal(object)
    event_selected = Signal(object)
    range_changed = Signal(float, float, bool)
    live_wanted = Signal()
    mark_wanted = Signal(str, float)

    def __init__(self, parent: QWidget | None = None, turns: Turns | None = None) -> None:
        super().__init__(parent)
        self._turns = turns or Turns(self)
        self._view = View(0.0, 15 * MINUTE, live=True, now=15 * MINUTE)
        self._events: tuple[Event, ...] = ()
        self._cursor: float | None = None
        self._hover: float | None = None
        self._selected: Event | None = None
        self._word = tr("LIVE")
        self._replay = False
        self._earliest: float | None = None
        self._placed: tuple[tuple[Mark, ...], tuple[Label, ...], tuple[Bar, ...]] | None = None
        self._sides = (SIDE, SIDE)
        self._press: QPointF | None = None
        self._panning = False
        self._dragged = False
        self._fit_text()
        theme_holder().sized.connect(self._fit_text)
        self.setMinimumWidth(200)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setAccessibleName(tr("Time axis and events"))
        self._speak()
        theme_holder().changed.connect(self.update)
        wear(self)

    def _fit_text(self) -> None:
        """The strip is enlarged as a whole: places in it are those at 100 %."""
        self.setFixedHeight(px(HEIGHT))
        self._replace()

    def _place(self, event: QSinglePointEvent) -> QPointF:
        return event.position() / (text_percent() / 100)

    # -- what is shown -----------------------------------------------------------------------------------------------
    def set_events(self, events: Sequence[Event]) -> None:
        """Show these events (any order)."""
        if tuple(events) != self._events:
            self._events = tuple(events)
            if self._selected not in self._events:
                self._selected = None
            self._replace_soon()

    def set_range(self, start: float, end: float, live: bool, now: float | None = None) -> None:
        """Show this span (epoch seconds) without a signal; `now` is the present (live: `end`)."""
        newest = (end if live else max(self._view.now, end)) if now is None else now
        view = View(start, end, live, newest)
        if view != self._view:
            self._view = view
            self._replace_soon()

    def set_sides(self, left: float, right: float) -> None:
        """Keep so many pixels free left and right of the time axis: where charts stand above, it is theirs."""
        if (left, right) != self._sides:
            self._sides = (left, right)
            self._replace()

    def set_cursor(self, at: float | None) -> None:
        """Put the cursor at a moment, None: the present. No signal."""
        if at != self._cursor:
            self._cursor = at
            self._speak()
            self.update()

    def set_selected(self, event: Event | None) -> None:
        """Emphasise an event. No signal."""
        self._selected = event
        self.update()

    def set_replay(self, replay: bool, earliest: float | None = None) -> None:
        """Name the flag of the present for a recording; `earliest` bounds the cursor."""
        self._replay = replay
        self._word = tr("REPLAY") if replay else tr("LIVE")
        self._earliest = earliest
        self.update()

    def cursor_at(self) -> float | None:
        """Return the moment looked at, None: the present."""
        return self._cursor

    def view(self) -> View:
        """Return the span in sight."""
        return self._view

    def label_texts(self) -> tuple[str, ...]:
        """Return the sentences that are written on the strip, as cut, from left to right."""
        metrics = QFontMetricsF(drawn_font(SMALL))
        labels = self.scene().labels
        return tuple(metrics.elidedText(o.mark.text, Qt.TextElideMode.ElideRight, o.width + 1) for o in labels)

    def scene(self) -> StripScene:
        """Return what is painted, placed for the present width."""
        enlarged = text_percent() / 100
        view, width = self._view, self.width() / enlarged
        left, right = (side / enlarged for side in self._sides)
        scene = StripScene(
            width=width,
            left=left,
            right=max(width - right, left + 1.0),
            start=view.start,
            end=view.end,
            now=view.now,
            cursor=self._cursor,
            hover=self._hover if self._press is None else None,
            live=view.live,
            word=self._word,
            marks=(),
            labels=(),
            bars=(),
            selected=self._selected,
        )
        if self._placed is None:
            marks = place_marks(self._events, scene.x_of, scene.left, scene.right)
            flag = flag_rect(scene, view.now, self._word, at_right=True).left() - 8
            words_end = min(width - MARGIN, flag) if scene.present_in_sight else width - MARGIN
            labels = place_labels(marks, drawn_small_width, MARGIN, words_end)
            bars = place_bars(self._events, scene.x_of, scene.left, scene.right, view.now)
            self._placed = (marks, labels, bars)
        marks, labels, bars = self._placed
        return StripScene(
            **{name: getattr(scene, name) for name in StripScene.__slots__ if name not in {"marks", "labels", "bars"}},
            marks=marks,
            labels=labels,
            bars=bars,
        )

    def _replace(self) -> None:
        """Follow the hand: at once."""
        self._placed = None
        self.update()

    def _replace_soon(self) -> None:
        """Follow the time: in a frame that nothing else of the window is painted in."""
        self._placed = None
        self._turns.ask(self, alone=True)

    def in_sight(self) -> bool:
        """Return whether any of it can be seen."""
        return not self.visibleRegion().isEmpty()

    def take_turn(self) -> None:
        """Have the newest state painted."""
        self.update()

    def _speak(self) -> None:
        where = tr("the present") if self._cursor is None else format_moment(self._cursor)
        self.setAccessibleDescription(
            tr("Shows {where}. Left and Right look at the past, Press End to return to the present.", where=where)
        )

    # -- the cursor --------------------------------------------------------------------------------------------------
    def _look(self, at: float | None) -> None:
        """Move the cursor where the person wants it; at or beyond the present it is live."""
        if at is not None:
            earliest = self._view.start if self._earliest is None else max(self._earliest, self._view.start)
            at = max(at, earliest)
            if at >= self._view.now - 0.5 * (self._view.span / max(1, self.width())):
                at = None
        if at != self._cursor:
            self.set_cursor(at)
            self.cursor_moved.emit(at)

    def _select(self, event: Event) -> None:
        self.set_selected(event)
        self.event_selected.emit(event)
        self._look(event.at)

    def _go(self, view: View) -> None:
        if view != self._view:
            self._view = view
            self._replace()
            self.range_changed.emit(view.start, view.end, view.live)

    def _go_live(self) -> None:
        self._look(None)
        self.live_wanted.emit()

    # -- the hand ----------------------------------------------------------------------------------------------------
    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin a drag: the cursor, or (Shift, middle button, below the axis) the view."""
        middle = event.button() == Qt.MouseButton.MiddleButton
        if not middle and event.button() != Qt.MouseButton.LeftButton:
            return
        self._press = self._place(event)
        self._dragged = False
        below = self._press.y() > AXIS_Y + 2
        self._panning = middle or below or bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Drag the cursor or the view; else show where the pointer is."""
        point, scene = self._place(event), self.scene()
        if self._press is None:
            over = under_pointer(scene, point) is not None
            below = point.y() > AXIS_Y + 2
            shape = Qt.CursorShape.PointingHandCursor if over else Qt.CursorShape.SizeHorCursor
            self.setCursor(Qt.CursorShape.OpenHandCursor if below else shape)
            self._hover = None if over or below else scene.time_at(point.x())
            self.update()
            return
        if not self._dragged and abs(point.x() - self._press.x()) < _CLICK_PX:
            return
        self._dragged = True
        if self._panning:
            seconds = scene.time_at(self._press.x()) - scene.time_at(point.x())
            self._press = point
            self._go(self._view.panned(seconds))
        else:
            self._look(scene.time_at(point.x()))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """End a drag; a click chooses what is under it, else the moment."""
        press, self._press = self._press, None
        if press is None or self._dragged or event.button() != Qt.MouseButton.LeftButton:
            return
        point, scene = self._place(event), self.scene()
        flag = flag_rect(scene, scene.now, scene.word, at_right=True)
        under = under_pointer(scene, point)
        if scene.present_in_sight and flag.contains(point):
            self._go_live()
        elif under is not None:
            self._select(under.event if isinstance(under, Bar) else under.lead)
        elif not self._panning or point.y() <= AXIS_Y + 2:
            self._look(scene.time_at(point.x()))

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom around the pointer; a sideways wheel moves."""
        delta = event.angleDelta()
        if abs(delta.x()) > abs(delta.y()):
            self._go(self._view.panned(-delta.x() / 1200.0 * self._view.span))
        elif delta.y():
            around = self.scene().time_at(self._place(event).x())
            self._go(self._view.zoomed(around, _ZOOM_STEP ** (delta.y() / 120.0)))
        event.accept()

    def leaveEvent(self, event: QEvent) -> None:
        """Take the pointer's line away."""
        super().leaveEvent(event)
        self._hover = None
        self.update()

    # -- keys --------------------------------------------------------------------------------------------------------
    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Do by keyboard what the pointer does."""
        act = act_of(STRIP, event)
        if act in {"former-event", "next-event"}:
            self._to_event(1 if act == "next-event" else -1)
        elif act in {"view-left", "view-right"}:
            self._go(self._view.panned((0.1 if act == "view-right" else -0.1) * self._view.span))
        elif act in {"left", "right"}:
            at = self._view.now if self._cursor is None else self._cursor
            self._look(at + (1 if act == "right" else -1) * max(1.0, round(self._view.span / 300.0)))
        elif act in {"zoom-in", "zoom-out"}:
            around = self._view.end if self._cursor is None else self._cursor
            self._go(self._view.zoomed(around, 1 / _ZOOM_STEP if act == "zoom-out" else _ZOOM_STEP))
        elif act == "first":
            self._look(self._view.start)
        elif act in {"mark-before", "mark-after"}:
            at = self._view.now if self._cursor is None else self._cursor
            self.mark_wanted.emit(act.removeprefix("mark-"), at)
        elif act == "live" or (act == "leave" and not self._replay):
            self._go_live()
        else:
            super().keyPressEvent(event)

    def _to_event(self, side: int) -> None:
        at = self._view.now if self._cursor is None else self._cursor
        if self._selected is not None and self._cursor == self._selected.at:
            at = self._selected.at
        ahead = [e for e in self._events if (e.at - at) * side > 1e-6 and e.at <= self._view.now]
        if ahead:
            chosen = min(ahead, key=lambda e: abs(e.at - at))
            if not self._view.start <= chosen.at <= self._view.end:
                middle = chosen.at
                self._go(self._view.spanning(middle - self._view.span / 2, middle + self._view.span / 2))
            self._select(chosen)

    # -- Qt ----------------------------------------------------------------------------------------------------------
    def event(self, event: QEvent) -> bool:
        """Say the whole sentence of what is under the pointer."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            words = self.tip(QPointF(event.pos()) / (text_percent() / 100))
            show_tip(event.globalPos(), words, self)
            return True
        return super().event(event)

    def tip(self, point: QPointF) -> str:
        """Return the tooltip at a point: moment (and length) and whole sentence of each event there."""
        under = under_pointer(self.scene(), point)
        if under is None:
            return tr("Back to the present (End)") if point.y() < FLAG_HEIGHT and self._over_present(point) else ""
        return words_of(under, self._view.now)

    def _over_present(self, point: QPointF) -> bool:
        scene = self.scene()
        return scene.present_in_sight and flag_rect(scene, scene.now, scene.word, at_right=True).contains(point)

    def resizeEvent(self, event: QEvent) -> None:
        """Place anew for the width."""
        del event
        self._replace()

    def sizeHint(self) -> QSize:
        """Return the fixed height."""
        return QSize(800, px(HEIGHT))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the strip."""
        del event
        painter = QPainter(self)
        painter.save()
        painter.scale(text_percent() / 100, text_percent() / 100)
        paint_strip(painter, self.scene(), current_theme())
        painter.restore()
        if self.hasFocus():
            painter.setPen(current_theme().accent)
            painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
        painter.end()
