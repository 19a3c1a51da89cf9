"""The notation of a quorum: the part with the majority, islands outside it, the holes of those who left it, replicas.

A node that leaves the primary component leaves a marked hole and stands outside; when it returns it returns to its
hole. Galera and Group Replication are drawn so.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from services.discovery.model import ClusterSnapshot, Component, NodeView
from services.drawing.box import Box, around
from services.drawing.cluster import homes
from widgets.topology.forest import place_forest
from widgets.topology.geometry import (
    ASYNC_GAP,
    CARD_H,
    CARD_W,
    CHAMBER_LABEL_H,
    GAP,
    OUTSIDE_GAP,
    PAD,
    ROW_GAP,
    TITLE_H,
    TRANSFER_LANE,
    Level,
    card_at,
)
from widgets.topology.notations.places import (
    ASPECT,
    IN_ONE_ROW,
    Chamber,
    Hole,
    Placement,
    Shape,
    columns_for,
    finish,
    grid,
)

_CANVAS_W, _CANVAS_H = 800.0, 600.0
Edges = Sequence[tuple[str, str]]


def place_quorum(cluster: ClusterSnapshot, nodes: Sequence[NodeView], edges: Edges) -> Placement:
    """Return the places of a group: those outside stand beside it or below it, whichever is seen larger."""
    beside, below = (_Quorum(cluster, nodes, edges, below=b).place() for b in (False, True))
    return below if _zoom(below.bounds) > _zoom(beside.bounds) else beside


def _zoom(bounds: Box) -> float:
    """Return how large a drawing of this extent would be seen on an ordinary canvas."""
    return min(_CANVAS_W / max(1.0, bounds.w), _CANVAS_H / max(1.0, bounds.h), 1.0)


def was_member(node: NodeView) -> bool:
    """Return whether a node ever spoke as a member: its place is kept."""
    facts = node.facts
    return node.segment is not None or (facts is not None and facts.in_group)


def _rows_for(sizes: Sequence[int]) -> int:
    """Return the number of rows that makes chambers of these sizes, side by side, closest to the canvas' aspect."""
    if sum(sizes) <= IN_ONE_ROW:
        return 1

    def distance(rows: int) -> float:
        across = sum(math.ceil(s / rows) for s in sizes) * (CARD_W + GAP) + len(sizes) * 2 * PAD
        return abs(math.log(across / (rows * (CARD_H + ROW_GAP)) / ASPECT))

    return min(range(1, max(sizes) + 1), key=distance)


