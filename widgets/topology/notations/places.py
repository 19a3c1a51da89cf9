"""What a notation of the drawing gives: everything with its place; and the grid that all of them stand cards on."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from services.drawing.box import Box, around, in_rows
from widgets.topology.geometry import GAP, ROW_GAP, card_at

NOWHERE = Box(0, 0, 0, 0)
ASPECT = 1.4  # of the canvas, roughly
IN_ONE_ROW = 3


@dataclass(frozen=True, slots=True)
class Shape:
    """The outline of one component, drawn behind its members."""

    component_id: str
    box: Box


@dataclass(frozen=True, slots=True)
class Chamber:
    """One segment inside the primary component."""

    segment: int
    box: Box


@dataclass(frozen=True, slots=True)
class Hole:
    """The place of a member that is not there."""

    node_id: str
    name: str
    box: Box


@dataclass(frozen=True, slots=True)
class Placement:
    """Everything with a place."""

    nodes: Mapping[str, Box] = field(default_factory=dict)
    shapes: tuple[Shape, ...] = ()
    chambers: tuple[Chamber, ...] = ()
    holes: tuple[Hole, ...] = ()
    bounds: Box = NOWHERE


def finish(
    nodes: Mapping[str, Box],
    shapes: tuple[Shape, ...] = (),
    chambers: tuple[Chamber, ...] = (),
    holes: tuple[Hole, ...] = (),
    lane: float = 0.0,
) -> Placement:
    """Return the placement with its bounds; `lane`: room below for a transfer's edge."""
    everything = around([*nodes.values(), *(s.box for s in shapes)])
    # Room for a lane is always counted in, so that a transfer that begins does not change the zoom of "fit".
    lowest = max((s.box.bottom for s in shapes), default=0.0)
    height = max(everything.h, lowest + lane - everything.y)
    return Placement(nodes, shapes, chambers, holes, Box(everything.x, everything.y, everything.w, height))


def columns_for(count: int) -> int:
    """Return how many columns make cards of this number closest to the canvas' aspect."""
    if count <= IN_ONE_ROW:
        return max(1, count)
    return math.ceil(math.sqrt(ASPECT * count))


def grid(ids: Sequence[str], x: float, y: float, columns: int) -> dict[str, Box]:
    """Return the boxes of cards, row by row."""
    return in_rows(ids, card_at(x, y), columns, (GAP, ROW_GAP))
