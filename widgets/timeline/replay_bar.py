"""The controls of a replay: play or pause, speed, a track to seek on, the position in words. Signals only."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QIcon, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QPixmap, QPolygonF, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from services.drawing.curve import time_at, x_of
from services.events import Event
from services.i18n import tr
from services.types import Health
from widgets.common.commands.shortcuts import TRACK, WINDOW, act_of, keys_of
from widgets.common.controls.boxes import button
from widgets.common.controls.combo import Combo
from widgets.common.controls.labels import label
from widgets.common.controls.plain import set_tip
from widgets.common.look.fonts import px
from widgets.common.look.styling import wear
from widgets.common.look.text import MIDDLE, format_clock, format_duration, format_moment
from widgets.common.look.theme import current_theme, theme_holder
from widgets.common.time_axis.pixels import SIDE

HEIGHT = 58
_TRACK_HEIGHT = 18
SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
_STEP_S, _FAR_STEP_S = 5.0, 60.0


class SeekTrack(QWidget):
    """The whole recording as one line; click or drag seeks, Left and Right step. Signal seek_wanted(float)."""

    seek_wanted = Signal(float)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._start, self._end, self._at = 0.0, 1.0, 0.0
        self._events: tuple[Event, ...] = ()
        self._sides = (SIDE, SIDE)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(_TRACK_HEIGHT)
        self.setMinimumWidth(120)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName(tr("Position in the recording"))
        theme_holder().changed.connect(self.update)

    def set_position(self, at: float, start: float, end: float) -> None:
        """Show where the replay stands (epoch seconds)."""
        if (at, start, end) != (self._at, self._start, self._end):
            self._at, self._start, self._end = at, start, max(end, start + 1e-3)
            self.update()

    def set_events(self, events: Sequence[Event]) -> None:
        """Mark these on the track."""
        self._events = tuple(events)
        self.update()

    def sizeHint(self) -> QSize:
        """Return a modest width; it takes what there is."""
        return QSize(240, _TRACK_HEIGHT)

    def set_sides(self, left: float, right: float) -> None:
        """Keep so many pixels free left and right of the line."""
        if (left, right) != self._sides:
            self._sides = (left, right)
            self.update()

    def _length(self) -> float:
        return max(1.0, self.width() - self._sides[0] - self._sides[1])

    def time_at(self, x: float) -> float:
        """Return the moment under a pixel, within the recording."""
        at = time_at(x, self._start, self._end, self._sides[0], self._length())
        return min(self._end, max(self._start, at))

    def x_at(self, at: float) -> float:
        """Return the pixel of a moment."""
        return x_of(at, self._start, self._end, self._sides[0], self._length())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Seek to the pointer."""
        if event.button() == Qt.MouseButton.LeftButton:
            self.seek_wanted.emit(self.time_at(event.position().x()))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Seek while dragging."""
        if event.buttons() & Qt.MouseButton.LeftButton:
            self.seek_wanted.emit(self.time_at(event.position().x()))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Step by 5 s, with Shift by a minute; Home and End."""
        places = {
            "back": self._at - _STEP_S,
            "on": self._at + _STEP_S,
            "far-back": self._at - _FAR_STEP_S,
            "far-on": self._at + _FAR_STEP_S,
            "first": self._start,
            "last": self._end,
        }
        at = places.get(act_of(TRACK, event))
        if at is None:
            super().keyPressEvent(event)
        else:
            self.seek_wanted.emit(min(self._end, max(self._start, at)))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint line, part played, events and handle."""
        del event
        theme = current_theme()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        y, x = self.height() / 2, self.x_at(min(self._end, max(self._start, self._at)))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.line)
        left = self._sides[0]
        painter.drawRoundedRect(QRectF(left, y - 2, self._length(), 4), 2, 2)
        painter.setBrush(theme.accent)
        painter.drawRoundedRect(QRectF(left, y - 2, max(0.0, x - left), 4), 2, 2)
        for known in self._events:
            if known.health is not Health.UNKNOWN and self._start <= known.at <= self._end:
                painter.setBrush(theme.health_fill(known.health))
                painter.drawRect(QRectF(self.x_at(known.at) - 1, y - 7, 2, 4))
        painter.setPen(QPen(theme.panel, 2))
        painter.setBrush(theme.accent)
        painter.drawEllipse(QPointF(x, y), 7 if self.hasFocus() else 6, 7 if self.hasFocus() else 6)
        painter.end()


class ReplayBar(QFrame):
    """The transport controls below the event strip in a replay; it holds no clock of its own.

    Signals: play_wanted(), pause_wanted(), speed_wanted(float recorded seconds per second), seek_wanted(float).
    """

    play_wanted = Signal()
    pause_wanted = Signal()
    speed_wanted = Signal(float)
    seek_wanted = Signal(float)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._playing = False
        self._said = ("", "", "")
        self.setProperty("kind", "panel")
        self._fit_text()
        theme_holder().sized.connect(self._fit_text)
        hint = tr("Play or pause ({keys})", keys=keys_of(WINDOW, "play"))
        self._play = button(tr("Play"), hint=hint, on=self._toggle)
        self._words = label("", "second")
        self._words.setMinimumWidth(10)
        self._track = SeekTrack()
        self._track.seek_wanted.connect(self.seek_wanted)
        self._speed = Combo()
        self._speed.setAccessibleName(tr("Replay speed"))
        set_tip(self._speed, tr("Recorded seconds per second"))
        for speed in SPEEDS:
            self._speed.addItem(f"{speed:g} ×", speed)
        self._speed.setCurrentIndex(SPEEDS.index(1.0))
        self._speed.activated.connect(lambda index: self.speed_wanted.emit(SPEEDS[index]))
        row = QHBoxLayout()
        row.setContentsMargins(16, 6, 16, 0)
        row.setSpacing(12)
        row.addWidget(self._play)
        row.addWidget(self._speed)
        row.addWidget(self._words)
        row.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(row)
        column.addStretch(1)
        column.addWidget(self._track)
        self._retheme()
        theme_holder().changed.connect(self._retheme)
        wear(self)

    def _fit_text(self) -> None:
        self.setFixedHeight(px(HEIGHT))

    def set_state(self, at: float, start: float, end: float, playing: bool, speed: float) -> None:
        """Show position and ends (epoch seconds), whether it plays, recorded seconds per second. No signal."""
        self._track.set_position(at, start, end)
        gone, whole = format_duration(round(at - start)), format_duration(round(end - start))
        day, _, _ = format_moment(at).partition(" ")
        self._said = (day, format_clock(at), tr("{gone} of {whole}", gone=gone, whole=whole))
        self._say()
        nearest = min(range(len(SPEEDS)), key=lambda i: abs(SPEEDS[i] - speed))
        if self._speed.currentIndex() != nearest:
            self._speed.setCurrentIndex(nearest)
        if playing != self._playing:
            self._playing = playing
            self._retheme()

    def set_sides(self, left: float, right: float) -> None:
        """Let the track reach from and to where the strip's time axis does."""
        self._track.set_sides(left, right)

    def set_events(self, events: Sequence[Event]) -> None:
        """Mark what happened on the track."""
        self._track.set_events(events)

    def position_text(self) -> str:
        """Return the position in words, as shown."""
        return self._words.text()

    def _say(self) -> None:
        """Say the day and the moment too where there is room: the strip's flag has the moment as well."""
        day, clock, gone = self._said
        room = self.width() - self._words.x() - round(SIDE)
        words = [f"{day} {clock} {MIDDLE} {gone}", f"{day} {MIDDLE} {gone}"] if gone else [""]
        fit = (one for one in words if self._words.fontMetrics().horizontalAdvance(one) <= room)
        cut = self._words.fontMetrics().elidedText(gone, Qt.TextElideMode.ElideRight, max(0, room))
        self._words.setText(next(fit, cut))
        set_tip(self._words, words[0])

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Say what fits."""
        super().resizeEvent(event)
        self._say()

    def _toggle(self) -> None:
        (self.pause_wanted if self._playing else self.play_wanted).emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Play and pause wherever the focus is in the bar."""
        if act_of(WINDOW, event) == "play":
            self._toggle()
        else:
            super().keyPressEvent(event)

    def _retheme(self, *_: object) -> None:
        self._play.setText(tr("Pause") if self._playing else tr("Play"))
        self._play.setIcon(_transport_icon(self._playing))


def _transport_icon(playing: bool) -> QIcon:
    """Return two bars (pause) or a triangle (play) in the text's colour, sharp up to twice its size."""
    pixmap = QPixmap(28, 28)
    pixmap.setDevicePixelRatio(2)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(current_theme().text)
    if playing:
        painter.drawRect(QRectF(3, 2, 3, 10))
        painter.drawRect(QRectF(8, 2, 3, 10))
    else:
        painter.drawPolygon(QPolygonF([QPointF(3, 1.5), QPointF(12, 7), QPointF(3, 12.5)]))
    painter.end()
    return QIcon(pixmap)
