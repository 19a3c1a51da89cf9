"""What stands in a legend besides curves: limits, zones, and the upright lines of events. Words never lie over data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from services.events import Event
from services.types import Health
from services.words import mark, tr
from widgets.charts.colors import event_pen, limit_line, limit_pen, limit_tint
from widgets.charts.model import ChartSpec
from widgets.common.fonts import SMALL, px, small_width, ui_font
from widgets.common.glyphs import WORDS, glyph
from widgets.common.theme import current_theme, theme_holder

ROW = 22
_SIGN, _GAP = 16.0, 6.0
_BETWEEN = 16
_ORDER = (Health.BAD, Health.WARN, Health.TRANSFER, Health.GOOD, Health.UNKNOWN)
_RESTART = mark("restart, counters begin anew")


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
    return round(_SIGN + _GAP + small_width(key.words) + 4)


def paint_key(painter: QPainter, rect: QRectF, key: Key) -> None:
    """Paint a sign and its words (on the screen or into an exported picture)."""
    theme = current_theme()
    sign = QRectF(rect.left(), rect.center().y() - 6, _SIGN, 12)
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
        glyph(painter, QRectF(sign.left() + 6, sign.top() + 1, 10, 10), key.health, theme)
    else:
        painter.setPen(QPen(theme.warn_fill, 1))
        painter.drawLine(QPointF(sign.center().x(), sign.top() - 2), QPointF(sign.center().x(), sign.bottom() + 2))
    painter.setFont(ui_font(SMALL))
    painter.setPen(theme.second)
    words = rect.adjusted(_SIGN + _GAP, 0, 4, 0)
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
    """One line that says what the upright lines in all charts of the page are; it is there while there are any."""

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
        self.setFixedHeight(px(ROW))

    def show_keys(self, keys: Sequence[Key]) -> None:
        """Explain these."""
        if tuple(keys) != self._keys:
            self._keys = tuple(keys)
            self.setAccessibleName(", ".join(self.texts()))
            self.setVisible(bool(keys))
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
        words = tr("Upright lines are events:")
        box = QRectF(self._left, 0, small_width(words) + 4, self.height())
        painter.drawText(box, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, words)
        x = box.right() + _BETWEEN
        for key in self._keys:
            width = key_width(key)
            paint_key(painter, QRectF(x, 0, width, self.height()), key)
            x += width + _BETWEEN
        painter.end()
