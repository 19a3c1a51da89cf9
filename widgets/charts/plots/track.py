"""One curve's data as the plot holds it: growing arrays, so that a sample a second costs a sample and not a copy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from widgets.charts.model import SeriesLike

Array = npt.NDArray[np.float64]
_FIELDS = ("t", "value", "minimum", "maximum", "p5", "p95")
# A hole of this many steps without a word from the store is a gap too.
_HOLE_STEPS = 3.5
_TRIM_SHARE, _TRIM_FROM = 4, 1024
BLOCK = 16


@dataclass(slots=True)
class KnownRanges:
    """The columns of one view, kept for the next: while samples come only the newest columns differ.

    Attributes:
        width: seconds a column. first: number of the first column; settled: of the first that later samples may change.
        t, low, high: centre, smallest and largest value of each column from `first` on that holds points.
    """

    width: float
    first: int
    settled: int
    t: Array
    low: Array
    high: Array


class Track:
    """Times and values of one curve; NaN is a gap. `banded` when the values are aggregates.

    Attributes:
        has_gaps: whether any value is NaN.
        missing: why nothing of the metric was sampled; lacks: the same as a code (services/series.py).
        restarts: epoch seconds.
        ranges: what plot_columns computed of these points last.
    """

    __slots__ = (
        *("_arrays", "_block_high", "_block_low", "_block_t", "_blocks_done", "_size"),
        *("banded", "has_gaps", "known", "lacks", "missing", "ranges", "restarts", "step_s"),
    )

    def __init__(self) -> None:
        self._arrays: dict[str, Array] = {"t": np.empty(0), "value": np.empty(0)}
        self._size = 0
        self._block_t, self._block_low, self._block_high = np.empty(0), np.empty(0), np.empty(0)
        self._blocks_done = 0
        self.banded = False
        self.has_gaps = False
        self.known = False
        self.missing = self.lacks = ""
        self.restarts: tuple[float, ...] = ()
        self.step_s = 1.0
        self.ranges: KnownRanges | None = None

    def __len__(self) -> int:
        return self._size

    @property
    def t(self) -> Array:
        """Return the times."""
        return self._arrays["t"][: self._size]

    @property
    def value(self) -> Array:
        """Return the values (averages when banded)."""
        return self._arrays["value"][: self._size]

    def field(self, name: str) -> Array:
        """Return "minimum", "maximum", "p5" or "p95"; the values themselves where there are none."""
        return self._arrays.get(name, self._arrays["value"])[: self._size]

    @property
    def last_at(self) -> float:
        """Return the time of the newest point, minus infinity when there is none."""
        return float(self._arrays["t"][self._size - 1]) if self._size else -np.inf

    def replace(self, series: SeriesLike) -> None:
        """Take `series` instead of what was there."""
        self.known = True
        self.missing, self.lacks = series.missing, series.lacks
        self.restarts = tuple(series.restarts)
        self.step_s = max(series.step_s, 1e-3)
        self.banded = series.p5 is not None or series.minimum is not None
        self._arrays = {
            name: np.array(getattr(series, name), dtype=np.float64)
            for name in _FIELDS
            if getattr(series, name) is not None
        }
        self._size = len(self._arrays["t"])
        self.has_gaps = bool(np.isnan(self.value).any())
        self._blocks_done = 0
        self.ranges = None

    def append(self, series: SeriesLike) -> bool:
        """Add the points of `series` that are newer; return whether anything changed."""
        if not self.known:
            self.replace(series)
            return True
        changed = series.missing != self.missing
        self.missing, self.lacks = series.missing, series.lacks
        if series.restarts and not set(series.restarts) <= set(self.restarts):
            self.restarts = tuple(sorted({*self.restarts, *series.restarts}))
            changed = True
        first = int(series.t.searchsorted(self.last_at, side="right")) if self._size else 0
        if first >= len(series.t):
            return changed
        if self._size and series.t[first] - self.last_at > _HOLE_STEPS * max(self.step_s, series.step_s):
            self._push_gap()
        self._push(series, first)
        return True

    def _push_gap(self) -> None:
        self._reserve(1)
        for name, array in self._arrays.items():
            array[self._size] = self.last_at + self.step_s if name == "t" else np.nan
        self._size += 1
        self.has_gaps = True

    def _push(self, series: SeriesLike, first: int) -> None:
        count = len(series.t) - first
        self._reserve(count)
        part = slice(self._size, self._size + count)
        for name, array in self._arrays.items():
            fresh = getattr(series, name)
            array[part] = (series.value if fresh is None else fresh)[first:]
        self._size += count
        self.has_gaps = self.has_gaps or bool(np.isnan(self._arrays["value"][part]).any())

    def _reserve(self, count: int) -> None:
        if self._size + count > len(self._arrays["t"]):
            room = max(1024, (self._size + count) * 3 // 2)
            for name, array in self._arrays.items():
                self._arrays[name] = np.concatenate([array[: self._size], np.empty(room - self._size)])

    def blocks(self) -> tuple[Array, Array, Array]:
        """Return middle moment, smallest and largest value of each 16 points (the last: fewer); NaN: all gaps.

        Only blocks that are new since the last call are computed, and the unfinished one.
        """
        whole = self._size // BLOCK
        if len(self._block_low) < whole + 1:
            grown = max(64, (whole + 1) * 3 // 2)
            self._block_t, self._block_low, self._block_high = (
                np.concatenate([had, np.empty(grown - len(had))])
                for had in (self._block_t, self._block_low, self._block_high)
            )
        part = slice(self._blocks_done, whole)
        if part.stop > part.start:
            points = slice(part.start * BLOCK, part.stop * BLOCK)
            np.fmin.reduce(self.field("minimum")[points].reshape(-1, BLOCK), axis=1, out=self._block_low[part])
            np.fmax.reduce(self.field("maximum")[points].reshape(-1, BLOCK), axis=1, out=self._block_high[part])
            self._block_t[part] = self.t[points].reshape(-1, BLOCK)[:, BLOCK // 2]
            self._blocks_done = whole
        count = whole
        if self._size > whole * BLOCK:
            rest = slice(whole * BLOCK, self._size)
            self._block_low[whole] = np.fmin.reduce(self.field("minimum")[rest])
            self._block_high[whole] = np.fmax.reduce(self.field("maximum")[rest])
            self._block_t[whole] = self.t[whole * BLOCK]
            count += 1
        return self._block_t[:count], self._block_low[:count], self._block_high[:count]

    def forget_before(self, at: float) -> None:
        """Drop what is older than `at`, now and then (when it is over a quarter): an open page grows no further."""
        if self._size <= _TRIM_FROM or self._arrays["t"][self._size // _TRIM_SHARE] >= at:
            return
        first = int(self.t.searchsorted(at))
        for name, array in self._arrays.items():
            self._arrays[name] = array[first : self._size].copy()
        self._size -= first
        self._blocks_done = 0

    def value_at(self, at: float) -> float:
        """Return the value that was true at `at`: the newest point not after it and at most two steps old, else NaN."""
        index = int(np.searchsorted(self.t, at + 1e-6, side="right")) - 1
        if index < 0 or at - self._arrays["t"][index] > 2.5 * self.step_s:
            return float("nan")
        return float(self._arrays["value"][index])

    def latest(self) -> float:
        """Return the newest value (NaN in a gap)."""
        return float(self._arrays["value"][self._size - 1]) if self._size else float("nan")
