"""Paints the event strip: axis, spans, glyphs with sentences, the cursor's flag and the flag of the present."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPen

from services.drawing.curve import time_at, x_of
from services.events import Event
from services.types import Health
from widgets.common.look.fonts import SMALL, STRONG, drawn_font, text_percent
from widgets.common.look.glyphs import glyph
from widgets.common.look.text import format_clock, format_moment
from widgets.common.look.theme import Theme, with_alpha
from widgets.common.time_axis.pixels import pixel, ticks_wanted
from widgets.common.time_axis.ticks import time_ticks
from widgets.timeline.placement import GLYPH_PX, Bar, Label, Mark

HEIGHT = 76
MARGIN = 16.0
FLAG_HEIGHT = 15.0
TEXT_TOPS, TEXT_HEIGHT = (15.0, 1.0), 14.0
GLYPH_Y = 36.0
BAR_Y, BAR_HEIGHT, BAR_STEP = 45.0, 6.0, 3.0
AXIS_Y = 55.0
LEAST_WORDS = 40.0
_FLAG_GAP = 6.0
_DAY_S = 86400.0


@dataclass(frozen=True, slots=True)
class StripScene:
    """What the strip shows: times in epoch seconds, places in pixels; `left`, `right`: ends of its time axis."""

    width: float
    left: float
    right: float
    start: float
    end: float
    now: float
    cursor: float | None
    hover: float | None
    live: bool
    word: str
    marks: tuple[Mark, ...]
    labels: tuple[Label, ...]
    bars: tuple[Bar, ...]
    selected: Event | None

    def x_of(self, at: float) -> float:
        """Return the pixel of a moment."""
        return x_of(at, self.start, self.end, self.left, self.right - self.left)

    def time_at(self, x: float) -> float:
        """Return the moment under a pixel."""
        return time_at(x, self.start, self.end, self.left, self.right - self.left)

    @property
    def present_in_sight(self) -> bool:
        """Return whether the present lies on the strip."""
        return self.start <= self.now <= self.end + 1e-6

    @property
    def cursor_in_sight(self) -> bool:
        """Return whether a moment of the past is looked at that lies on the strip."""
        return self.cursor is not None and self.start <= self.cursor <= self.end


def paint_strip(painter: QPainter, scene: StripScene, theme: Theme) -> None:
    """Paint everything, back to front."""
    painter.fillRect(QRectF(0, 0, scene.width, HEIGHT), theme.panel)
    painter.setFont(drawn_font(SMALL))
    _axis(painter, scene, theme)
    _future(painter, scene, theme)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    for bar in scene.bars:
        _bar(painter, bar, theme, selected=bar.event is scene.selected)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    flags, lines = flag_rects(scene), line_rects(scene)
    for label in scene.labels:
        _label(painter, label, theme, flags if label.row else lines, selected=scene.selected in label.mark.events)
    for mark in scene.marks:
        _mark(painter, mark, theme, selected=scene.selected in mark.events)
    if scene.hover is not None:
        x = _pixel(scene.x_of(scene.hover))
        painter.setPen(QPen(with_alpha(theme.accent, 0.45), 1))
        painter.drawLine(QPointF(x, FLAG_HEIGHT), QPointF(x, AXIS_Y))
    if scene.present_in_sight:
        present = flag_rect(scene, scene.now, scene.word, at_right=True)
        covered = scene.cursor_in_sight and cursor_rect(scene).intersects(present)
        _flag(
            painter,
            scene.x_of(scene.now),
            present,
            "" if covered else scene.word,
            theme,
            filled=scene.live and scene.cursor is None,
        )
    if scene.cursor is not None and scene.cursor_in_sight:
        words = _moment(scene, scene.cursor)
        _flag(painter, scene.x_of(scene.cursor), cursor_rect(scene), words, theme, filled=True)


def _pixel(x: float) -> float:
    """Return the place of the pixel on the screen that charts put the same moment on: the strip is enlarged whole."""
    enlarged = text_percent() / 100
    return pixel(x * enlarged) / enlarged


def _moment(scene: StripScene, at: float) -> str:
    return format_clock(at) if scene.end - scene.start < _DAY_S else format_moment(at)


def _axis(painter: QPainter, scene: StripScene, theme: Theme) -> None:
    painter.setPen(QPen(theme.line, 1))
    painter.drawLine(QPointF(scene.left, AXIS_Y), QPointF(scene.right, AXIS_Y))
    for tick in time_ticks(scene.start, scene.end, ticks_wanted(scene.right - scene.left)):
        x = _pixel(scene.x_of(tick.at))
        painter.setPen(QPen(theme.stale if tick.strong else theme.line, 1))
        painter.drawLine(QPointF(x, AXIS_Y), QPointF(x, AXIS_Y + 4))
        painter.setPen(theme.second if tick.strong else theme.third)
        half = QFontMetricsF(painter.font()).horizontalAdvance(tick.text) / 2
        left = min(max(x - half, 8.0), scene.width - 8.0 - 2 * half)
        box = QRectF(left, AXIS_Y + 3, 2 * half + 2, 18)
        painter.drawText(box, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, tick.text)


def _future(painter: QPainter, scene: StripScene, theme: Theme) -> None:
    """Nothing is known beyond the present: hatch it where it is in sight."""
    x = scene.x_of(scene.now)
    if scene.now < scene.end and x < scene.right - 1:
        ground = QRectF(x, FLAG_HEIGHT, scene.right - x, AXIS_Y - FLAG_HEIGHT)
        painter.fillRect(ground, with_alpha(theme.divider, 0.5))


def _bar(painter: QPainter, bar: Bar, theme: Theme, *, selected: bool) -> None:
    y = BAR_Y + bar.lane * BAR_STEP - (BAR_STEP if bar.lane else 0) + (BAR_HEIGHT / 2 if bar.lane else 0)
    box = QRectF(QPointF(bar.left, y), QPointF(bar.right, y + BAR_HEIGHT))
    gap = bar.event.kind == "gap" or bar.event.health is Health.UNKNOWN
    edge = theme.stale if gap else theme.health_fill(bar.event.health)
    pen = QPen(edge, 1.6 if selected else 1)
    if gap:
        pen.setDashPattern([3, 2])
    painter.setPen(pen)
    painter.setBrush(theme.divider if gap else theme.health_tint(bar.event.health))
    if bar.open_end:
        painter.setClipRect(box.adjusted(-2, -2, 0, 2))
        box.setRight(box.right() + 8)
    painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 2, 2)
    painter.setClipping(False)


def _mark(painter: QPainter, mark: Mark, theme: Theme, *, selected: bool) -> None:
    box = QRectF(mark.x - GLYPH_PX / 2, GLYPH_Y - GLYPH_PX / 2, GLYPH_PX, GLYPH_PX)
    if selected:
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.accent_tint)
        painter.drawEllipse(box.center(), GLYPH_PX, GLYPH_PX)
        painter.restore()
    if any(event.spans for event in mark.events):
        painter.setPen(QPen(theme.health_fill(mark.health), 1))
        painter.drawLine(QPointF(_pixel(mark.x), GLYPH_Y + GLYPH_PX / 2), QPointF(_pixel(mark.x), BAR_Y + BAR_HEIGHT))
    glyph(painter, box, mark.health, theme)


def _label(painter: QPainter, label: Label, theme: Theme, before: Sequence[QRectF], *, selected: bool) -> None:
    painter.setPen(QPen(theme.line, 1))
    x = _pixel(label.mark.x)
    top = TEXT_TOPS[label.row]
    painter.drawLine(QPointF(x, top + 3), QPointF(x, GLYPH_Y - GLYPH_PX / 2 - 2))
    painter.setFont(drawn_font(SMALL, STRONG) if selected else drawn_font(SMALL))
    painter.setPen(theme.text if selected else theme.second)
    box = beside(QRectF(label.left, top, label.width, TEXT_HEIGHT), before)
    if box.width() >= min(LEAST_WORDS, label.width):
        words = QFontMetricsF(painter.font()).elidedText(label.mark.text, Qt.TextElideMode.ElideRight, box.width() + 1)
        aligned = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(box.adjusted(0, 0, 4, 0), aligned, words)
    painter.setFont(drawn_font(SMALL))


def beside(box: QRectF, flags: Sequence[QRectF]) -> QRectF:
    """Return the larger free part of a sentence's place: a flag or its line that moves over it cuts no word."""
    for flag in flags:
        if flag.right() + _FLAG_GAP <= box.left() or flag.left() - _FLAG_GAP >= box.right():
            continue
        before = flag.left() - _FLAG_GAP - box.left()
        after = box.right() - flag.right() - _FLAG_GAP
        if before >= after:
            box.setWidth(max(0.0, before))
        else:
            box.setLeft(min(box.right(), flag.right() + _FLAG_GAP))
    return box


