"""What stands in a legend besides curves: limits, zones, and the upright lines of events. Words never lie over data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from services.events import Event
from services.i18n import mark, tr
from services.types import Health
from widgets.charts.colors import event_pen, limit_line, limit_pen, limit_tint
from widgets.charts.model import ChartSpec
from widgets.common.look.fonts import SMALL, px, small_width, ui_font
from widgets.common.look.glyphs import WORDS, glyph
from widgets.common.look.theme import current_theme, theme_holder
from widgets.common.time_axis.view import View

ROW = 22
_SIGN, _GAP = 16.0, 6.0
"""At 100 %: signs grow with their words."""
_BETWEEN = 16
_ORDER = (Health.BAD, Health.WARN, Health.TRANSFER, Health.GOOD, Health.UNKNOWN)
_TITLE = mark("Vertical lines are events:")
_RESTART = mark("restart, counters start at 0")


@dataclass(frozen=True, slots=True)
class Key:
    """A sign and its words. `kind`: "limit" or "zone" with a tone, "event" with a health, "restart"."""

    kind: str
    words: str
    tone: str = ""
    health: Health = Health.UNKNOWN


def chart_keys(spec: ChartSpec) -> tuple[Key, ...]:
    """Return the signs of a chart's limits and zones."""
    limits = tuple(Key("limit", limit.label, limit.tone) for limit in spec.limits)
    return (*limits, *(Key("zone", band.label, band.tone) for band in spec.bands if band.label))


def event_marks(events: Sequence[Event], start: float, end: float) -> list[tuple[float, Health]]:
    """Return the moments of a span that have an upright line: beginnings and ends. Curves show a gap themselves."""
    marks: list[tuple[float, Health]] = []
    for event in events:
        if event.kind != "gap":
            moments = [event.at] if event.until is None or event.unseen_end else [event.at, event.until]
            marks += [(at, event.health) for at in moments if start <= at <= end]
    return marks


def event_keys(healths: set[Health], *, restarts: bool) -> tuple[Key, ...]:
    """Return the signs of the upright lines that are in sight."""
    lines = tuple(Key("event", tr(WORDS[health]), health=health) for health in _ORDER if health in healths)
    return (*lines, Key("restart", tr(_RESTART))) if restarts else lines


def key_width(key: Key) -> int:
    """Return how wide a sign with its words is."""
    return round(px(_SIGN) + _GAP + small_width(key.words) + 4)


def paint_key(painter: QPainter, rect: QRectF, key: Key) -> None:
    """Paint a sign and its words (on the screen or into an exported picture)."""
    theme = current_theme()
    sign = QRectF(rect.left(), rect.center().y() - px(6), px(_SIGN), px(12))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    if key.kind == "limit":
        painter.setPen(limit_pen(key.tone, theme))
        y = round(sign.center().y())
        painter.drawLine(QPointF(sign.left(), y), QPointF(sign.right(), y))
    elif key.kind == "zone":
        painter.setPen(QPen(limit_line(key.tone, theme), 1))
        painter.setBrush(limit_tint(key.tone, theme))
        painter.drawRect(sign.adjusted(2, 1, -4, -1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
    elif key.kind == "event":
        painter.setPen(event_pen(key.health, theme))
        painter.drawLine(QPointF(sign.left() + 1, sign.top() - 2), QPointF(sign.left() + 1, sign.bottom() + 2))
        glyph(painter, QRectF(sign.left() + px(6), sign.top() + px(1), px(10), px(10)), key.health, theme)
    else:
        painter.setPen(QPen(theme.warn_fill, 1))
        painter.drawLine(QPointF(sign.center().x(), sign.top() - 2), QPointF(sign.center().x(), sign.bottom() + 2))
    painter.setFont(ui_font(SMALL))
    painter.setPen(theme.second)
    words = rect.adjusted(px(_SIGN) + _GAP, 0, 4, 0)
    painter.drawText(words, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, key.words)


class KeyLabel(QWidget):
    """One sign with its words in the legend of a chart."""

    def __init__(self, key: Key, parent: QWidget) -> None:
        super().__init__(parent)
        self.key = key
        self.setAccessibleName(key.words)
        theme_holder().changed.connect(self.update)

    def sizeHint(self) -> QSize:
        """Return the size of sign and words."""
        return QSize(key_width(self.key), px(ROW))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint sign and words."""
        del event
        painter = QPainter(self)
        paint_key(painter, QRectF(self.rect()), self.key)
        painter.end()


class EventLegend(QWidget):
    """Says what the upright lines in all charts of the page are, in as many lines as that takes; there while any is."""

    def __init__(self, left: int) -> None:
        super().__init__()
        self._left = left
        self._keys: tuple[Key, ...] = ()
        self._fit_text()
        theme_holder().sized.connect(self._fit_text)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setVisible(False)
        theme_holder().changed.connect(self.update)

    def _fit_text(self) -> None:
        self.setFixedHeight(max(place.y() for _key, place in self._places()) + px(ROW))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Go on below where there is no room."""
        super().resizeEvent(event)
        self._fit_text()

    def _places(self) -> list[tuple[Key | None, QRect]]:
        """Return where the first words (None) and each sign with its words stand."""
        first = round(small_width(tr(_TITLE))) + 4
        places: list[tuple[Key | None, QRect]] = [(None, QRect(self._left, 0, first, px(ROW)))]
        x, y = self._left + first + _BETWEEN, 0
        for key in self._keys:
            width = key_width(key)
            if x + width > self.width() and x > self._left:
                x, y = self._left, y + px(ROW)
            places.append((key, QRect(x, y, width, px(ROW))))
            x += width + _BETWEEN
        return places

    def explain(self, events: Sequence[Event], restarts: Iterable[float], view: View) -> None:
        """Say what the upright lines in sight are; `restarts`: UTC epoch seconds."""
        marks = {health for _, health in event_marks(events, view.start, view.end)}
        restarted = any(view.start <= at <= view.end for at in restarts)
        self.show_keys(event_keys(marks, restarts=restarted))

    def show_keys(self, keys: Sequence[Key]) -> None:
        """Explain these."""
        if tuple(keys) != self._keys:
            self._keys = tuple(keys)
            self.setAccessibleName(", ".join(self.texts()))
            self.setVisible(bool(keys))
            self._fit_text()
            self.update()

    def texts(self) -> tuple[str, ...]:
        """Return the words as shown."""
        return tuple(key.words for key in self._keys)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the signs from left to right."""
        del event
        painter = QPainter(self)
        theme = current_theme()
        painter.setFont(ui_font(SMALL))
        painter.setPen(theme.third)
        for key, place in self._places():
            if key is None:
                painter.drawText(place, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, tr(_TITLE))
            else:
                paint_key(painter, QRectF(place), key)
        painter.end()
