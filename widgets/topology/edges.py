"""All edges as one item: one path a kind, because a path of a thousand lines costs hardly more than one line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QPolygonF
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from services.discovery.model import ClusterSnapshot, ReplicationEdge, TransferEdge
from services.drawing.cluster import transfer_fraction
from services.drawing.routes import Point, Route, Router, arrow_head
from services.types import Health
from widgets.common.look.theme import with_alpha
from widgets.topology.edge_label import Kind, Label, boxed, far_words, short_words, side_of
from widgets.topology.geometry import LANES, PAD
from widgets.topology.paint_state import Detail, PaintState
from widgets.topology.placement import Placement
from widgets.topology.wording import lag_words, replication_lines, transfer_lines

_CORNER = 8.0
_EAGER = 100  # edges: fewer than that and the boxes belong to what "fit" shows
_REACH = 240.0
_LEFT_MIDDLE = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


@dataclass(slots=True)
class _Bundle:
    """All edges of one kind."""

    lines: QPainterPath = field(default_factory=QPainterPath)
    heads: QPainterPath = field(default_factory=QPainterPath)


@dataclass(frozen=True, slots=True)
class _Way:
    """Where one edge runs: its place in the snapshot's tuple (of channels, or of active transfers) and its route."""

    index: int
    route: Route
    transfer: bool = False
    crowded: bool = False  # several channels enter the same card


