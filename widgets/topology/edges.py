"""All edges as one item: one path a kind, because a path of a thousand lines costs hardly more than one line."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QPolygonF
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from services.discovery.model import ClusterSnapshot, ReplicationEdge
from services.types import Health
from widgets.common.theme import with_alpha
from widgets.topology.geometry import PAD
from widgets.topology.paint_state import Detail, Fonts, PaintState
from widgets.topology.placement import Placement
from widgets.topology.routes import Point, Route, Router
from widgets.topology.wording import lag_words, replication_lines, transfer_fraction, transfer_lines

_CORNER = 8.0
_LEFT_MIDDLE = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
Kind = str  # "plain", "worse" (amber), "broken" (red, dashed), "transfer"


@dataclass(slots=True)
class _Bundle:
    """All edges of one kind."""

    lines: QPainterPath = field(default_factory=QPainterPath)
    heads: QPainterPath = field(default_factory=QPainterPath)


@dataclass(frozen=True, slots=True)
class Label:
    """The box at an edge. `shown` is what fits of `first` and `second`."""

    kind: Kind
    first: str
    second: str
    rect: QRectF
    shown: tuple[str, str]
    fraction: float | None = None


class Edges(QGraphicsItem):
    """Replication channels and state transfers."""

    def __init__(self, state: PaintState) -> None:
        super().__init__()
        self._state = state
        self._bundles: dict[Kind, _Bundle] = {}
        self._labels: tuple[Label, ...] = ()
        self._bounds = QRectF()
        self._key: object = None
        self._placement: Placement | None = None
        self.moving = False
        # So that `paint` is told what is in sight: a thousand labels out of sight cost nothing then.
        self.setFlag(QGraphicsItem.GraphicsItemFlag.ItemUsesExtendedStyleOption)
        self.setZValue(1)

    def labels(self) -> tuple[Label, ...]:
        """Return the boxes as drawn, for tests and screen readers."""
        return self._labels

    def take(self, cluster: ClusterSnapshot, placement: Placement, at: float) -> None:
        """Draw the edges of `cluster` between the places of `placement`; repaints only when something differs."""
        active = tuple(t for t in cluster.transfers if t.active)
        ages = tuple(int(at - (t.since or at)) for t in active)
        key = (cluster.replication, active, ages)
        if placement is self._placement and key == self._key:
            return
        self._key, self._placement = key, placement
        self._bundles = {}
        labels: list[Label] = []
        router = Router(placement.nodes, [h.box for h in placement.holes])
        self._add_channels(cluster, router, labels)
        limit = placement.bounds.x + PAD
        for transfer in active:
            route = router.transfer(transfer.donor_id, transfer.joiner_id, left_limit=limit)
            if route:
                self._add("transfer", route)
                words = transfer_lines(transfer, at)
                labels.append(_boxed("transfer", words, route, self._state.fonts, transfer_fraction(transfer)))
        self.moving = bool(active)
        self._labels = tuple(labels)
        bounds = self._extent()
        if bounds != self._bounds:
            self.prepareGeometryChange()
            self._bounds = bounds
        self.update()

    def _add_channels(self, cluster: ClusterSnapshot, router: Router, labels: list[Label]) -> None:
        incoming: dict[str, list[ReplicationEdge]] = {}
        for edge in cluster.replication:
            incoming.setdefault(edge.replica_id, []).append(edge)
        for edges in incoming.values():
            edges.sort(key=lambda e: (router.middle(e.source_id), e.channel))
            for i, edge in enumerate(edges):
                route = router.replication(edge.source_id, edge.replica_id, (i + 0.5) / len(edges), len(edges))
                if route is None:
                    continue
                kind = {Health.BAD: "broken", Health.WARN: "worse"}.get(edge.health, "plain")
                self._add(kind, route)
                words = replication_lines(edge, cluster)
                labels.append(_boxed(kind, words if len(edges) == 1 else _short(edge, words), route, self._state.fonts))

    def _add(self, kind: Kind, route: Route) -> None:
        bundle = self._bundles.setdefault(kind, _Bundle())
        size = 10.0 if kind == "transfer" else 8.0
        bundle.lines.addPath(_rounded(route.points, size))
        bundle.heads.addPolygon(_head(route.points, size))
        bundle.heads.closeSubpath()

    def _extent(self) -> QRectF:
        extent = QRectF()
        for bundle in self._bundles.values():
            extent = extent.united(bundle.lines.boundingRect()).united(bundle.heads.boundingRect())
        for label in self._labels:
            extent = extent.united(label.rect)
        return extent.adjusted(-4, -4, 4, 4)

    def boundingRect(self) -> QRectF:
        """Return the extent of all lines and boxes."""
        return self._bounds

    def color(self, kind: Kind) -> QColor:
        """Return the colour of a kind of edge."""
        theme = self._state.theme
        return {"broken": theme.bad, "worse": theme.warn, "transfer": theme.transfer}.get(kind, theme.third)

    # -- painting ------------------------------------------------------------------------------------------------
    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        """Paint lines, arrow heads, then the boxes (not from afar)."""
        del widget
        far = self._state.detail is Detail.GLYPH
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, not far)
        for kind, bundle in self._bundles.items():
            self._paint_bundle(painter, kind, bundle, far)
        if not far:
            seen = option.exposedRect
            for label in self._labels:
                if seen.intersects(label.rect):
                    self._paint_label(painter, label)

    def _paint_bundle(self, painter: QPainter, kind: Kind, bundle: _Bundle, far: bool) -> None:
        color = self.color(kind)
        pen = QPen(color, 3.0 if kind == "transfer" else 1.5)
        if far and kind != "transfer":
            pen = QPen(color, 0)
        if kind == "broken":
            pen.setDashPattern([4.0, 4.0])
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(pen)
        painter.drawPath(bundle.lines)
        if kind == "transfer":
            bead = QPen(self._state.theme.transfer_tint, 1.5)
            bead.setCapStyle(Qt.PenCapStyle.RoundCap)
            bead.setDashPattern([2.0, 14.0])
            bead.setDashOffset(-self._state.phase / 1.5)
            painter.setPen(bead)
            painter.drawPath(bundle.lines)
        painter.fillPath(bundle.heads, color)

    def _paint_label(self, painter: QPainter, label: Label) -> None:
        theme, fonts = self._state.theme, self._state.fonts
        transfer = label.kind == "transfer"
        ground = {"broken": theme.bad_tint, "worse": theme.warn_tint, "transfer": theme.transfer_tint}
        border = theme.line if label.kind == "plain" else self.color(label.kind)
        painter.setPen(QPen(border, 1.0))
        painter.setBrush(ground.get(label.kind, theme.panel))
        painter.drawRoundedRect(label.rect, 6, 6)
        side = _side(label.rect.width())
        inner = label.rect.adjusted(side, 5, -side, -5)
        line = QRectF(inner.x(), inner.y(), inner.width(), 16)
        painter.setFont(fonts.strong if transfer else fonts.small)
        painter.setPen(theme.transfer if transfer else theme.second)
        if label.first:
            painter.drawText(line, _LEFT_MIDDLE, label.shown[0])
            line.translate(0, 16)
        painter.setFont(fonts.small if transfer else fonts.strong)
        painter.setPen(theme.text if label.kind in {"plain", "transfer"} else self.color(label.kind))
        painter.drawText(line, _LEFT_MIDDLE, label.shown[1])
        if label.fraction is not None:
            bar = QRectF(inner.x(), inner.bottom() - 3, inner.width(), 3)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(with_alpha(theme.transfer, 0.25))
            painter.drawRoundedRect(bar, 1.5, 1.5)
            painter.setBrush(theme.transfer)
            painter.drawRoundedRect(QRectF(bar.x(), bar.y(), bar.width() * label.fraction, 3), 1.5, 1.5)


def _cut(text: str, fonts: Fonts, width: float, *, strong: bool) -> str:
    metrics = fonts.strong_width if strong else fonts.small_width
    return metrics.elidedText(text, Qt.TextElideMode.ElideRight, width)


def _short(edge: ReplicationEdge, words: tuple[str, str]) -> tuple[str, str]:
    """Several channels enter one card: each box has room for its name and its lag only."""
    return edge.channel or words[0], lag_words(edge, short=True)


def _boxed(kind: Kind, words: tuple[str, str], route: Route, fonts: Fonts, fraction: float | None = None) -> Label:
    transfer = kind == "transfer"
    first, second = words
    wide = max(
        (fonts.strong_width if transfer else fonts.small_width).horizontalAdvance(first),
        (fonts.small_width if transfer else fonts.strong_width).horizontalAdvance(second),
    )
    width = min(math.ceil(wide) + 22.0, max(40.0, route.room))
    height = 10.0 + 16.0 * bool(first) + 16.0 * bool(second) + (8.0 if fraction is not None else 0.0)
    x, y = route.anchor
    corner = {
        "right": (x, y - height / 2),
        "left": (x - width, y - height / 2),
        "below": (x - width / 2, y),
        "above": (x - width / 2, y - height),
    }[route.side]
    room = width - 2 * _side(width)
    shown = (_cut(first, fonts, room, strong=transfer), _cut(second, fonts, room, strong=not transfer))
    return Label(kind, first, second, QRectF(round(corner[0]), round(corner[1]), width, height), shown, fraction)


def _side(width: float) -> float:
    """Return the margin beside a box's words: narrow boxes can't afford much."""
    return 10.0 if width > 64 else 5.0


def _rounded(points: Sequence[Point], head: float) -> QPainterPath:
    """Return the line with rounded corners, ending where the arrow's head begins."""
    corners = [QPointF(*p) for p in points]
    last = QLineF(corners[-2], corners[-1])
    last.setLength(max(0.1, last.length() - head + 1))
    corners[-1] = last.p2()
    path = QPainterPath(corners[0])
    for before, corner, after in zip(corners, corners[1:], corners[2:], strict=False):
        arriving, leaving = QLineF(corner, before), QLineF(corner, after)
        radius = min(_CORNER, arriving.length() / 2, leaving.length() / 2)
        arriving.setLength(radius)
        leaving.setLength(radius)
        path.lineTo(arriving.p2())
        path.quadTo(corner, leaving.p2())
    path.lineTo(corners[-1])
    return path


def _head(points: Sequence[Point], size: float) -> QPolygonF:
    tip, before = QPointF(*points[-1]), QPointF(*points[-2])
    back = QLineF(tip, before)
    back.setLength(size)
    normal = QLineF(back.p2(), tip).normalVector()
    normal.setLength(size * 0.55)
    offset = QPointF(normal.dx(), normal.dy())
    return QPolygonF([tip, back.p2() + offset, back.p2() - offset])
