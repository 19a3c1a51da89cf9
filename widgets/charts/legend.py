"""The legend under a plot: a square, a name, the value at the crosshair (or the newest) with its unit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QFont,
    QFontMetricsF,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QRegion,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from services.i18n import tr
from widgets.charts.colors import curve_area, curve_line
from widgets.charts.legend_key import Key, KeyLabel
from widgets.charts.model import CurveSpec
from widgets.common.controls.plain import show_tip
from widgets.common.look.fonts import SMALL, STRONG, px, text_percent, ui_font
from widgets.common.look.theme import current_theme, theme_holder, with_alpha

_SQUARE, _GAP, _ROW, _BETWEEN = 10.0, 6.0, 22, 14
_CALM = 20
"""Readings (about one a second) after which old words no longer keep their room."""
_NAME_LEFT = _SQUARE + _GAP
_LEFT_MIDDLE = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


@dataclass(frozen=True, slots=True)
class Reading:
    """What the legend says of one curve: value with unit; `stale` when old or unknown; `why` for the tip."""

    text: str
    stale: bool = False
    why: str = ""


@lru_cache(maxsize=2)
def _fonts_of(percent: int) -> tuple[QFont, QFontMetricsF, QFont, QFontMetricsF]:
    del percent
    regular, strong = ui_font(SMALL), ui_font(SMALL, STRONG)
    return regular, QFontMetricsF(regular), strong, QFontMetricsF(strong)


def _fonts() -> tuple[QFont, QFontMetricsF, QFont, QFontMetricsF]:
    """Return the two fonts with their metrics, made once: every value of every chart asks each second."""
    return _fonts_of(text_percent())


class LegendItem(QAbstractButton):
    """One curve in the legend. Click isolates it, double click shows all again; Space does the same by keyboard."""

    isolate_wanted = Signal(str)
    all_wanted = Signal()

    def __init__(self, curve: CurveSpec, chart: str, parent: QWidget, *, piled: bool = False) -> None:
        super().__init__(parent)
        self.setUpdatesEnabled(False)  # the legend paints it: Qt need not ask a widget for each value
        self.curve = curve
        self._chart = chart
        self.piled = piled
        self.reading = Reading("–", stale=True)
        self._dimmed = False
        self._fresh = 0
        self.fit_text()
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._speak()

    def fit_text(self) -> None:
        """Measure the words in the present text size."""
        self._widest = self._room = 0.0
        self._name_width = _fonts()[1].horizontalAdvance(self.curve.label)
        self._value_width = _fonts()[3].horizontalAdvance(self.reading.text)

    def set_reading(self, reading: Reading) -> QRect | None:
        """Take another value; return where the legend must be painted anew, None: it is the same as before."""
        self._fresh = 0 if reading.stale else self._fresh + 1
        if reading == self.reading:
            return None
        whole = self._is_cut()
        self.reading = reading
        self._value_width = _fonts()[3].horizontalAdvance(reading.text)
        self._speak()
        if whole or self._is_cut():
            return self.geometry()
        return self.geometry().adjusted(self._value_left(), 0, 0, 0)

    @property
    def unfit(self) -> bool:
        """Return whether the row must be laid out again: the value is wider than its room, or old words are long gone.

        'Old' beside a value ("4 ms, 12 s ago") takes room that its numbers never do; it is given back when it has not
        been said for a while, so that a sample that comes late now and then moves nothing.
        """
        return self._value_width > self._room or (self._fresh >= _CALM and self._room > self._widest > 0.0)

    def set_dimmed(self, dimmed: bool) -> None:
        """Step back while another curve is isolated."""
        self._dimmed = dimmed

    def sizeHint(self) -> QSize:
        """Return the size of square, name and the widest number so far: numbers that change must not push others."""
        if not self.reading.stale:
            self._widest = max(self._widest, self._value_width)
        kept = self._room if self._fresh < _CALM else 0.0
        self._room = max(self._widest, self._value_width, kept)
        return QSize(round(_SQUARE + _GAP + self._name_width + _GAP + self._room + 4), px(_ROW))

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Show all curves again."""
        event.accept()
        self.all_wanted.emit()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Isolate on a click (QAbstractButton's own click also follows a double click)."""
        was_down = self.isDown()
        self.setDown(False)
        if was_down and self.rect().contains(event.position().toPoint()):
            self.isolate_wanted.emit(self.curve.key)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Space or Enter isolates, and again shows all."""
        if event.key() in {Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            self.isolate_wanted.emit(self.curve.key)
        else:
            event.ignore()

    def tip(self) -> str:
        """Return the tooltip: what it says, why, and what the curve is."""
        lines = (f"{self.curve.label} {self.reading.text}", self.reading.why, self.curve.hint)
        return "\n".join(line for line in lines if line)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Leave it to the legend."""

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Have the line below it painted."""
        super().focusInEvent(event)
        self._repaint()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Have the line below it taken away."""
        super().focusOutEvent(event)
        self._repaint()

    def _repaint(self) -> None:
        legend = self.parentWidget()
        if legend is not None:
            legend.update(self.geometry())

    def paint_on(self, painter: QPainter, changed: QRegion) -> None:
        """Paint the item into its place on the legend, or the value alone where only that has changed."""
        place = self.geometry()
        rect, name_end, cut = QRectF(place), self._value_left(), self._is_cut()
        if cut or changed.intersects(QRect(place.x(), place.y(), name_end, place.height())):
            painter.setClipRect(place)  # what has no room must not reach over the next one
            paint_item(painter, rect, self.curve, self.reading, dimmed=self._dimmed, piled=self.piled)
            painter.setClipping(False)
        elif changed.intersects(place):
            left = place.x() + _NAME_LEFT + self._name_width + _GAP
            _paint_value(painter, rect, left, self.reading, dimmed=self._dimmed)
        if self.hasFocus():
            painter.setPen(QPen(current_theme().accent, 1))
            y = place.y() + place.height() - 2
            painter.drawLine(QPointF(place.x(), y), QPointF(place.x() + place.width() - 4, y))

    def _value_left(self) -> int:
        """Return the pixel left of the value, where the name is not cut."""
        return int(_NAME_LEFT + self._name_width + _GAP) - 1

    def _is_cut(self) -> bool:
        """Return whether the name gives way to the value, and moves with it."""
        return self._name_width > self.width() - _NAME_LEFT - _GAP - self._value_width

    def _speak(self) -> None:
        self.setAccessibleName(f"{self._chart}, {self.curve.label} {self.reading.text}")


def paint_item(
    painter: QPainter, rect: QRectF, curve: CurveSpec, reading: Reading, *, dimmed: bool = False, piled: bool = False
) -> None:
    """Paint square, name and value into `rect` (on the screen or into an exported picture); `piled`: it is an area."""
    theme = current_theme()
    _paint_square(painter, QPointF(rect.left(), rect.center().y() - _SQUARE / 2), curve, dimmed=dimmed, piled=piled)
    regular, metrics, _, strong_metrics = _fonts()
    painter.setFont(regular)
    left = rect.left() + _NAME_LEFT
    painter.setPen(theme.third if dimmed else theme.second)
    room = rect.right() - left
    value_width = strong_metrics.horizontalAdvance(reading.text)
    name, name_width, name_room = curve.label, metrics.horizontalAdvance(curve.label), room - _GAP - value_width
    if name_width > name_room + 1:
        name = metrics.elidedText(name, Qt.TextElideMode.ElideMiddle, max(16.0, name_room))
        name_width = metrics.horizontalAdvance(name)
    painter.drawText(QRectF(left, rect.top(), room, rect.height()), _LEFT_MIDDLE, name)
    _paint_value(painter, rect, left + name_width + _GAP, reading, dimmed=dimmed)


def _paint_square(painter: QPainter, at: QPointF, curve: CurveSpec, *, dimmed: bool, piled: bool) -> None:
    """Paint a curve's square; that of an area is the area's colour, framed, for some areas are almost the ground's."""
    theme = current_theme()
    line = curve_line(curve, theme)
    fill = curve_area(curve, theme) if piled else line
    frame = QPen(with_alpha(line, 0.35) if dimmed else line, 1)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(frame if piled else Qt.PenStyle.NoPen)
    painter.setBrush(with_alpha(fill, 0.35 * fill.alphaF()) if dimmed else fill)
    inset = 0.5 if piled else 0.0
    square = QRectF(at.x() + inset, at.y() + inset, _SQUARE - 2 * inset, _SQUARE - 2 * inset)
    painter.drawRoundedRect(square, 2, 2)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)