class Edges(QGraphicsItem):
    """Replication channels and state transfers."""

    def __init__(self, state: PaintState) -> None:
        super().__init__()
        self._state = state
        self._ways: list[_Way] = []
        self._ways_key: object = None
        self._bundles: dict[Kind, _Bundle] = {}
        self._kinds: tuple[Kind, ...] | None = None
        self._labels: tuple[Label, ...] | None = ()
        self._labels_key: object = None
        self._cluster: ClusterSnapshot | None = None
        self._placement: Placement | None = None
        self._at = 0.0
        self._bounds = QRectF()
        self.moving = False
        # So that `paint` is told what is in sight: a thousand labels out of sight cost nothing then.
        self.setFlag(QGraphicsItem.GraphicsItemFlag.ItemUsesExtendedStyleOption)
        self.setZValue(1)

    # -- content: ways change with the structure, lines with the states, words every second ---------------------
    def take(self, cluster: ClusterSnapshot, placement: Placement, at: float) -> None:
        """Draw the edges of `cluster` between the places of `placement`; only what differs is made anew."""
        active = tuple(t for t in cluster.transfers if t.active)
        self._cluster, self._at = cluster, at
        self.moving = bool(active)
        words = (cluster.replication, active, tuple(int(at - (t.since or at)) for t in active))
        if placement is self._placement and words == self._labels_key:
            return
        self._labels_key = words
        ways_key = (
            tuple((e.source_id, e.replica_id, e.channel) for e in cluster.replication),
            tuple((t.donor_id, t.joiner_id) for t in active),
        )
        if placement is not self._placement or ways_key != self._ways_key:
            self._placement, self._ways_key, self._kinds = placement, ways_key, None
            self._ways = _ways(cluster.replication, active, placement)
        kinds = tuple(_kind(cluster.replication[w.index]) if not w.transfer else "transfer" for w in self._ways)
        if kinds != self._kinds:
            self._kinds = kinds
            self._bundle(kinds)
        self._labels = None
        self._rebound()
        self.update()

    def labels(self) -> tuple[Label, ...]:
        """Return the boxes as drawn; they are made when first needed, because from afar nobody needs them."""
        if self._labels is None and self._cluster is not None:
            self._labels = tuple(self._label(way, self._cluster) for way in self._ways)
        return self._labels or ()

    def _label(self, way: _Way, cluster: ClusterSnapshot) -> Label:
        if way.transfer:
            transfer = [t for t in cluster.transfers if t.active][way.index]
            words = transfer_lines(transfer, self._at)
            return boxed("transfer", words, way.route, self._state.fonts, transfer_fraction(transfer))
        edge = cluster.replication[way.index]
        words = replication_lines(edge, cluster)
        shown = short_words(edge, words) if way.crowded else words
        return boxed(_kind(edge), shown, way.route, self._state.fonts, short=lag_words(edge, short=True))

    def _bundle(self, kinds: tuple[Kind, ...]) -> None:
        self._bundles = {}
        for way, kind in zip(self._ways, kinds, strict=True):
            self._add(kind, way.route)

    def _rebound(self) -> None:
        bounds = self._extent()
        if bounds != self._bounds:
            self.prepareGeometryChange()
            self._bounds = bounds

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
        if len(self._ways) <= _EAGER:
            for label in self.labels():
                extent = extent.united(label.rect)
            return extent.adjusted(-4, -4, 4, 4)
        return extent.adjusted(-_REACH, -_REACH, _REACH, _REACH)  # a label stands no further from its line

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
            for label in self.labels():
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
            bead.setDashPattern([0.1, 8.0])
            bead.setDashOffset(-self._state.phase / 1.5)
            painter.setPen(bead)
            painter.drawPath(bundle.lines)
        painter.fillPath(bundle.heads, color)

    def _paint_label(self, painter: QPainter, label: Label) -> None:
        theme, fonts = self._state.theme, self._state.fonts
        ground = {"broken": theme.bad_tint, "worse": theme.warn_tint, "transfer": theme.transfer_tint}
        border = theme.line if label.kind == "plain" else self.color(label.kind)
        painter.setPen(QPen(border, 1.0))
        painter.setBrush(ground.get(label.kind, theme.panel))
        painter.drawRoundedRect(label.rect, 6, 6)
        side = side_of(label.rect.width())
        inner = label.rect.adjusted(side, 5, -side, -5)
        if self._state.detail is Detail.NAME:
            painter.setFont(fonts.far_state)
            painter.setPen(self.color(label.kind) if label.kind != "plain" else theme.second)
            at = _LEFT_MIDDLE if label.fraction is not None else Qt.AlignmentFlag.AlignCenter
            painter.drawText(inner.adjusted(0, -4, 0, 0), at, far_words(label, fonts, inner.width()))
        else:
            self._paint_words(painter, label, inner)
        if label.fraction is not None:
            bar = QRectF(inner.x(), inner.bottom() - 3, inner.width(), 3)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(with_alpha(theme.transfer, 0.25))
            painter.drawRoundedRect(bar, 1.5, 1.5)
            painter.setBrush(theme.transfer)
            painter.drawRoundedRect(QRectF(bar.x(), bar.y(), bar.width() * label.fraction, 3), 1.5, 1.5)

    def _paint_words(self, painter: QPainter, label: Label, inner: QRectF) -> None:
        theme, fonts, transfer = self._state.theme, self._state.fonts, label.kind == "transfer"
        line = QRectF(inner.x(), inner.y(), inner.width(), 16)
        painter.setFont(fonts.strong if transfer else fonts.small)
        painter.setPen(theme.transfer if transfer else theme.second)
        if label.first:
            painter.drawText(line, _LEFT_MIDDLE, label.shown[0])
            line.translate(0, 16)
        painter.setFont(fonts.small if transfer else fonts.strong)
        painter.setPen(theme.text if label.kind in {"plain", "transfer"} else self.color(label.kind))
        painter.drawText(line, _LEFT_MIDDLE, label.shown[1])


def _kind(edge: ReplicationEdge) -> Kind:
    if edge.health is Health.BAD:
        return "broken"
    return "worse" if edge.health is Health.WARN else "plain"


def _ways(channels: Sequence[ReplicationEdge], active: Sequence[TransferEdge], placement: Placement) -> list[_Way]:
    router = Router(placement.nodes, LANES, [h.box for h in placement.holes])
    ways = [_Way(way.index, way.route, crowded=way.crowded) for way in router.channels(channels)]
    for index, transfer in enumerate(active):
        route = router.transfer(transfer.donor_id, transfer.joiner_id, left_limit=placement.bounds.x + PAD)
        if route is not None:
            ways.append(_Way(index, route, transfer=True))
    return ways


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
    return QPolygonF([QPointF(*corner) for corner in arrow_head(points, size, size * 0.55)])
