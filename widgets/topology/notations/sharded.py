"""The notation of several groups that each vote: an outline a group, side by side; servers of no group in rows above.

Shards stand in rows, their config servers below; each outline is that of a quorum: who left the part with the majority
leaves a marked hole in it and stands below it; parts that were cut off stand beside it. MongoDB's sharded clusters are
drawn so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from services.discovery.model import SPARE, ClusterSnapshot, Component, NodeView
from services.drawing.box import Box, around
from services.drawing.cluster import homes
from widgets.topology.geometry import GAP, OUTSIDE_GAP, PAD, TITLE_H, TRANSFER_LANE, card_at
from widgets.topology.notations.places import Hole, Placement, Shape, columns_for, finish, grid

Edges = Sequence[tuple[str, str]]
_SHARDS_A_ROW = 2
_ALONE_A_ROW = 6


@dataclass
class _Places:
    """What has its place so far."""

    boxes: dict[str, Box] = field(default_factory=dict)
    shapes: list[Shape] = field(default_factory=list)
    holes: list[Hole] = field(default_factory=list)


@dataclass
class _Group:
    """One group: its parts, that with the majority first, and the members that are in none of them."""

    parts: list[tuple[Component, list[NodeView]]]
    lost: list[NodeView]

    def away(self, nodes: Sequence[NodeView]) -> list[NodeView]:
        """Return whose place in the first part is empty, in the order of the nodes."""
        if not self.parts[0][0].primary:
            return []
        out = {n.node_id for _, members in self.parts[1:] for n in members} | {n.node_id for n in self.lost}
        return [n for n in nodes if n.node_id in out]


def place_sharded(cluster: ClusterSnapshot, nodes: Sequence[NodeView], edges: Edges) -> Placement:
    """Return the places: servers of no group in rows on top, then the groups in the order of the cluster."""
    home, groups = homes(cluster), _groups(cluster, nodes)
    grouped = {*home, *(n.node_id for one in groups for n in one.lost)}
    found, top = _Places(), 0.0
    alone: dict[str, list[str]] = {}
    for node in nodes:
        if node.node_id not in grouped:
            alone.setdefault(node.role, []).append(node.node_id)
    last = alone.pop(SPARE, [])
    for role in sorted(alone, reverse=True):  # mongos, then config servers, then whoever tells no role
        top = _row(alone[role], top, found.boxes)
    for row in _rows(groups):
        left, bottom = 0.0, top
        for one in row:
            ends = _stand_group(one, nodes, left, top, found)
            left, bottom = ends.right + OUTSIDE_GAP, max(bottom, ends.bottom)
        top = bottom + (TRANSFER_LANE if edges else OUTSIDE_GAP)  # the edges of a group run below it
    _row(last, top, found.boxes)
    lane = 0.0 if last or not edges else TRANSFER_LANE
    return finish(found.boxes, tuple(found.shapes), holes=tuple(found.holes), lane=lane)


def _row(ids: Sequence[str], top: float, boxes: dict[str, Box]) -> float:
    """Stand these side by side and return where the next row begins."""
    if not ids:
        return top
    row = grid(ids, 0, top, min(_ALONE_A_ROW, len(ids)))
    boxes.update(row)
    return around(list(row.values())).bottom + OUTSIDE_GAP


def _groups(cluster: ClusterSnapshot, nodes: Sequence[NodeView]) -> list[_Group]:
    """Return the groups in the order of the cluster."""
    home = homes(cluster)
    found: dict[str, _Group] = {}
    for component in cluster.components:
        members = [n for n in nodes if home.get(n.node_id) == component.component_id]
        group = found.setdefault(component.title, _Group([], []))
        if members:
            group.parts.append((component, members))
        group.lost += [n for n in nodes if n.node_id in component.absent and n.node_id not in home]
    for group in found.values():
        group.parts.sort(key=lambda part: (not part[0].primary, part[0].component_id))
    return [group for group in found.values() if group.parts]


def _rows(groups: Sequence[_Group]) -> list[list[_Group]]:
    """Return the groups row by row: what was cut off from one stands beside it, and so makes its row longer.

    A member that was lost moves no group to another row.
    """
    rows: list[list[_Group]] = []
    room = 0
    for group in groups:
        if room < len(group.parts):
            rows.append([])
            room = max(_SHARDS_A_ROW, len(group.parts))
        rows[-1].append(group)
        room -= len(group.parts)
    return rows


def _stand_group(group: _Group, nodes: Sequence[NodeView], left: float, top: float, found: _Places) -> Box:
    """Put a group at this corner and return what all of it takes: its parts side by side, below them who is in none.

    Beside them a lost member would make the drawing wider, and every card too small for its words just then.
    """
    away, boxes = group.away(nodes), []
    corner = left
    for at, (component, members) in enumerate(group.parts):
        shape = _stand(component, members, away if at == 0 else [], nodes, left, top, found)
        boxes.append(shape.box)
        left = shape.box.right + OUTSIDE_GAP
    if group.lost:
        holes = {hole.node_id: hole.box.x for hole in found.holes}
        lost = sorted(group.lost, key=lambda node: holes.get(node.node_id, corner))
        below, free = max(box.bottom for box in boxes) + TRANSFER_LANE, corner + PAD
        for node in lost:  # each under the hole that it left
            card = card_at(max(free, holes.get(node.node_id, free)), below)
            found.boxes[node.node_id] = card
            boxes.append(card)
            free = card.right + GAP
    return around(boxes)


def _stand(
    component: Component,
    members: Sequence[NodeView],
    away: Sequence[NodeView],
    nodes: Sequence[NodeView],
    left: float,
    top: float,
    found: _Places,
) -> Shape:
    """Put the members of a part into an outline at this corner, with the holes of those that are away."""
    here, gone = {n.node_id for n in members}, {n.node_id for n in away}
    ids = [n.node_id for n in nodes if n.node_id in here | gone]
    own = grid(ids, left + PAD, top + TITLE_H, columns_for(len(ids)))
    found.boxes.update({i: box for i, box in own.items() if i in here})
    found.holes += [Hole(n.node_id, n.name, own[n.node_id]) for n in away]
    inner = around(list(own.values()))
    shape = Shape(component.component_id, Box(left, top, inner.w + 2 * PAD, inner.h + TITLE_H + PAD))
    found.shapes.append(shape)
    return shape
