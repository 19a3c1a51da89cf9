"""The measures of the drawing, in scene pixels (one scene pixel is one logical pixel at 100 %)."""

from __future__ import annotations

from collections.abc import Iterable

from services.drawing.box import Box
from services.drawing.routes import Lanes

CARD_W = 196.0
CARD_H = 124.0
GAP = 16.0
ROW_GAP = 84.0  # holds the box of a transfer or a lag between two rows
WIDE_GAP = 132.0  # between servers that replicate to one another side by side
PAD = 16.0
TITLE_H = 44.0
CHAMBER_LABEL_H = 32.0
OUTSIDE_GAP = 32.0
TRANSFER_LANE = 92.0  # room below a row for an edge between two of its nodes, with its label
ASYNC_GAP = 88.0


LANES = Lanes(
    gutter=GAP / 2,
    straight=3 * GAP,
    above=60.0,
    dip=ROW_GAP - 60.0,
    transfer_above=68.0,
    transfer_dip=20.0,
    label=36.0,
)


def card_at(x: float, y: float) -> Box:
    """Return the rectangle of a node card with this upper left corner."""
    return Box(x, y, CARD_W, CARD_H)


class Level:
    """What stands at one height, for places that are looked for from left to right: each piece is passed once."""

    def __init__(self, boxes: Iterable[Box], y: float, height: float) -> None:
        self._height = (y, height)
        margin = GAP - 1
        top, bottom = y - margin, y + height + margin
        self._pieces = sorted((b.x, b.right) for b in boxes if b.y < bottom and b.bottom > top)
        self._passed = 0

    def spans(self, y: float, height: float) -> bool:
        """Return whether this is the level of a place so high up and so tall."""
        return self._height == (y, height)

    def free_from(self, x: float, width: float) -> float:
        """Return the first x, from the wanted one to the right, where nothing stands yet; never left of the last."""
        while (hit := self._right_of_hits(x - (GAP - 1), x + width + (GAP - 1))) is not None:
            x = hit + OUTSIDE_GAP
        return x

    def _right_of_hits(self, left: float, right: float) -> float | None:
        pieces = self._pieces
        while self._passed < len(pieces) and pieces[self._passed][1] <= left:
            self._passed += 1
        found: float | None = None
        for at in range(self._passed, len(pieces)):
            if pieces[at][0] >= right:
                break
            if pieces[at][1] > left:
                found = pieces[at][1] if found is None else max(found, pieces[at][1])
        return found
