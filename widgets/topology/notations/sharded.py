"""The notation of several groups that each vote: an outline a group, side by side; servers of no group in rows above.

Shards stand in rows, their config servers below; each outline is that of a quorum, with the parts that were cut
off beside the part with the majority. MongoDB's sharded clusters are drawn so.
"""

from __future__ import annotations

from collections.abc import Sequence

from services.discovery.model import SPARE, ClusterSnapshot, Component, NodeView
from services.drawing.box import Box, around
from services.drawing.cluster import homes
from widgets.topology.geometry import OUTSIDE_GAP, PAD, TITLE_H, TRANSFER_LANE
from widgets.topology.notations.places import Placement, Shape, columns_for, finish, grid

Edges = Sequence[tuple[str, str]]
_SHARDS_A_ROW = 2
_ALONE_A_ROW = 6


def place_sharded(cluster: ClusterSnapshot, nodes: Sequence[NodeView], edges: Edges) -> Placement:
    """Return the places: servers of no group in rows on top, then the groups in the order of the cluster."""
    home = homes(cluster)
    boxes: dict[str, Box] = {}
    top = 0.0
    alone: dict[str, list[str]] = {}
    for node in nodes:
        if node.node_id not in home:
            alone.setdefault(node.role, []).append(node.node_id)
    last = alone.pop(SPARE, [])
    for role in sorted(alone, reverse=True):  # mongos, then config servers, then whoever tells no role
        top = _row(alone[role], top, boxes)
    shapes: list[Shape] = []
    for row in _rows(cluster):
        left, bottom = 0.0, top
        for component in row:
            ids = [n.node_id for n in nodes if home.get(n.node_id) == component.component_id]
            shape = _stand(component, ids, left, top, boxes)
            shapes.append(shape)
            left, bottom = shape.box.right + OUTSIDE_GAP, max(bottom, shape.box.bottom)
        top = bottom + (TRANSFER_LANE if edges else OUTSIDE_GAP)  # the edges of a group run below it
    _row(last, top, boxes)
    return finish(boxes, tuple(shapes), lane=0.0 if last or not edges else TRANSFER_LANE)


def _row(ids: Sequence[str], top: float, boxes: dict[str, Box]) -> float:
    """Stand these side by side and return where the next row begins."""
    if not ids:
        return top
    row = grid(ids, 0, top, min(_ALONE_A_ROW, len(ids)))
    boxes.update(row)
    return around(list(row.values())).bottom + OUTSIDE_GAP


def _rows(cluster: ClusterSnapshot) -> list[list[Component]]:
    """Return the groups row by row: what was cut off from one stands beside it, and so makes its row longer."""
    groups: dict[str, list[Component]] = {}
    for component in cluster.components:
        if component.members:
            groups.setdefault(component.title, []).append(component)
    rows: list[list[Component]] = []
    room = 0
    for parts in groups.values():
        parts.sort(key=lambda c: (not c.primary, c.component_id))
        if room < len(parts):
            rows.append([])
            room = max(_SHARDS_A_ROW, len(parts))
        rows[-1] += parts
        room -= len(parts)
    return rows


def _stand(component: Component, ids: Sequence[str], left: float, top: float, boxes: dict[str, Box]) -> Shape:
    """Put the members of a group into an outline at this corner."""
    own = grid(ids, left + PAD, top + TITLE_H, columns_for(len(ids)))
    boxes.update(own)
    inner = around(list(own.values()))
    return Shape(component.component_id, Box(left, top, inner.w + 2 * PAD, inner.h + TITLE_H + PAD))
