"""The drawing one can look at, walk through and zoom: a view of one cluster, updated in place."""

from __future__ import annotations

import math
from collections.abc import Mapping

from PySide6.QtCore import QPoint, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QGraphicsScene

from services.discovery.model import ClusterSnapshot
from services.drawing.cluster import ordered_nodes
from services.i18n import tr
from widgets.common.commands.shortcuts import CANVAS, act_of
from widgets.common.controls.plain import show_tip
from widgets.common.look.fonts import text_percent
from widgets.common.look.theme import Theme, theme_holder
from widgets.common.spark import Spark
from widgets.topology.backdrop import Backdrop, rect_of
from widgets.topology.canvas_setup import set_up
from widgets.topology.card_width import stretch_for
from widgets.topology.edges import Edges
from widgets.topology.motion import Motion
from widgets.topology.node_item import NO_SPARK, NodeItem, middle_of
from widgets.topology.paint_state import PaintState, detail_at
from widgets.topology.placement import Placement, Structure, place, stretched, structure
from widgets.topology.ringed_view import RingedView
from widgets.topology.walk import WAYS, neighbour
from widgets.topology.wording import accessible_text, card_text, tooltip

_LEAST_ZOOM, _MOST_ZOOM = 0.05, 3.0
_MOST_FIT = 1.7  # on a wide screen; on a laptop 100 % keeps the type of the cards that of the window
_WIDE = 1100.0
_MARGIN = 20.0
_DROP = -8.0  # a little closer to the title than to the other edges
_STAYS = 96.0  # so many pixels of the drawing stay in sight, however far it is pushed
_STEP = 1.2
_LONELY = 0.3  # of the width left empty: a drawing in the corner of that much nothing looks lost
_DASH_PER_S = 30.0


def _same_nodes(before: ClusterSnapshot, now: ClusterSnapshot) -> bool:
    """Return whether it is the cluster of before: what stood as written goes by another id once a server tells its own.

    Whoever has zoomed in on it by then goes on looking at the same place.
    """
    known = {node.node_id for node in before.nodes}
    return before.cluster_id == now.cluster_id or any(node.node_id in known for node in now.nodes)


