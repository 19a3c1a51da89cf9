"""What a comparison of two windows says. Frozen values; codes are compared, words are made of them in words.py."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Literal

Why = Literal["", "missing", "gaps", "few", "restart", "load", "load-unsure"]
"""Why a verdict is 'not known': no samples; too few of the seconds; too few independent ones; a restart lies between or
inside; the load changed; nobody knows whether it did."""
Despite = Literal["restart", "load"]
"""What a person may say to look past: then it is told beside the verdict, and no longer in its place."""


class Direction(Enum):
    """What two windows show of one number."""

    HIGHER = "higher"
    LOWER = "lower"
    NONE = "no difference shown"
    UNKNOWN = "not known"


class Size(Enum):
    """How far two windows lie apart, by Cliff's delta (Romano, Kromrey, Coraggio and Skowronek 2006)."""

    NEGLIGIBLE = "negligible"  # |delta| < 0.147
    SMALL = "small"  # < 0.33
    MEDIUM = "medium"  # < 0.474
    LARGE = "large"


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of time, UTC epoch seconds."""

    start: float
    end: float

    @property
    def length_s(self) -> float:
        """Return the length in seconds."""
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Shift:
    """How much a number moved, in the metric's unit.

    Attributes:
        before, after: median of the blocks' values.
        by: the Hodges-Lehmann shift; low, high: its interval.
    """

    before: float
    after: float
    by: float
    low: float
    high: float

    @property
    def verdict(self) -> Direction:
        """Return what the interval shows: a difference only where it leaves out zero."""
        if self.low > 0:
            return Direction.HIGHER
        return Direction.LOWER if self.high < 0 else Direction.NONE


@dataclass(frozen=True, slots=True)
class Change:
    """One metric of one server in two windows.

    Attributes:
        why: '' or why nothing is said; `said`: the same as a sentence.
        despite: what was looked past: 'restart', 'load'.
        typical: of the blocks' averages; worst: of each block's worst second. They may be there beside a `why`: numbers
            stand where the verdict does not. None: not even numbers.
        delta: Cliff's delta of the seconds, -1 to 1: how much more often a second after is above one before.
        block_s: seconds of a block; blocks: how many before and after; memory_s: how long the metric remembers.
        samples: seconds with a value before and after.
    """

    server: str
    metric: str
    title: str
    unit: str
    why: Why = ""
    said: str = ""
    despite: tuple[Despite, ...] = ()
    typical: Shift | None = None
    worst: Shift | None = None
    delta: float | None = None
    block_s: float | None = None
    blocks: tuple[int, int] = (0, 0)
    memory_s: float | None = None
    samples: tuple[int, int] = (0, 0)

    @property
    def verdict(self) -> Direction:
        """Return what is shown of the typical second."""
        return Direction.UNKNOWN if self.why or self.typical is None else self.typical.verdict

    @property
    def worst_verdict(self) -> Direction:
        """Return what is shown of the worst seconds."""
        return Direction.UNKNOWN if self.why or self.worst is None else self.worst.verdict

    @property
    def size(self) -> Size | None:
        """Return how far apart the windows lie, None where that is not known."""
        if self.delta is None:
            return None
        limits = ((0.147, Size.NEGLIGIBLE), (0.33, Size.SMALL), (0.474, Size.MEDIUM))
        return next((size for limit, size in limits if abs(self.delta) < limit), Size.LARGE)


@dataclass(frozen=True, slots=True)
class Comparison:
    """All that was compared.

    Attributes:
        before, after: the windows that were compared, of the same length.
        confidence: the share of comparisons in which every interval holds the true shift, 0 to 1.
        left_out: metrics that nobody named and that no server offers.
    """

    before: Window
    after: Window
    changes: tuple[Change, ...]
    confidence: float
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Asked:
    """What to compare.

    Attributes:
        metrics: keys, raw keys or formulas; empty: the usual ones, without those that a server does not offer.
        despite: what to look past.
    """

    servers: tuple[str, ...]
    before: Window
    after: Window
    metrics: tuple[str, ...] = ()
    despite: frozenset[Despite] = field(default_factory=frozenset)
