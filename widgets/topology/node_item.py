"""One node of the drawing: an item that paints its own text (budget 14: no child items, no cached pixmaps)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFontMetricsF, QPainter, QPainterPath, QPen
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from services.types import Health
from widgets.common.look.glyphs import glyph, shape_path
from widgets.common.look.text import one_line
from widgets.common.look.theme import Theme, ThemeName, curve_color
from widgets.common.look.theme import theme as theme_named
from widgets.common.spark import Spark
from widgets.topology.geometry import CARD_H, CARD_W
from widgets.topology.paint_state import Detail, PaintState
from widgets.topology.wording import CardText

_RADIUS = 8.0
_LEFT = 12.0
_TEXT = 32.0
_ROW = 17.0
_LEAST_LABEL = 40.0
_MOST_TEXT = 400  # characters of a reason: three lines hold a quarter of it
_FIRST_ROW = 50.0
SPARK_AREA = QRectF(_LEFT, 102.0, CARD_W - 24.0, 14.0)
"""Where a card of the least width has its spark: who makes one makes it for this place; a wider card stretches it."""
_GLYPH = QRectF(_LEFT, 14.0, 12.0, 12.0)
_FAR_GLYPH = QRectF(CARD_W / 2 - 32.0, CARD_H / 2 - 32.0, 64.0, 64.0)
_LEFT_MIDDLE = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT_MIDDLE = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_EMPTY = CardText("", "", Health.UNKNOWN, "")
NO_SPARK = Spark((), SPARK_AREA)


@dataclass(frozen=True, slots=True)
class _FarLook:
    """Everything a far node is painted with: 500 of them are painted in one frame."""

    theme: Theme
    pen: QPen
    selected_pen: QPen
    ground: QBrush
    shape: QPainterPath
    color: QColor


@lru_cache(maxsize=32)
def _far_look(health: Health, silent: bool, name: ThemeName) -> _FarLook:
    tokens = theme_named(name)
    selected = QPen(tokens.accent, 3)
    selected.setCosmetic(True)
    pen = QPen(tokens.stale, 0, Qt.PenStyle.DashLine) if silent else QPen(tokens.line, 0)
    ground = QBrush(tokens.panel if health is Health.GOOD else tokens.health_tint(health))
    return _FarLook(tokens, pen, selected, ground, _far_path(health), tokens.health_fill(health))


@lru_cache(maxsize=8)
def _far_path(health: Health) -> QPainterPath:
    return shape_path(health, _FAR_GLYPH)


class NodeItem(QGraphicsItem):
    """A node card 196 x 124, wider where its words have the room; a name from afar; a glyph from very far."""

    def __init__(self, node_id: str, state: PaintState) -> None:
        super().__init__()
        self.node_id = node_id
        self._state = state
        self._text = _EMPTY
        self._shown = _EMPTY  # the text cut to fit
        self._lines: tuple[str, ...] = ()
        self.spark = NO_SPARK
        self._curve_index = 0
        self._curve = curve_color(0)
        self._was = Health.UNKNOWN
        self._far: _FarLook | None = None
        self._wanted = 0.0  # width for all words whole; 0: not measured yet
        self._fit_card(CARD_W)
        self.fade = 1.0  # 0: the old state's shape, 1: the new one's
        self.setZValue(2)

    def _fit_card(self, width: float) -> None:
        self._card = QRectF(0.0, 0.0, width, CARD_H)
        self._right = width - 12.0
        self._spark_area = QRectF(_LEFT, 102.0, width - 24.0, 14.0)

    def set_width(self, width: float) -> None:
        """Take so much room."""
        if width != self._card.width():
            self.prepareGeometryChange()
            self._fit_card(width)
            self._shown = _EMPTY
            self.update()

    @property
    def width(self) -> float:
        """Return how wide the card is."""
        return self._card.width()

    def wanted_width(self) -> float:
        """Return the width that would hold every word of the card uncut."""
        if not self._wanted:
            fonts, text = self._state.fonts, self._text
            role = fonts.small_width.horizontalAdvance(text.role) + 8 if text.role else 0.0
            heads = (
                fonts.name_width.horizontalAdvance(text.name) + role,
                fonts.strong_width.horizontalAdvance(text.state),
            )
            rows = (
                fonts.small_width.horizontalAdvance(label) + 9 + fonts.strong_width.horizontalAdvance(value)
                for label, value, _ in text.rows
            )
            self._wanted = max(_TEXT + max(heads), _LEFT + max(rows, default=0.0)) + 13.0
        return self._wanted

    @property
    def text(self) -> CardText:
        """Return the words it was given last."""
        return self._text

    def take(self, text: CardText, spark: Spark, curve: int) -> bool:
        """Take new content; return whether the state's shape changed (the canvas then fades it in)."""
        changed = self._text is not _EMPTY and self._text.health is not text.health
        if text != self._text:
            if changed:
                self._was = self._text.health
            self._text = text
            self._shown = _EMPTY  # cut when painted: from afar no text is drawn, so none is measured
            self._wanted = 0.0
            self._far = None
            self.update()
        if spark is not self.spark:
            changed_curve = spark.values != self.spark.values
            self.spark = spark
            if changed_curve:
                self.update()
        if curve != self._curve_index:
            self._curve_index, self._curve = curve, curve_color(curve)
        return changed

    def boundingRect(self) -> QRectF:
        """Return the card with room for the frames of selection and focus."""
        return self._card.adjusted(-6.0, -6.0, 6.0, 6.0)

    def shape(self) -> QPainterPath:
        """Return the whole card: clicks beside the text count."""
        path = QPainterPath()
        path.addRect(self._card)
        return path

    # -- painting ------------------------------------------------------------------------------------------------
    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        """Paint as much as the zoom lets a person read."""
        del option, widget
        if self._state.detail is Detail.GLYPH:
            self._paint_far(painter)
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_frame(painter)
        if self._state.detail is Detail.NAME:
            self._paint_name(painter)
        else:
            self._paint_card(painter)

    def _paint_far(self, painter: QPainter) -> None:
        if self._far is None or self._far.theme is not self._state.theme:
            self._far = _far_look(self._text.health, self._text.silent, self._state.theme.name)
        far = self._far
        painter.setPen(far.selected_pen if self._state.selected == self.node_id else far.pen)
        painter.setBrush(far.ground)
        painter.drawRect(self._card)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        wider = self._card.width() - CARD_W
        painter.fillPath(far.shape.translated(wider / 2, 0.0) if wider else far.shape, far.color)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

    def _paint_frame(self, painter: QPainter) -> None:
        theme, state = self._state.theme, self._state
        selected = state.selected == self.node_id
        if selected:
            pen = QPen(theme.accent, 2.0)
        elif self._text.silent:
            pen = QPen(theme.health_fill(Health.UNKNOWN), 1.25)
            pen.setDashPattern([4.0, 3.0])
        elif self._text.health is Health.BAD:
            pen = QPen(theme.bad, 1.25)
        else:
            pen = QPen(theme.stale if state.hovered == self.node_id else theme.line, 1.0)
        painter.setPen(pen)
        painter.setBrush(theme.canvas if self._text.silent else theme.panel)
        inset = 0.0 if selected else 0.5
        painter.drawRoundedRect(self._card.adjusted(inset, inset, -inset, -inset), _RADIUS, _RADIUS)
        if selected and state.focused:
            painter.setPen(QPen(theme.accent, 1.5))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(self._card.adjusted(-4, -4, 4, 4), _RADIUS + 4, _RADIUS + 4)

    def _paint_state_glyph(self, painter: QPainter, rect: QRectF) -> None:
        theme = self._state.theme
        if self.fade >= 1.0:
            glyph(painter, rect, self._text.health, theme)
            return
        painter.setOpacity(1.0 - self.fade)
        glyph(painter, rect, self._was, theme)
        painter.setOpacity(self.fade)
        glyph(painter, rect, self._text.health, theme)
        painter.setOpacity(1.0)

    def _paint_name(self, painter: QPainter) -> None:
        theme, fonts, text = self._state.theme, self._state.fonts, self._text
        self._paint_state_glyph(painter, QRectF(16, 28, 24, 24))
        width = self.width - 52 - 12
        painter.setFont(fonts.far_name)
        painter.setPen(theme.text)
        painter.drawText(
            QRectF(52, 24, width, 32), _LEFT_MIDDLE, _cut(text.name, fonts.far_name_width, width, middle=True)
        )
        painter.setFont(fonts.far_state)
        painter.setPen(theme.health(text.health))
        room = self.width - 28
        for number, words in enumerate(wrapped(text.state, fonts.far_state_width, room, 2)):
            painter.drawText(QRectF(16, 62 + 26 * number, room, 26), _LEFT_MIDDLE, words)

    def _paint_card(self, painter: QPainter) -> None:
        theme, fonts = self._state.theme, self._state.fonts
        if self._shown is _EMPTY:
            self._fit_text()
        text = self._shown
        self._paint_state_glyph(painter, _GLYPH)
        painter.setFont(fonts.name)
        painter.setPen(theme.second if text.silent else theme.text)
        painter.drawText(QRectF(_TEXT, 10, self._right - _TEXT, 20), _LEFT_MIDDLE, text.name)
        if text.role:
            painter.setFont(fonts.small)
            painter.setPen(theme.third)
            painter.drawText(QRectF(_TEXT, 10, self._right - _TEXT, 20), _RIGHT_MIDDLE, text.role)
        painter.setFont(fonts.strong)
        painter.setPen(theme.third if text.stale else theme.health(text.health))
        painter.drawText(QRectF(_TEXT, 29, self._right - _TEXT, 18), _LEFT_MIDDLE, text.state)
        self._paint_rows(painter)
        if not text.silent:
            self._paint_spark(painter)

    def _paint_rows(self, painter: QPainter) -> None:
        theme, fonts, text = self._state.theme, self._state.fonts, self._shown
        y = _FIRST_ROW
        painter.setFont(fonts.small)
        for label, value, health in text.rows:
            painter.setPen(theme.third if text.stale else theme.second)
            painter.drawText(QRectF(_LEFT, y, self._right - _LEFT, _ROW), _LEFT_MIDDLE, label)
            alarming = (health is Health.WARN or health is Health.BAD) and not text.stale
            if alarming:
                painter.setFont(fonts.strong)
            painter.setPen(theme.third if text.stale else theme.value(health))
            painter.drawText(QRectF(_LEFT, y, self._right - _LEFT, _ROW), _RIGHT_MIDDLE, value)
            if alarming:
                painter.setFont(fonts.small)
            y += _ROW
        painter.setPen(theme.second)
        for line in self._lines:
            painter.drawText(QRectF(_LEFT, y, self._right - _LEFT, _ROW), _LEFT_MIDDLE, line)
            y += _ROW
        if text.footer:
            painter.setPen(theme.third)
            painter.drawText(QRectF(_LEFT, 102, self._right - _LEFT, _ROW), _LEFT_MIDDLE, text.footer)

    def _paint_spark(self, painter: QPainter) -> None:
        if self.spark.empty:
            painter.setPen(QPen(self._state.theme.divider, 1.0))
            painter.drawLine(self._spark_area.bottomLeft(), self._spark_area.bottomRight())
        else:
            color = self._state.theme.stale if self._text.stale else self._curve
            self.spark.paint(painter, color, self._spark_area)

    # -- fitting words into the card -----------------------------------------------------------------------------
    def _fit_text(self) -> None:
        fonts, text = self._state.fonts, self._text
        width = self._right - _TEXT
        role = _cut(text.role, fonts.small_width, 84)
        used = fonts.small_width.horizontalAdvance(role) + 8 if role else 0.0
        rows = tuple(self._fit_row(*row) for row in text.rows)
        self._lines = tuple(
            wrapped(one_line(" ".join(text.lines), _MOST_TEXT), fonts.small_width, self._right - _LEFT, 3 - len(rows))
        )
        self._shown = CardText(
            _cut(text.name, fonts.name_width, width - used, middle=True),
            _cut(text.state, fonts.strong_width, width),
            text.health,
            role,
            rows,
            text.lines,
            _cut(text.footer, fonts.small_width, self._right - _LEFT),
            text.silent,
            text.stale,
        )

    def _fit_row(self, label: str, value: str, health: Health) -> tuple[str, str, Health]:
        """Make a row fit: the label gives way before the value does."""
        fonts, room = self._state.fonts, self._right - _LEFT - 8
        metrics = fonts.strong_width if health is Health.WARN or health is Health.BAD else fonts.small_width
        wanted = min(fonts.small_width.horizontalAdvance(label), room)
        value = _cut(value, metrics, room - min(wanted, _LEAST_LABEL))
        return _cut(label, fonts.small_width, room - metrics.horizontalAdvance(value)), value, health


def _cut(text: str, metrics: QFontMetricsF, width: float, *, middle: bool = False) -> str:
    mode = Qt.TextElideMode.ElideMiddle if middle else Qt.TextElideMode.ElideRight
    return metrics.elidedText(text, mode, max(0.0, width))


def wrapped(text: str, metrics: QFontMetricsF, width: float, lines: int) -> list[str]:
    """Break `text` at spaces into at most `lines` lines of `width`; the last one is cut if more is left."""
    result: list[str] = []
    words = [w for w in text[:_MOST_TEXT].split(" ") if w]
    while words and len(result) < lines:
        if len(result) == lines - 1:
            result.append(_cut(" ".join(words), metrics, width))
            break
        line = words.pop(0)
        while words and metrics.horizontalAdvance(f"{line} {words[0]}") <= width:
            line = f"{line} {words.pop(0)}"
        result.append(_cut(line, metrics, width))
    return result


def middle_of(item: NodeItem) -> QPointF:
    """Return the middle of a card in scene coordinates."""
    return item.pos() + QPointF(item.width / 2, CARD_H / 2)