class Canvas(RingedView):
    """Draws a cluster. `node_selected`: one click or an arrow key; `node_activated`: Enter or a double click."""

    node_selected = Signal(str)
    node_activated = Signal(str)
    zoomed = Signal(float)
    menu_wanted = Signal(str, QPoint)
    """Node id, place on the screen."""

    def __init__(self) -> None:
        super().__init__(PaintState.fresh())
        self._scene = QGraphicsScene(self)
        self.setScene(self._scene)
        self._backdrop = Backdrop(self._state)
        self._edges = Edges(self._state)
        self._scene.addItem(self._backdrop)
        self._scene.addItem(self._edges)
        self._items: dict[str, NodeItem] = {}
        self._cluster: ClusterSnapshot | None = None
        self._at = 0.0
        self._structure: Structure | None = None
        self._base = Placement()
        self._placement = self._base
        self._stretch = 1.0
        self._order: dict[str, int] = {}  # node -> place in the order of names: its curve colour
        self._follow = True  # keep the whole cluster in sight until a person zooms or pans
        self._pressed_at = QPoint()
        self._motion = Motion(self)
        self._motion.moved.connect(self._move_edges)
        set_up(self, self._scene)
        self.setAccessibleName(tr("Topology"))
        theme_holder().changed.connect(self._retheme)
        theme_holder().sized.connect(self._fit_text)
        self._retheme(self._state.theme)

    # -- content -------------------------------------------------------------------------------------------------
    def show_cluster(self, cluster: ClusterSnapshot, sparks: Mapping[str, Spark], at: float) -> None:
        """Draw `cluster` as of `at`; only what differs from the last call is touched."""
        shape = structure(cluster)
        other = self._cluster is None or not _same_nodes(self._cluster, cluster)
        self._cluster, self._at = cluster, at
        if shape != self._structure:
            self._structure = shape
            self._base = place(cluster)
            self._placement = stretched(self._base, 1.0 if other else self._stretch)
            self._stretch = 1.0 if other else self._stretch
            self._order = {n.node_id: i for i, n in enumerate(ordered_nodes(cluster))}
            self._place_items()
        for node in cluster.nodes:
            item = self._items.get(node.node_id)
            if item and item.take(card_text(node, at), sparks.get(node.node_id, NO_SPARK), self._order[node.node_id]):
                self._motion.fade(item)
        self._backdrop.take(cluster, self._placement)
        self._edges.take(cluster, self._placement, at)
        if other:
            self._motion.end_fades()
            self._follow = True
        self._describe()
        if self._follow:
            self.fit()
        self._motion.run(visible=self.isVisible(), flowing=self._edges.moving)

    def _place_items(self) -> None:
        for node_id in [n for n in self._items if n not in self._placement.nodes]:
            gone = self._items.pop(node_id)
            self._motion.forget(gone)
            self._scene.removeItem(gone)
        for node_id, box in self._placement.nodes.items():
            item = self._items.get(node_id)
            if item is None:
                item = self._items[node_id] = NodeItem(node_id, self._state)
                self._scene.addItem(item)
            item.setPos(box.x, box.y)
            item.set_width(box.w)
        self._bound(self.zoom)

    def _bound(self, zoom: float) -> None:
        """Let the drawing be pushed aside, and never out of sight: nothing would say where it went."""
        across = max(0.0, self.viewport().width() - _STAYS) / zoom
        down = max(0.0, self.viewport().height() - _STAYS) / zoom
        self.setSceneRect(self.content_rect().adjusted(-across, -down, across, down))

    def content_rect(self) -> QRectF:
        """Return the extent of everything drawn, in scene pixels."""
        return rect_of(self._placement.bounds).united(self._edges.boundingRect().adjusted(4, 4, -4, -4))

    def item(self, node_id: str) -> NodeItem | None:
        """Return the item of a node."""
        return self._items.get(node_id)

    @property
    def edges(self) -> Edges:
        """Return the item that draws the edges."""
        return self._edges

    @property
    def backdrop(self) -> Backdrop:
        """Return the item that draws components."""
        return self._backdrop

    @property
    def paint_state(self) -> PaintState:
        """Return what the items share, for the export."""
        return self._state

    @property
    def placement(self) -> Placement:
        """Return where everything stands."""
        return self._placement

    @property
    def moving(self) -> bool:
        """Return whether anything in the drawing moves now."""
        return self._motion.running

    def set_reduced_motion(self, reduced: bool) -> None:
        """Stop (or allow again) every movement; states then change at once."""
        self._motion.set_reduced(reduced)

    # -- selection -----------------------------------------------------------------------------------------------
    @property
    def selected(self) -> str:
        """Return the selected node's id, '' for none."""
        return self._state.selected

    def select(self, node_id: str) -> None:
        """Mark a node (or none) and bring it into sight; emits nothing."""
        if node_id == self._state.selected:
            return
        self._state.selected = node_id
        item = self._items.get(node_id)
        if item and not self._follow:
            self.ensureVisible(item, 24, 24)
        self._describe()
        self.viewport().update()

    def _choose(self, node_id: str) -> None:
        if node_id and node_id != self._state.selected:
            self.select(node_id)
            self.node_selected.emit(node_id)

    def _describe(self) -> None:
        """Tell screen readers what is selected."""
        node = self._cluster.node(self._state.selected) if self._cluster else None
        words = accessible_text(node, self._at) if node else tr("no node selected")
        name = tr("Topology of {cluster}", cluster=self._cluster.name) if self._cluster else tr("Topology")
        name = f"{name}, {node.name or node.host}" if node else name
        if name != self.accessibleName():
            self.setAccessibleName(name)
        if words != self.accessibleDescription():
            self.setAccessibleDescription(words)

    # -- zoom ----------------------------------------------------------------------------------------------------
    @property
    def zoom(self) -> float:
        """Return the zoom factor, 1 for 100 %."""
        return self.transform().m11()

    def fit(self) -> None:
        """Show the whole cluster and keep it in sight as it grows."""
        self._follow = True
        self._use_width()
        whole = self.content_rect()
        room = self.viewport().size()
        if whole.isEmpty() or room.width() < 10:
            return
        across = (room.width() - 2 * _MARGIN) / whole.width()
        down = (room.height() - 2 * _MARGIN) / whole.height()
        most = min(_MOST_FIT, max(1.0, room.width() / _WIDE)) * text_percent() / 100
        self._set_zoom(max(_LEAST_ZOOM, min(most, across, down)))
        self._align(whole)

    def _use_width(self) -> None:
        """Widen the cards where words would be cut beside empty ground; narrow them again where room went.

        Larger text comes first: cards as wide as all the room would leave the drawing at its usual size.
        """
        room = (self.viewport().width() - 2 * _MARGIN) / max(1.0, self._base.bounds.w)
        room /= max(1.0, text_percent() / 100)
        stretch = stretch_for(room, self._items.values(), self._stretch)
        if stretch != self._stretch and self._cluster is not None:
            self._stretch = stretch
            self._placement = stretched(self._base, stretch)
            self._place_items()
            self._backdrop.take(self._cluster, self._placement)
            self._edges.take(self._cluster, self._placement, self._at)

    def _align(self, whole: QRectF) -> None:
        """Hang a small drawing below the title, in line with it; in a much wider place put it in the middle."""
        room_x, room_y = self.viewport().width() / self.zoom, self.viewport().height() / self.zoom
        spare_x = room_x - whole.width() - 2 * _MARGIN / self.zoom
        spare_y = room_y - whole.height() - 2 * _MARGIN / self.zoom
        lonely = spare_x > _LONELY * room_x
        drop = max(_DROP, spare_y / 3) if lonely else _DROP
        down = max(0.0, spare_y) / 2 - min(max(0.0, spare_y) / 2, drop)
        self.centerOn(whole.center() + QPointF(0.0 if lonely else max(0.0, spare_x) / 2, down))

    def _fit_text(self) -> None:
        """The drawing's words grow with it, as far as the whole of it has room."""
        self._state.detail = detail_at(self.zoom)
        if self._follow:
            self.fit()
        self.viewport().update()

    def zoom_by(self, factor: float) -> None:
        """Zoom around the middle of the view (or the pointer while it turns the wheel)."""
        self._follow = False
        self._set_zoom(max(_LEAST_ZOOM, min(_MOST_ZOOM, self.zoom * factor)))

    def zoom_in(self) -> None:
        """Come one step nearer."""
        self.zoom_by(_STEP)

    def zoom_out(self) -> None:
        """Go one step back."""
        self.zoom_by(1 / _STEP)

    def _set_zoom(self, zoom: float) -> None:
        if not math.isclose(zoom, self.zoom, rel_tol=1e-6):
            factor = zoom / self.zoom
            self._bound(min(zoom, self.zoom))  # what both need: the point under the pointer stays where it is
            self.scale(factor, factor)
            self._bound(zoom)
            self.zoomed.emit(zoom)
        self._state.detail = detail_at(zoom)

    # -- events --------------------------------------------------------------------------------------------------
    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the whole cluster in sight unless a person chose otherwise."""
        super().resizeEvent(event)
        self._bound(self.zoom)
        if self._follow:
            self.fit()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom at the pointer."""
        turns = event.angleDelta().y() / 120.0
        if turns:
            self.zoom_by(_STEP**turns)
        event.accept()

    def node_at(self, point: QPoint) -> str:
        """Return the node under a point of the viewport, '' for none."""
        there = self.mapToScene(point)
        for node_id, box in self._placement.nodes.items():
            if box.x <= there.x() <= box.right and box.y <= there.y() <= box.bottom:
                return node_id
        return ""

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Select a node, or begin to drag the drawing."""
        if event.button() is Qt.MouseButton.LeftButton or event.button() is Qt.MouseButton.MiddleButton:
            self._pressed_at = event.position().toPoint()
            if event.button() is Qt.MouseButton.LeftButton:
                self._choose(self.node_at(self._pressed_at))
        event.accept()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Drag the drawing, or mark the node under the pointer."""
        here = event.position().toPoint()
        if event.buttons() & (Qt.MouseButton.LeftButton | Qt.MouseButton.MiddleButton):
            moved = here - self._pressed_at
            if moved.manhattanLength() > 3:
                self._follow = False
                self._pressed_at = here
                across, down = self.horizontalScrollBar(), self.verticalScrollBar()
                across.setValue(across.value() - moved.x())
                down.setValue(down.value() - moved.y())
            return
        hovered = self.node_at(here)
        if hovered != self._state.hovered:
            self._state.hovered = hovered
            self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if hovered else Qt.CursorShape.ArrowCursor)
            self.viewport().update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Nothing is left to do: selection happens on press."""
        event.accept()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Activate the node under the pointer; on empty ground show everything."""
        node_id = self.node_at(event.position().toPoint())
        if node_id:
            self.node_activated.emit(node_id)
        else:
            self.fit()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Ask for the menu of the node under the pointer, or by the keyboard of the selected one."""
        by_key = event.reason() is QContextMenuEvent.Reason.Keyboard
        node_id = self._state.selected if by_key else self.node_at(event.pos())
        if not node_id:
            return
        self._choose(node_id)
        middle = self.centre_of(node_id) if by_key else None
        place = self.viewport().mapToGlobal(middle.toPoint()) if middle is not None else event.globalPos()
        self.menu_wanted.emit(node_id, place)

    def viewportEvent(self, event: object) -> bool:
        """Tell what hovering a node means."""
        if isinstance(event, QHelpEvent):
            node = self._cluster.node(self.node_at(event.pos())) if self._cluster else None
            if node:
                show_tip(event.globalPos(), tooltip(node, self._at), self)
            else:
                show_tip(event.globalPos(), "", self)
            return True
        return bool(super().viewportEvent(event))  # type: ignore[arg-type]

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows walk between nodes, Enter activates, + and - zoom, 0 or F show everything."""
        act = act_of(CANVAS, event)
        if act in WAYS:
            self._choose(neighbour(self._placement.nodes, self._state.selected, act))
        elif act == "activate" and self._state.selected:
            self.node_activated.emit(self._state.selected)
        elif act in {"zoom-in", "zoom-out", "fit"}:
            {"zoom-in": self.zoom_in, "zoom-out": self.zoom_out, "fit": self.fit}[act]()
        else:
            super().keyPressEvent(event)

    # -- motion --------------------------------------------------------------------------------------------------
    def _move_edges(self, seconds: float) -> None:
        self._state.phase = (self._state.phase + seconds * _DASH_PER_S) % 1500.0
        self._edges.update()

    def showEvent(self, event: object) -> None:
        """Move again what moves."""
        super().showEvent(event)  # type: ignore[arg-type]
        self._motion.run(visible=self.isVisible(), flowing=self._edges.moving)

    def hideEvent(self, event: object) -> None:
        """Nothing moves where nobody looks."""
        super().hideEvent(event)  # type: ignore[arg-type]
        self._motion.run(visible=self.isVisible(), flowing=self._edges.moving)

    def _retheme(self, new: Theme) -> None:
        self._state.theme = new
        self._scene.setBackgroundBrush(QColor(new.canvas))
        self.viewport().update()

    def centre_of(self, node_id: str) -> QPointF | None:
        """Return the middle of a node's card in viewport coordinates."""
        item = self._items.get(node_id)
        return QPointF(self.mapFromScene(middle_of(item))) if item else None