def flag_rects(scene: StripScene) -> tuple[QRectF, ...]:
    """Return where the flags stand that are in sight: the present's and the cursor's."""
    found: list[QRectF] = []
    if scene.present_in_sight:
        found.append(flag_rect(scene, scene.now, scene.word, at_right=True))
    if scene.cursor is not None and scene.cursor_in_sight:
        found.append(cursor_rect(scene))
    return tuple(found)


def line_rects(scene: StripScene) -> tuple[QRectF, ...]:
    """Return where the lines below the flags cross the sentences near the glyphs."""
    moments = [scene.now] if scene.present_in_sight else []
    if scene.cursor is not None and scene.cursor_in_sight:
        moments.append(scene.cursor)
    return tuple(QRectF(_pixel(scene.x_of(at)) - 1, FLAG_HEIGHT, 2, AXIS_Y - FLAG_HEIGHT) for at in moments)


def flag_rect(scene: StripScene, at: float, words: str, *, at_right: bool) -> QRectF:
    """Return where a flag stands: over its moment, or (the present) left of it."""
    width = QFontMetricsF(drawn_font(SMALL, STRONG)).horizontalAdvance(words) + 16
    x = scene.x_of(at)
    left = x - width if at_right else x - width / 2
    return QRectF(min(max(left, 0.0), scene.width - width), 0, width, FLAG_HEIGHT)


