"""Rectangles, and rows of them. Lengths are pixels of the drawing, x to the right, y down."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


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


def around(boxes: Iterable[Box]) -> Box:
    """Return the smallest rectangle around all of them (empty: a point at the origin)."""
    known = list(boxes)
    if not known:
        return Box(0, 0, 0, 0)
    x, y = min(b.x for b in known), min(b.y for b in known)
    return Box(x, y, max(b.right for b in known) - x, max(b.bottom for b in known) - y)


def in_rows(ids: Sequence[str], first: Box, columns: int, gaps: tuple[float, float]) -> dict[str, Box]:
    """Return a box for each id, row by row, all as large as the first.

    Args:
        first: where the first one stands.
        columns: how many stand in a row.
        gaps: between two columns, between two rows.
    """
    across, down = first.w + gaps[0], first.h + gaps[1]
    return {node_id: first.moved(i % columns * across, i // columns * down) for i, node_id in enumerate(ids)}
