"""The cluster small: who is in the Primary Component, in which state, who feeds whom, and what is switched on where."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from services.discovery.model import ClusterSnapshot, Component, NodeView, TransferEdge
from services.words import tr
from widgets.common.duty import paint_duty
from widgets.common.fonts import SMALL, STRONG, drawn_font, px, text_percent
from widgets.common.glyphs import glyph
from widgets.common.nodes import is_silent, ordered_nodes, state_word
from widgets.common.text import MIDDLE, format_percent, plural
from widgets.common.theme import current_theme, theme_holder

_BETWEEN, _CARD_H = 84.0, 52.0  # the room in which an edge has its words
_GAP_Y, _PAD, _HEAD = 24.0, 16.0, 32.0


class MiniTopology(QWidget):
    """Two columns of small cards; the Primary Component is an enclosure around its members."""

    def __init__(self) -> None:
        super().__init__()
        self._cluster: ClusterSnapshot | None = None
        self._duties: tuple[tuple[str, str], ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme_holder().changed.connect(self.update)
        theme_holder().sized.connect(self.updateGeometry)
        self.hide()

    def set_cluster(self, cluster: ClusterSnapshot | None) -> None:
        """Show this cluster; None shows nothing."""
        before, self._cluster = self._cluster, cluster
        self.setVisible(cluster is not None)
        if cluster is None or cluster == before:
            return
        said = ", ".join(f"{node.name} {state_word(node)}" for node in ordered_nodes(cluster))
        self.setAccessibleName(f"{cluster.name}: {said}")
        if before is None or len(before.nodes) != len(cluster.nodes) or len(_outside(before)) != len(_outside(cluster)):
            self.updateGeometry()
        self.update()

    def set_duties(self, duties: tuple[tuple[str, str], ...]) -> None:
        """Mark the hosts where something is switched on for a while: (host, sentence)."""
        if duties != self._duties:
            self._duties = duties
            self.update()

    def has_cluster(self) -> bool:
        """Return whether there is a cluster to show."""
        return self._cluster is not None

    def sizeHint(self) -> QSize:
        """Return the room that two columns of cards need."""
        if self._cluster is None:
            return QSize(300, 0)
        inside = len(self._cluster.nodes) - len(_outside(self._cluster))
        height = self._enclosure_height(inside)
        rows = (len(_outside(self._cluster)) + 1) // 2
        return QSize(300, px(height + rows * (_CARD_H + 8) + (8 if rows else 0)))

    def minimumSizeHint(self) -> QSize:
        """Return the height as a must."""
        return QSize(300, self.sizeHint().height())

    @staticmethod
    def _enclosure_height(inside: int) -> float:
        rows = max(1, (inside + 1) // 2)
        return _HEAD + rows * _CARD_H + (rows - 1) * _GAP_Y + _PAD if inside else 0.0

    # -- painting ------------------------------------------------------------------------------------------------
    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the enclosure, the cards and the transfers."""
        del event
        cluster = self._cluster
        if cluster is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.scale(text_percent() / 100, text_percent() / 100)  # enlarged as a whole, words and all
        outside = _outside(cluster)
        inside = [node for node in ordered_nodes(cluster) if node not in outside]
        height = self._enclosure_height(len(inside))
        if inside:
            self._paint_enclosure(painter, QRectF(0.5, 0.5, self._across() - 1.0, height - 1.0), cluster)
        places = self._grid(inside, _HEAD, _GAP_Y) | self._grid(outside, height + 8 if inside else 0.0, 8.0)
        for edge in cluster.transfers:
            if edge.active and edge.donor_id in places and edge.joiner_id in places:
                self._paint_edge(painter, places[edge.donor_id], places[edge.joiner_id], edge)
        for node in (*inside, *outside):
            self._paint_card(painter, places[node.node_id], node, cluster)
        painter.end()

    def _across(self) -> float:
        return self.width() / (text_percent() / 100)

    def _grid(self, nodes: list[NodeView], top: float, gap: float) -> dict[str, QRectF]:
        width = (self._across() - 2 * _PAD - _BETWEEN) / 2
        right = self._across() - _PAD - width
        return {
            node.node_id: QRectF(_PAD if i % 2 == 0 else right, top + (i // 2) * (_CARD_H + gap), width, _CARD_H)
            for i, node in enumerate(nodes)
        }

    def _paint_enclosure(self, painter: QPainter, box: QRectF, cluster: ClusterSnapshot) -> None:
        theme = current_theme()
        component = _primary(cluster)
        painter.setPen(theme.enclosure_line if component else theme.line)
        painter.setBrush(theme.enclosure if component else theme.panel)
        painter.drawRoundedRect(box, 16, 16)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        line = QRectF(box.x() + _PAD, box.y() + 6, box.width() - 2 * _PAD, 22)
        painter.setFont(drawn_font(SMALL, STRONG))
        painter.setPen(theme.good if component else theme.second)
        title = tr("Primary component") if component else cluster.name
        painter.drawText(line, Qt.AlignmentFlag.AlignVCenter, title)
        if component is None:
            return
        line.setLeft(line.left() + QFontMetricsF(painter.font()).horizontalAdvance(title) + 12)
        painter.setFont(drawn_font(SMALL))
        painter.setPen(theme.second)
        votes = plural(component.votes, "{n} vote", "{n} votes")
        may = tr("may lose {n}", n=component.may_lose) if component.may_lose is not None else ""
        text = f" {MIDDLE} ".join(filter(None, (votes, may)))
        cut = QFontMetricsF(painter.font()).elidedText(text, Qt.TextElideMode.ElideRight, line.width())
        painter.drawText(line, Qt.AlignmentFlag.AlignVCenter, cut)

    def _paint_card(self, painter: QPainter, box: QRectF, node: NodeView, cluster: ClusterSnapshot) -> None:
        theme = current_theme()
        silent = is_silent(node)
        painter.setPen(QPen(theme.stale, 1, Qt.PenStyle.DashLine) if silent else QPen(theme.line, 1))
        painter.setBrush(theme.panel)
        painter.drawRoundedRect(box, 8, 8)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        glyph(painter, QRectF(box.x() + 10, box.y() + 13, 11, 11), node.health, theme)
        duty = any(host in {node.host, node.name} for host, _ in self._duties)
        room = QRectF(box.x() + 29, box.y() + 7, box.width() - 37 - (20 if duty else 0), 20)
        _text(painter, room, node.name, STRONG)
        painter.setPen(theme.health(node.health))
        room = QRectF(box.x() + 29, box.y() + 27, box.width() - 35, 18)
        _text(painter, room, state_word(node) + _share(cluster, node), None)
        if duty:
            paint_duty(painter, QRectF(box.right() - 22, box.y() + 9, 14, 14))

    def _paint_edge(self, painter: QPainter, donor: QRectF, joiner: QRectF, edge: TransferEdge) -> None:
        theme = current_theme()
        start, end = _ends(donor, joiner)
        painter.setPen(QPen(theme.transfer, 2))
        painter.drawLine(start, end)
        along = end - start
        length = max(1.0, (along.x() ** 2 + along.y() ** 2) ** 0.5)
        unit = along / length
        side = QPointF(-unit.y(), unit.x())
        painter.setBrush(theme.transfer)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.drawPolygon(QPolygonF([end, end - unit * 10 + side * 5, end - unit * 10 - side * 5]))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(theme.transfer)
        painter.setFont(drawn_font(SMALL, STRONG))
        if abs(along.y()) < 1.0:
            words = QRectF(min(start.x(), end.x()), start.y() - 20, abs(along.x()), 18)
            painter.drawText(words, Qt.AlignmentFlag.AlignCenter, edge.kind)
        elif abs(along.x()) < 1.0:
            words = QRectF(start.x() + 8, (start.y() + end.y()) / 2 - 9, 60, 18)
            painter.drawText(words, Qt.AlignmentFlag.AlignVCenter, edge.kind)


def _text(painter: QPainter, room: QRectF, text: str, weight: object) -> None:
    if weight is not None:
        painter.setPen(current_theme().text)
    painter.setFont(drawn_font(weight=STRONG) if weight is not None else drawn_font(SMALL))
    cut = QFontMetricsF(painter.font()).elidedText(text, Qt.TextElideMode.ElideRight, room.width())
    painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, cut)


def _ends(donor: QRectF, joiner: QRectF) -> tuple[QPointF, QPointF]:
    """Return where an arrow leaves one card and meets the other: level between columns, upright within one."""
    if donor.x() == joiner.x():
        down = joiner.y() > donor.y()
        x = donor.center().x()
        start = QPointF(x, donor.bottom() if down else donor.top())
        return start, QPointF(x, joiner.top() if down else joiner.bottom())
    right = joiner.x() > donor.x()
    start = QPointF(donor.right() if right else donor.left(), donor.center().y())
    return start, QPointF(joiner.left() if right else joiner.right(), joiner.center().y())


def _primary(cluster: ClusterSnapshot) -> Component | None:
    return next((component for component in cluster.components if component.primary), None)


def _outside(cluster: ClusterSnapshot) -> list[NodeView]:
    """Return the nodes outside the Primary Component; without one all stand in one plain box."""
    component = _primary(cluster)
    if component is None:
        return []
    return [node for node in ordered_nodes(cluster) if node.node_id not in component.members]


def _share(cluster: ClusterSnapshot, node: NodeView) -> str:
    for edge in cluster.transfers:
        if not edge.active or edge.joiner_id != node.node_id:
            continue
        if edge.seqno_done is not None and edge.seqno_last and edge.seqno_first is not None:
            share = (edge.seqno_done - edge.seqno_first) / max(1, edge.seqno_last - edge.seqno_first)
        elif edge.bytes_done is not None and edge.bytes_total:
            share = edge.bytes_done / edge.bytes_total
        else:
            return f": {edge.kind}"
        return f": {edge.kind} {format_percent(100 * min(1.0, max(0.0, share)))}"
    return ""