def cursor_rect(scene: StripScene) -> QRectF:
    """Return where the flag of the moment looked at stands: over it, or beside the flag of the present, not on it."""
    at = 0.0 if scene.cursor is None else scene.cursor
    box = flag_rect(scene, at, _moment(scene, at), at_right=False)
    if scene.present_in_sight:
        present = flag_rect(scene, scene.now, scene.word, at_right=True)
        if box.right() > present.left() - 2:
            box.moveRight(max(present.left() - 2, box.width()))
    return box


def _flag(painter: QPainter, moment_x: float, box: QRectF, words: str, theme: Theme, *, filled: bool) -> None:
    x = _pixel(moment_x)
    painter.setPen(QPen(theme.accent if filled else theme.stale, 2 if filled else 1))
    # Where the flag had to stand beside its moment the line begins below: it strikes no other flag's word out.
    top = 0.0 if box.left() - 1 <= x <= box.right() + 1 else FLAG_HEIGHT
    painter.drawLine(QPointF(x, top), QPointF(x, AXIS_Y + 4))
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen if filled else QPen(theme.line, 1))
    painter.setBrush(theme.accent if filled else theme.panel)
    painter.drawRoundedRect(box.adjusted(0, -4, 0, 0), 3, 3)
    painter.restore()
    painter.setFont(drawn_font(SMALL, STRONG))
    painter.setPen(theme.on_accent if filled else theme.third)
    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, words)
    painter.setFont(drawn_font(SMALL))
