"""Paints one row of the estate: shape, name, and its state at the right; 28 px high."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QTreeView

from services.types import Health
from widgets.common.look.fonts import SMALL, STRONG, px, text_percent, ui_font
from widgets.common.look.glyphs import glyph
from widgets.common.look.theme import Theme, current_theme, theme_holder
from widgets.inventory.tree_model import Entry, EstateModel, Index

ROW_HEIGHT = 28
_MOST_NAME = 140
"""How far right a name may keep the detail: of two words that do not fit, the name is the one that must be whole."""
_MIDDLE_LEFT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
_MIDDLE_RIGHT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight


def arrow_room() -> int:
    """Return how far from the left a cluster's name begins, in pixels: before it stands the arrow that opens it."""
    return px(28)


class EstateDelegate(QStyledItemDelegate):
    """Draws clusters bold with an arrow, nodes with their state's shape."""

    def __init__(self, tree: QTreeView) -> None:
        super().__init__(tree)
        self._tree = tree
        self._fit_text()
        theme_holder().sized.connect(self._fit_text)

    def _fit_text(self) -> None:
        self._strong = ui_font(weight=STRONG)
        self._plain = ui_font()
        self._small = ui_font(SMALL)
        self._small_strong = ui_font(SMALL, STRONG)
        self._tree.doItemsLayout()

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Return the height of a row."""
        del option, index
        return QSize(0, px(ROW_HEIGHT))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint the row over its whole width, whatever the indentation."""
        model = index.model()
        entry = model.entry(index) if isinstance(model, EstateModel) else None
        if entry is None:
            return
        theme = current_theme()
        row = QRectF(0, option.rect.y(), self._tree.viewport().width(), option.rect.height())
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_ground(painter, row, option, theme)
        # The grey of hints has too little contrast on the selection's tint: the darker grey there.
        quiet = theme.second if option.state & QStyle.StateFlag.State_Selected else theme.third
        if entry.node_id:
            self._paint_node(painter, row, entry, quiet)
        else:
            self._paint_cluster(painter, row, entry, quiet, expanded=self._tree.isExpanded(index))
        painter.restore()

    @staticmethod
    def _paint_ground(painter: QPainter, row: QRectF, option: QStyleOptionViewItem, theme: Theme) -> None:
        state = option.state
        if state & QStyle.StateFlag.State_Selected:
            painter.fillRect(row, theme.accent_tint)
            painter.fillRect(QRectF(0, row.y(), 3, row.height()), theme.accent)
        elif state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(row, theme.hover)
        if state & QStyle.StateFlag.State_HasFocus:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(theme.accent, 2))
            painter.drawRoundedRect(row.adjusted(1, 1, -1, -1), 4, 4)

    def _paint_cluster(self, painter: QPainter, row: QRectF, entry: Entry, quiet: QColor, *, expanded: bool) -> None:
        theme = current_theme()
        _arrow(painter, QPointF(px(16), row.center().y()), expanded, theme)
        right = row.right() - 12
        if entry.health in {Health.WARN, Health.BAD, Health.UNKNOWN}:
            side = px(12)
            glyph(painter, QRectF(right - side, row.center().y() - side / 2, side, side), entry.health, theme)
            right -= side + 8
        left = arrow_room()
        room = left + QFontMetricsF(self._strong).horizontalAdvance(entry.name) + 10
        least = min(float(px(_MOST_NAME)), max(room, float(px(96))))
        right = self._paint_detail(painter, row, right, entry.detail, quiet, strong=True, least=least)
        self._paint_name(painter, QRectF(left, row.y(), right - left - 8, row.height()), entry.name, theme, strong=True)

    def _paint_node(self, painter: QPainter, row: QRectF, entry: Entry, quiet: QColor) -> None:
        theme = current_theme()
        left, side = arrow_room() + 8, px(11)
        glyph(painter, QRectF(left, row.center().y() - side / 2, side, side), entry.health, theme)
        left += side + 9
        color = theme.health(entry.health) if entry.health in {Health.WARN, Health.BAD} else quiet
        # A short name leaves its room to the detail, a long one keeps at least this much.
        least = min(float(px(_MOST_NAME)), left + QFontMetricsF(self._plain).horizontalAdvance(entry.name) + 12)
        right = self._paint_detail(painter, row, row.right() - 12, entry.detail, color, strong=False, least=least)
        room = QRectF(left, row.y(), right - left - 8, row.height())
        self._paint_name(painter, room, entry.name, theme, faded=entry.faded)

    def _paint_detail(
        self, painter: QPainter, row: QRectF, right: float, text: str, color: QColor, *, strong: bool, least: float
    ) -> float:
        """Paint the right part, never further left than `least`; return where it begins."""
        font = self._small_strong if strong else self._small
        metrics = QFontMetricsF(font)
        shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, max(0.0, right - least))
        width = metrics.horizontalAdvance(shown)
        painter.setFont(font)
        painter.setPen(color)
        painter.drawText(QRectF(right - width - 1, row.y(), width + 1, row.height()), _MIDDLE_RIGHT, shown)
        return right - width

    def _paint_name(
        self, painter: QPainter, room: QRectF, name: str, theme: Theme, *, strong: bool = False, faded: bool = False
    ) -> None:
        font = self._strong if strong else self._plain
        painter.setFont(font)
        painter.setPen(theme.second if faded else theme.text)
        shown = QFontMetricsF(font).elidedText(name, Qt.TextElideMode.ElideMiddle, room.width())
        painter.drawText(room, _MIDDLE_LEFT, shown)


def _arrow(painter: QPainter, middle: QPointF, expanded: bool, theme: Theme) -> None:
    points = [(-4, -2.5), (4, -2.5), (0, 2.5)] if expanded else [(-2.5, -4), (-2.5, 4), (2.5, 0)]
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.second)
    painter.drawPolygon(QPolygonF([middle + QPointF(*p) * (text_percent() / 100) for p in points]))
