"""The cluster small: who is in the Primary Component, in which state, who feeds whom, and what is switched on where."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from services.discovery.model import ClusterSnapshot, Component, NodeView, TransferEdge
from services.drawing.box import Box, around, in_rows
from services.drawing.cluster import drawn_parts, ordered_nodes, transfer_fraction
from services.drawing.routes import Lanes, Route, Router, arrow_head
from services.i18n import tr
from widgets.common.duty import paint_duty
from widgets.common.look.fonts import SMALL, STRONG, drawn_font, px, text_percent
from widgets.common.look.glyphs import glyph
from widgets.common.look.text import MIDDLE, format_percent, plural
from widgets.common.look.theme import current_theme, theme_holder
from widgets.common.nodes import is_silent, state_word

_BETWEEN, _CARD_H = 84.0, 52.0  # the room in which an edge has its words
_GAP_Y, _PAD, _HEAD = 30.0, 16.0, 32.0
_OUTSIDE = 22.0  # from the enclosure to those outside it: room for a transfer's word
_COLUMNS = 2
_LANES = Lanes(
    gutter=_BETWEEN / 2,
    straight=_BETWEEN / 2,
    above=24.0,
    dip=6.0,
    transfer_above=24.0,
    transfer_dip=6.0,
    label=11.0,
    straight_transfers=True,
)


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
        if before is None or [len(side) for side in _sides(before)] != [len(side) for side in _sides(cluster)]:
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
        enclosure, boxes = self._places(self._cluster)
        return QSize(300, px(around((enclosure, *boxes.values())).bottom + 1))

    def minimumSizeHint(self) -> QSize:
        """Return the height as a must."""
        return QSize(300, self.sizeHint().height())

    def _places(self, cluster: ClusterSnapshot) -> tuple[Box, dict[str, Box]]:
        """Return the enclosure and every card; without a Primary Component all nodes stand in one plain box."""
        inside, outside = _sides(cluster)
        across = self.width() / (text_percent() / 100)
        first = Box(_PAD, _HEAD, (across - 2 * _PAD - _BETWEEN) / _COLUMNS, _CARD_H)
        boxes = in_rows(inside, first, _COLUMNS, (_BETWEEN, _GAP_Y))
        enclosure = Box(0, 0, across, around(boxes.values()).bottom + _PAD)
        below = first.moved(0, enclosure.bottom + _OUTSIDE - _HEAD)
        return enclosure, boxes | in_rows(outside, below, _COLUMNS, (_BETWEEN, 8.0))

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
        enclosure, boxes = self._places(cluster)
        self._paint_enclosure(painter, _rect(enclosure).adjusted(0.5, 0.5, -0.5, -0.5), cluster)
        router = Router(boxes, _LANES)
        for edge in cluster.transfers:
            route = router.transfer(edge.donor_id, edge.joiner_id) if edge.active else None
            if route is not None:
                self._paint_edge(painter, route, edge)
        for node in cluster.nodes:
            self._paint_card(painter, _rect(boxes[node.node_id]), node, cluster)
        painter.end()

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
        title = tr(cluster.kind.inside) if component else cluster.name
        painter.drawText(line, Qt.AlignmentFlag.AlignVCenter, title)
        if component is None:
            return
        line.setLeft(line.left() + QFontMetricsF(painter.font()).horizontalAdvance(title) + 12)
        painter.setFont(drawn_font(SMALL))
        painter.setPen(theme.second)
        votes = plural(component.votes, "{n} vote", "{n} votes")
        may = tr("may lose {n}", n=component.may_lose) if component.may_lose is not None else tr("may lose: not known")
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

    def _paint_edge(self, painter: QPainter, route: Route, edge: TransferEdge) -> None:
        theme = current_theme()
        tip, left, right = (QPointF(*corner) for corner in arrow_head(route.points, 10.0, 5.0))
        painter.setPen(QPen(theme.transfer, 2))
        painter.drawPolyline([*(QPointF(*point) for point in route.points[:-1]), (left + right) / 2])
        painter.setBrush(theme.transfer)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.drawPolygon(QPolygonF([tip, left, right]))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(theme.transfer)
        painter.setFont(drawn_font(SMALL, STRONG))
        width = QFontMetricsF(painter.font()).horizontalAdvance(edge.kind) + 2
        corner = {"right": (0.0, -9.0), "left": (-width, -9.0), "above": (-width / 2, -16.0)}
        x, y = corner.get(route.side, (-width / 2, 0.0))
        words = QRectF(route.anchor[0] + x, route.anchor[1] + y, width, 18)
        painter.drawText(words, Qt.AlignmentFlag.AlignVCenter, edge.kind)


def _text(painter: QPainter, room: QRectF, text: str, weight: object) -> None:
    if weight is not None:
        painter.setPen(current_theme().text)
    painter.setFont(drawn_font(weight=STRONG) if weight is not None else drawn_font(SMALL))
    cut = QFontMetricsF(painter.font()).elidedText(text, Qt.TextElideMode.ElideRight, room.width())
    painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, cut)


def _rect(box: Box) -> QRectF:
    return QRectF(box.x, box.y, box.w, box.h)


def _primary(cluster: ClusterSnapshot) -> Component | None:
    return next((component for component in cluster.components if component.primary), None)


def _sides(cluster: ClusterSnapshot) -> tuple[list[str], list[str]]:
    """Return the nodes of the Primary Component and those outside it; without one all of them are inside."""
    groups = drawn_parts(cluster)
    inside = [group for group in groups if group.primary][:1] or groups
    return (
        [node.node_id for group in inside for node in group.nodes],
        [node.node_id for group in groups if group not in inside for node in group.nodes],
    )


def _share(cluster: ClusterSnapshot, node: NodeView) -> str:
    edge = next((t for t in cluster.transfers if t.active and t.joiner_id == node.node_id), None)
    if edge is None:
        return ""
    share = transfer_fraction(edge)
    return f": {edge.kind}" if share is None else f": {edge.kind} {format_percent(100 * share)}"