class _Quorum:
    """One group: home of the primary component, islands, lost nodes, replicas behind it."""

    def __init__(
        self,
        cluster: ClusterSnapshot,
        nodes: Sequence[NodeView],
        edges: Sequence[tuple[str, str]],
        *,
        below: bool,
    ) -> None:
        self.below = below
        self.cluster = cluster
        self.nodes = {n.node_id: n for n in nodes}
        self.edges = edges
        self.boxes: dict[str, Box] = {}
        self.shapes: list[Shape] = []
        self.chambers: list[Chamber] = []
        self.holes: list[Hole] = []
        self.homes = homes(cluster)
        self.members: dict[str, list[str]] = {}
        for node_id in self.nodes:
            self.members.setdefault(self.homes.get(node_id, ""), []).append(node_id)
        primaries = [c for c in cluster.components if c.primary and self._present(c)]
        self.primary = max(primaries, key=lambda c: len(c.members), default=None)
        self.islands = [c for c in cluster.components if c is not self.primary and self._present(c)]
        inside = set(self.homes)
        ends = {end for edge in edges for end in edge}
        outside = [n for n in nodes if n.node_id not in inside]
        self.behind = [n.node_id for n in outside if n.node_id in ends and not was_member(n)]
        self.lost = [n.node_id for n in outside if n.node_id not in ends or was_member(n)]

    def _present(self, component: Component) -> list[str]:
        return self.members.get(component.component_id, [])

    def place(self) -> Placement:
        if self.primary is not None:
            self._place_home(self.primary)
        self._place_behind()
        self._place_outside()
        lane = TRANSFER_LANE if len(self.nodes) > 1 and not self._lane_open() else 0.0
        return finish(self.boxes, tuple(self.shapes), tuple(self.chambers), tuple(self.holes), lane)

    # -- the primary component -----------------------------------------------------------------------------------
    def _place_home(self, primary: Component) -> None:
        present = set(self._present(primary))
        away = {m for c in self.islands for m in self._present(c)} | set(self.lost)
        home = [i for i, n in self.nodes.items() if i in present or (i in away and was_member(n))]
        by_segment: dict[int, list[str]] = {}
        for node_id in home:
            by_segment.setdefault(self.nodes[node_id].segment or 0, []).append(node_id)
        rows = _rows_for([len(ids) for ids in by_segment.values()])
        several = len(by_segment) > 1
        x, top = PAD, TITLE_H + (CHAMBER_LABEL_H if several else 0.0)
        slots: dict[str, Box] = {}
        spans: list[tuple[int, float, float]] = []
        for segment in sorted(by_segment):
            ids = by_segment[segment]
            columns = math.ceil(len(ids) / rows)
            left = x + (PAD if several else 0.0)
            slots.update(grid(ids, left, top, columns))
            right = left + columns * CARD_W + (columns - 1) * GAP + (PAD if several else 0.0)
            spans.append((segment, x, right))
            x = right + GAP
        for node_id, slot in slots.items():
            if node_id in present:
                self.boxes[node_id] = slot
            else:
                self.holes.append(Hole(node_id, self.nodes[node_id].name, slot))
        bottom = around(list(slots.values())).bottom + (TRANSFER_LANE if self._lane_open() else PAD)
        if several:
            self.chambers = [Chamber(s, Box(a, TITLE_H - 4, b - a, bottom - TITLE_H + 4)) for s, a, b in spans]
        lower = bottom + (PAD if several else 0.0)
        self.shapes.append(Shape(primary.component_id, Box(0, 0, x - GAP + PAD, lower)))

    def _lane_open(self) -> bool:
        """Return whether a transfer runs between two nodes of the lowest row, whose edge needs room below it."""
        lowest = max((b.y for b in self.boxes.values()), default=0.0)
        slots = self.boxes | {h.node_id: h.box for h in self.holes}
        ends = [
            (slots[t.donor_id].y, slots[t.joiner_id].y)
            for t in self.cluster.transfers
            if t.active and t.donor_id in slots and t.joiner_id in slots
        ]
        return any(a == b == lowest for a, b in ends)

    # -- islands and nodes nobody sees ---------------------------------------------------------------------------
    def _island(self, component: Component, x: float, y: float) -> Shape:
        ids = self._present(component)
        columns = len(ids) if len(ids) <= 2 else columns_for(len(ids))
        boxes = grid(ids, x + PAD, y + TITLE_H, columns)
        self.boxes.update(boxes)
        inner = around(list(boxes.values()))
        return Shape(component.component_id, Box(x, y, inner.w + 2 * PAD, inner.h + TITLE_H + PAD))

    def _place_outside(self) -> None:
        home = self.shapes[0].box if self.shapes else Box(0, 0, 0, 0)
        if self.shapes and not self.below:
            self._place_in_columns(home)
        elif self.shapes and self.behind:
            self._place_in_a_row(home, min(self.boxes[n].y for n in self.behind) - (TITLE_H if self.islands else 0.0))
        else:
            self._place_in_a_row(home, home.bottom + self._gap_below() if self.shapes else 0.0)

    def _gap_below(self) -> float:
        """Return the room below the home: edges between its own nodes run there, with their labels."""
        inside = any(source in self.boxes and replica in self.boxes for source, replica in self.edges)
        return TRANSFER_LANE - PAD if inside and not self._lane_open() else OUTSIDE_GAP

    def _place_in_a_row(self, home: Box, top: float) -> None:
        """Flow left to right, each under the hole it left where there is room."""
        holes = {h.node_id: h.box for h in self.holes}
        limit = max(home.w, 4 * (CARD_W + GAP), math.sqrt(2.0 * len(self.nodes)) * (CARD_W + GAP))
        x, y, tall = 0.0, top, 0.0
        level = Level((), 0.0, 0.0)
        for component, node_id in [*((c, "") for c in self.islands), *((None, n) for n in self.lost)]:
            size = self._island_size(component) if component else Box(0, 0, CARD_W, CARD_H)
            if x > 0 and x + size.w > limit:
                x, y, tall = 0.0, y + tall + OUTSIDE_GAP, 0.0
            first = self._present(component)[0] if component else node_id
            if first in holes:
                x = max(x, holes[first].x - (PAD if component else 0.0))
            down = y + (TITLE_H if self.islands and not component else 0.0)
            if not level.spans(down, size.h):
                level = Level(self.boxes.values(), down, size.h)
            x = level.free_from(x, size.w)
            if component:
                self.shapes.append(self._island(component, x, y))
            else:
                self.boxes[node_id] = card_at(x, down)
            x, tall = x + size.w + OUTSIDE_GAP, max(tall, down - y + size.h)

    def _island_size(self, component: Component) -> Box:
        count = len(self._present(component))
        columns = count if count <= 2 else columns_for(count)
        rows = math.ceil(count / columns)
        width = columns * CARD_W + (columns - 1) * GAP + 2 * PAD
        return Box(0, 0, width, rows * CARD_H + (rows - 1) * ROW_GAP + TITLE_H + PAD)

    def _place_in_columns(self, home: Box) -> None:
        """Stack right of the primary component, in as many columns as its height asks for."""
        limit = max(home.h, 2 * (CARD_H + ROW_GAP))
        x, y, wide = home.right + OUTSIDE_GAP, 0.0, 0.0
        for component in self.islands:
            shape = self._island(component, x, y)
            if y > 0 and shape.box.bottom > limit:
                x, y, wide = x + wide + OUTSIDE_GAP, 0.0, 0.0
                shape = self._island(component, x, y)
            self.shapes.append(shape)
            y, wide = shape.box.bottom + OUTSIDE_GAP, max(wide, shape.box.w)
        first_row = min((b.y for b in self.boxes.values()), default=0.0)
        for node_id in self.lost:
            y = max(y, first_row)
            if y > first_row and y + CARD_H > limit:
                x, y, wide = x + wide + OUTSIDE_GAP, first_row, 0.0
            self.boxes[node_id] = card_at(x, y)
            y, wide = y + CARD_H + OUTSIDE_GAP, max(wide, CARD_W)

    # -- asynchronous replicas behind (and sources before) the cluster -------------------------------------------
    def _place_behind(self) -> None:
        if not self.behind:
            return
        behind = set(self.behind)
        wanted = {r: self.boxes[s].cx for s, r in self.edges if s in self.boxes and r in behind}
        lowest = max((s.box.bottom for s in self.shapes), default=0.0)
        lane = 0.0 if self._lane_open() else TRANSFER_LANE - PAD
        single_row = len({b.y for b in self.boxes.values()}) == 1
        top = lowest + (lane if single_row else 0.0) + ASYNC_GAP
        self.boxes.update(place_forest(self.behind, self.edges, top=top, wanted=wanted))
