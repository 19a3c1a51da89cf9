"""The ways edges take between cards: straight down where free, else through the gaps between rows and columns. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from services.discovery.model import ReplicationEdge
from services.drawing.box import Box

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Lanes:
    """Where a drawing has room for ways between its cards, in its pixels.

    Attributes:
        gutter: from a card's side to the way down beside it: half the gap between two cards of a row.
        straight: cards of one row that are further apart are joined straight, others by a way below the row.
        above: from the lane above a row down to the replica's card: the label stands beside this piece.
        dip: below a row of cards. above + dip: the gap between two rows, so that the ways of both coincide.
        transfer_above, transfer_dip: the same for state transfers, so that they run beside the channels.
        label: from the replica's card up to the middle of the label.
        straight_transfers: whether the words of a transfer have room between two cards of a row.
    """

    gutter: float
    straight: float
    above: float
    dip: float
    transfer_above: float
    transfer_dip: float
    label: float
    straight_transfers: bool = False


@dataclass(frozen=True, slots=True)
class Route:
    """One edge's way.

    Attributes:
        points: corners, first at the source, last at the tip of the arrow.
        anchor: where the label's box belongs: its left middle ("right"), right middle ("left"), middle of its top
            ("below") or middle of its bottom ("above").
        room: the widest box that does not stand in the way of others.
    """

    points: tuple[Point, ...]
    anchor: Point
    side: Literal["right", "left", "below", "above"]
    room: float


@dataclass(frozen=True, slots=True)
class EdgeRoute:
    """The route of one edge: its place among those it was found for, and whether several enter the same card."""

    index: int
    route: Route
    crowded: bool = False


class Router:
    """Finds ways around the cards of one placement."""

    _BUCKET = 64.0

    def __init__(self, boxes: Mapping[str, Box], lanes: Lanes, others: Sequence[Box] = ()) -> None:
        """Know the cards, the room between them, and what else stands in the way."""
        self._boxes, self._lanes = boxes, lanes
        self._columns: dict[int, list[Box]] = {}
        for box in (*boxes.values(), *others):
            for bucket in range(int(box.x // self._BUCKET), int(box.right // self._BUCKET) + 1):
                self._columns.setdefault(bucket, []).append(box)

    def middle(self, node_id: str) -> float:
        """Return the middle of a node's card across, for sorting edges so that they do not cross."""
        box = self._boxes.get(node_id)
        return box.cx if box else 0.0

    def replication(self, source: str, replica: str, port: float = 0.5, ports: int = 1) -> Route | None:
        """Return the way of a channel; `port` (0..1) is where it enters the replica's upper edge."""
        a, b = self._boxes.get(source), self._boxes.get(replica)
        if a is None or b is None or a is b:
            return None
        if a.y == b.y:
            return self._beside(a, b)
        if b.y < a.bottom:
            return self._upwards(a, b)
        x = b.x + b.w * port
        lane = b.y - self._lanes.above
        points = [*self._down_to(a, a.cx if ports > 1 or a.cx != b.cx else x, lane, x), (x, b.y)]
        return Route(_simplified(points), (x + 8, b.y - self._lanes.label), "right", b.w / ports - 12)

    def channels(self, edges: Sequence[ReplicationEdge]) -> list[EdgeRoute]:
        """Return the ways of all channels; those into one card enter it side by side and do not cross."""
        incoming: dict[str, list[tuple[int, ReplicationEdge]]] = {}
        for index, edge in enumerate(edges):
            incoming.setdefault(edge.replica_id, []).append((index, edge))
        ways = []
        for entering in incoming.values():
            entering.sort(key=lambda pair: (self.middle(pair[1].source_id), pair[1].channel))
            for i, (index, edge) in enumerate(entering):
                route = self.replication(edge.source_id, edge.replica_id, (i + 0.5) / len(entering), len(entering))
                if route is not None:
                    ways.append(EdgeRoute(index, route, len(entering) > 1))
        return ways

    def transfer(self, donor: str, joiner: str, *, left_limit: float = math.inf) -> Route | None:
        """Return the way of a state transfer, its label in the gap beside it but not left of `left_limit`."""
        a, b = self._boxes.get(donor), self._boxes.get(joiner)
        if a is None or b is None or a is b:
            return None
        if a.y == b.y and self._lanes.straight_transfers:
            return self._beside(a, b)
        if a.y == b.y:
            lane = a.bottom + self._lanes.transfer_dip
            ends = (a.cx, b.cx)
            points: list[Point] = [(ends[0], a.bottom), (ends[0], lane), (ends[1], lane), (ends[1], b.bottom)]
            return Route(_simplified(points), (sum(ends) / 2, lane + 8), "below", 240.0)
        if b.y > a.y:
            lane = b.y - self._lanes.transfer_above
            label = b.y - self._lanes.label
            points = [*self._down_to(a, a.cx, lane, b.cx), (b.cx, b.y)]
            return self._transfer_label(points, a, b, label, left_limit)
        lane = b.bottom + self._lanes.transfer_dip
        label = lane + self._lanes.transfer_above - self._lanes.label
        points = [*self._up_to(a, lane, b.cx), (b.cx, b.bottom)]
        return self._transfer_label(points, a, b, label, left_limit)

    @staticmethod
    def _transfer_label(points: list[Point], a: Box, b: Box, y: float, left_limit: float) -> Route:
        simple = _simplified(points)
        if len(simple) == 2:  # straight up or down, with nothing between the two
            middle = (a.bottom + b.y) / 2 if b.y > a.y else (b.bottom + a.y) / 2
            if a.cx - 210 >= left_limit:
                return Route(simple, (a.cx - 12, middle), "left", 200.0)
            return Route(simple, (a.cx + 12, middle), "right", 200.0)
        if a.cx < b.cx:
            return Route(simple, (b.cx - 12, y), "left", 200.0)
        return Route(simple, (b.cx + 12, y), "right", 200.0)

    def _beside(self, a: Box, b: Box) -> Route:
        """Two servers of one row: straight through a wide gap, else below the row."""
        left, right = (a, b) if a.x < b.x else (b, a)
        if right.x - left.right > self._lanes.straight and not self._anything_between(left, right):
            # Two directions between the same pair run at different heights.
            y = a.y + a.h * (0.36 if a.x < b.x else 0.66)
            ends = (a.right, b.x) if a.x < b.x else (a.x, b.right)
            middle = (left.right + right.x) / 2
            side: Literal["above", "below"] = "above" if a.x < b.x else "below"
            return Route(((ends[0], y), (ends[1], y)), (middle, y - 6 if side == "above" else y + 6), side, 116.0)
        lane = max(a.bottom, b.bottom) + self._lanes.dip
        points = ((a.cx, a.bottom), (a.cx, lane), (b.cx, lane), (b.cx, b.bottom))
        return Route(points, ((a.cx + b.cx) / 2, lane + 6), "below", 200.0)

    def _anything_between(self, left: Box, right: Box) -> bool:
        gap = Box(left.right + 1, left.y, max(1.0, right.x - left.right - 2), left.h)
        buckets = range(int(gap.x // self._BUCKET), int(gap.right // self._BUCKET) + 1)
        return any(box.overlaps(gap) for bucket in buckets for box in self._columns.get(bucket, ()))

    def _upwards(self, a: Box, b: Box) -> Route:
        """A replica drawn above its source: around the right side of both, so that it is seen as going back."""
        x = max(a.right, b.right) + 12.0
        points = ((a.right, a.cy), (x, a.cy), (x, b.cy), (b.right, b.cy))
        return Route(points, (x + 6, (a.cy + b.cy) / 2), "right", 120.0)

    def _down_to(self, a: Box, start: float, lane: float, x: float) -> list[Point]:
        if not self._blocked(start, a.bottom + 1, lane):
            return [(start, a.bottom), (start, lane), (x, lane)]
        gutter = (a.right + self._lanes.gutter) if x >= a.cx else (a.x - self._lanes.gutter)
        return [
            (start, a.bottom),
            (start, a.bottom + self._lanes.dip),
            (gutter, a.bottom + self._lanes.dip),
            (gutter, lane),
            (x, lane),
        ]

    def _up_to(self, a: Box, lane: float, x: float) -> list[Point]:
        if not self._blocked(a.cx, lane, a.y - 1):
            return [(a.cx, a.y), (a.cx, lane), (x, lane)]
        gutter = (a.right + self._lanes.gutter) if x >= a.cx else (a.x - self._lanes.gutter)
        return [(a.cx, a.y), (a.cx, a.y - self._lanes.dip), (gutter, a.y - self._lanes.dip), (gutter, lane), (x, lane)]

    def _blocked(self, x: float, top: float, bottom: float) -> bool:
        column: Sequence[Box] = self._columns.get(int(x // self._BUCKET), ())
        return any(b.x <= x <= b.right and b.y < bottom and top < b.bottom for b in column)


def _simplified(points: Sequence[Point]) -> tuple[Point, ...]:
    """Drop points that repeat or lie on a straight line."""
    result: list[Point] = []
    for point in points:
        if result and result[-1] == point:
            continue
        if len(result) > 1:
            (x0, y0), (x1, y1) = result[-2], result[-1]
            if (x0 == x1 == point[0]) or (y0 == y1 == point[1]):
                result[-1] = point
                continue
        result.append(point)
    return tuple(result)


def arrow_head(points: Sequence[Point], length: float, half: float) -> tuple[Point, Point, Point]:
    """Return the head of an arrow along `points`: its tip, and two corners `length` back, `half` to either side."""
    (x, y), (x0, y0) = points[-1], points[-2]
    whole = math.hypot(x - x0, y - y0) or 1.0
    along, across = (x - x0) / whole, (y - y0) / whole
    back_x, back_y = x - along * length, y - across * length
    return (x, y), (back_x - across * half, back_y + along * half), (back_x + across * half, back_y - along * half)
