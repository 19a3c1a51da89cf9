"""The two stretches of time that a person marks: before and after a change. Pure, no Qt."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

Side = Literal["before", "after"]
Span = tuple[float, float]
"""From, to: UTC epoch seconds."""
MarkedSpan = tuple[float, float, Side]


@dataclass(frozen=True, slots=True)
class Marks:
    """What is marked so far.

    Attributes:
        next_side: which of the two the next stretch becomes that is dragged out.
        begun: where a stretch was begun by keyboard, and which.
    """

    before: Span | None = None
    after: Span | None = None
    next_side: Side = "before"
    begun: tuple[Side, float] | None = None

    @property
    def both(self) -> tuple[Span, Span] | None:
        """Return both stretches, None while one is missing."""
        return None if self.before is None or self.after is None else (self.before, self.after)

    def span(self, side: Side) -> Span | None:
        """Return a stretch."""
        return self.before if side == "before" else self.after

    def taking(self, first: float, last: float, side: Side | None = None) -> Marks:
        """Return the marks with a stretch set; the next one that is dragged out is the other."""
        which = side or self.next_side
        span = (min(first, last), max(first, last))
        other: Side = "after" if which == "before" else "before"
        found = replace(self, next_side=other, begun=None)
        return replace(found, before=span) if which == "before" else replace(found, after=span)

    def marking(self, side: Side, at: float) -> Marks:
        """Return the marks with a stretch begun at a moment, or ended there where it was begun."""
        if self.begun is not None and self.begun[0] == side and self.begun[1] != at:
            return self.taking(self.begun[1], at, side)
        return replace(self, begun=(side, at))

    def spans(self) -> tuple[MarkedSpan, ...]:
        """Return what charts shade; a stretch that was only begun is a line."""
        found: list[MarkedSpan] = []
        if self.before is not None:
            found.append((*self.before, "before"))
        if self.after is not None:
            found.append((*self.after, "after"))
        if self.begun is not None:
            found.append((self.begun[1], self.begun[1], self.begun[0]))
        return tuple(found)