def _paint_value(painter: QPainter, rect: QRectF, left: float, reading: Reading, *, dimmed: bool) -> None:
    theme = current_theme()
    regular, _, strong, _ = _fonts()
    painter.setFont(regular if reading.stale else strong)
    painter.setPen(theme.third if dimmed or reading.stale else theme.text)
    painter.drawText(QRectF(left, rect.top(), rect.right() - left + 2, rect.height()), _LEFT_MIDDLE, reading.text)


class Legend(QWidget):
    """The items of one plot, in rows as many as needed.

    Signals: isolate_wanted(key), all_wanted().
    """

    isolate_wanted = Signal(str)
    all_wanted = Signal()

    def __init__(
        self,
        curves: tuple[CurveSpec, ...],
        chart: str,
        parent: QWidget | None = None,
        *,
        keys: tuple[Key, ...] = (),
        piled: bool = False,
    ) -> None:
        """Make the items of `curves` (`piled`: areas upon one another), then the signs that explain the rest."""
        super().__init__(parent)
        self.items = {curve.key: LegendItem(curve, chart, self, piled=piled) for curve in curves}
        self.keys = tuple(KeyLabel(key, self) for key in keys)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)  # the card behind it need not be painted again
        self.setAccessibleName(tr("Legend of {chart}", chart=chart))
        for item in self.items.values():
            item.isolate_wanted.connect(self.isolate_wanted)
            item.all_wanted.connect(self.all_wanted)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(px(_ROW))
        theme_holder().sized.connect(self._fit_text)
        theme_holder().changed.connect(self.update)

    def _fit_text(self) -> None:
        for item in self.items.values():
            item.fit_text()
        self._arrange()

    def set_readings(self, readings: dict[str, Reading]) -> None:
        """Show the values by curve key."""
        changed = QRegion()
        for key, reading in readings.items():
            place = self.items[key].set_reading(reading)
            if place is not None:
                changed += place
        if not changed.isEmpty():
            self.update(changed)
        if any(self.items[key].unfit for key in readings):
            self._arrange()

    def set_isolated(self, key: str) -> None:
        """Dim all but one ('' for none)."""
        for name, item in self.items.items():
            item.set_dimmed(bool(key) and name != key)
        self.update()

    def texts(self) -> tuple[str, ...]:
        """Return what a person reads, item by item."""
        return tuple(f"{item.curve.label} {item.reading.text}" for item in self.items.values())

    def event(self, event: QEvent) -> bool:
        """Make an item's tooltip when it is asked for: Qt asks the parent of what has none of its own.

        An item that listened for it would be asked of each of its events, two for each value painted.
        """
        if isinstance(event, QHelpEvent) and event.type() is QEvent.Type.ToolTip:
            item = self.childAt(event.pos())
            if isinstance(item, LegendItem):
                show_tip(event.globalPos(), item.tip(), item)
                return True
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the items: one widget painted each second for all values of a chart costs less than one each."""
        painter, changed = QPainter(self), event.region()
        painter.fillRect(event.rect(), current_theme().panel)
        for item in self.items.values():
            item.paint_on(painter, changed)
        painter.end()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lay the items out for the width."""
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        x, y, width, high = 0, 0, max(60, self.width()), px(_ROW)
        parts: dict[str, QWidget] = {**self.items, **{key.key.words: key for key in self.keys}}
        wides = {name: min(part.sizeHint().width(), width) for name, part in parts.items()}
        over = sum(wides.values()) + _BETWEEN * (len(wides) - 1) - width
        longest = max(self.items, key=lambda key: wides[key], default="")
        if 0 < over < wides[longest] * 0.5 if longest else False:
            wides[longest] -= over  # one name is cut before a second row takes height from the plot
        for name, part in parts.items():
            wide = wides[name]
            if x and x + wide > width:
                x, y = 0, y + high
            part.setGeometry(x, y, wide, high)
            x += wide + _BETWEEN
        if parts and self.height() != y + high:
            self.setFixedHeight(y + high)
        self.update()
