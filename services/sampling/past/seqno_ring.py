"""Where a node stood over the last week: (moment, seqno, bytes) every ten seconds, in 24 bytes a point."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self, overload

RING_S = 7 * 86_400.0
SLACK_S = 3_600.0
"""The ring is cut once an hour, not with every point."""
EVERY_S = 10.0


@dataclass(frozen=True, slots=True)
class Point:
    """What a node said at one moment: bytes is replicated + received, both whole counters."""

    at: float
    last_committed: int
    bytes: float


class SeqnoRing(Sequence[Point]):
    """The points of one node, oldest first: some 60,000 in seven days. One thread at a time."""

    __slots__ = ("_at", "_bytes", "_seqno")

    def __init__(self) -> None:
        self._at, self._seqno, self._bytes = array("d"), array("q"), array("d")

    @classmethod
    def of(cls, moments: Iterable[float], seqnos: Iterable[int], volumes: Iterable[float]) -> Self:
        """Return the ring of these columns, ascending in time and counters, as they are."""
        ring = cls()
        ring._at, ring._seqno, ring._bytes = array("d", moments), array("q", seqnos), array("d", volumes)
        return ring

    def __len__(self) -> int:
        return len(self._at)

    @overload
    def __getitem__(self, place: int) -> Point: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Point]: ...
    def __getitem__(self, place: int | slice) -> Point | Sequence[Point]:
        if isinstance(place, slice):
            return tuple(self[i] for i in range(*place.indices(len(self))))
        return Point(self._at[place], self._seqno[place], self._bytes[place])

    def observe(self, point: Point) -> None:
        """Take a point when it is due. A seqno or a counter that fell (another history, a restart) empties the ring."""
        if self._at:
            if not _follows(self[-1], point):
                self._keep_from(len(self))
            elif point.at - self._at[-1] < EVERY_S:
                return
        self._at.append(point.at)
        self._seqno.append(point.last_committed)
        self._bytes.append(point.bytes)
        if self._at[0] < point.at - RING_S - SLACK_S:
            self._keep_from(bisect_left(self._at, point.at - RING_S))

    def recall(self, past: SeqnoRing) -> None:
        """Put what is remembered of the same start of the server before what was watched; nothing of another history.

        Points of `past` that are not older than the first one watched are left out.
        """
        if not self:
            self._at, self._seqno, self._bytes = past._at[:], past._seqno[:], past._bytes[:]
            return
        older = bisect_left(past._at, self._at[0])
        if older and _follows(past[older - 1], self[0]):
            self._at = past._at[:older] + self._at
            self._seqno = past._seqno[:older] + self._seqno
            self._bytes = past._bytes[:older] + self._bytes

    def _keep_from(self, place: int) -> None:
        del self._at[:place], self._seqno[:place], self._bytes[:place]


def _follows(one: Point, other: Point) -> bool:
    return other.at >= one.at and other.last_committed >= one.last_committed and other.bytes >= one.bytes
