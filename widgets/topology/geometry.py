"""Rectangles and the measures of the drawing, in scene pixels (one scene pixel is one logical pixel at 100 %)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle."""

    x: float
    y: float
    w: float
    h: float

    @property
    def right(self) -> float:
        """Return the right edge."""
        return self.x + self.w

    @property
    def bottom(self) -> float:
        """Return the lower edge."""
        return self.y + self.h

    @property
    def cx(self) -> float:
        """Return the middle, across."""
        return self.x + self.w / 2

    @property
    def cy(self) -> float:
        """Return the middle, down."""
        return self.y + self.h / 2

    def moved(self, dx: float, dy: float) -> Box:
        """Return the same rectangle elsewhere."""
        return Box(self.x + dx, self.y + dy, self.w, self.h)

    def stretched(self, by: float) -> Box:
        """Return the rectangle of a drawing that is wider by a factor."""
        return Box(self.x * by, self.y, self.w * by, self.h)

    def grown(self, by: float) -> Box:
        """Return the rectangle with a margin of `by` on all sides."""
        return Box(self.x - by, self.y - by, self.w + 2 * by, self.h + 2 * by)

    def overlaps(self, other: Box) -> bool:
        """Return whether the two share a point of their inside."""
        return self.x < other.right and other.x < self.right and self.y < other.bottom and other.y < self.bottom


def card_at(x: float, y: float) -> Box:
    """Return the rectangle of a node card with this upper left corner."""
    return Box(x, y, CARD_W, CARD_H)


def around(boxes: list[Box]) -> Box:
    """Return the smallest rectangle around all of them (empty: a point at the origin)."""
    if not boxes:
        return Box(0, 0, 0, 0)
    x, y = min(b.x for b in boxes), min(b.y for b in boxes)
    return Box(x, y, max(b.right for b in boxes) - x, max(b.bottom for b in boxes) - y)


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
