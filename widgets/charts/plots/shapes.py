"""From tracks to what is painted, still in seconds and values: lines, bands, dots and piles. numpy only, no Qt."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from widgets.charts.plots.columns import Columns, Ranges, aggregates, ranges, raw_slice, steady
from widgets.charts.plots.track import Array, Track

Indexes = npt.NDArray[np.intp]

# Up to this many points a pixel the points themselves are drawn; above it columns.
_RAW_PER_PIXEL = 1.25
_BIN_PX = 6.0
_DOT_BIN_PX = 9.0
_LEAST_IN_BIN = 4


@dataclass(slots=True)
class Shape:
    """One curve ready to be mapped to pixels. All arrays share nothing; NaN breaks a line.

    Attributes:
        t, y: the line.
        band_t, p5, p95: the band, or empty.
        dot_t, dot_y: candidates for the extremes that the line hides; the painter drops those near the band.
        dot_edge: where the visible shape ends at each dot (the p95, the p5 or the line), same shape as dot_y.
    """

    t: Array
    y: Array
    band_t: Array = field(default_factory=lambda: np.empty(0))
    p5: Array = field(default_factory=lambda: np.empty(0))
    p95: Array = field(default_factory=lambda: np.empty(0))
    dot_t: Array = field(default_factory=lambda: np.empty(0))
    dot_y: Array = field(default_factory=lambda: np.empty(0))
    dot_edge: Array = field(default_factory=lambda: np.empty(0))

    def extent(self, start: float, end: float) -> tuple[float, float]:
        """Return smallest and largest value shown between two moments (NaN, NaN when there is none)."""
        extents = [_extent(self.t, start, end, self.y, self.y)]
        if len(self.band_t):
            extents.append(_extent(self.band_t, start, end, self.p5, self.p95))
        if len(self.dot_t):
            dots = self.dot_y[(self.dot_t >= start) & (self.dot_t <= end)]
            extents.append(_extent(np.zeros(len(dots)), 0, 0, dots, dots))
        known = [pair for pair in extents if pair[0] == pair[0]]
        if not known:
            return float("nan"), float("nan")
        return min(pair[0] for pair in known), max(pair[1] for pair in known)


def _extent(t: Array, start: float, end: float, low: Array, high: Array) -> tuple[float, float]:
    first, last = int(t.searchsorted(start)), int(t.searchsorted(end, side="right"))
    if last <= first:
        return float("nan"), float("nan")
    return float(np.fmin.reduce(low[first:last])), float(np.fmax.reduce(high[first:last]))


def first_change(before: Shape, now: Shape) -> float:
    """Return the moment from which on a line differs from the one before it: minus infinity, infinity: all, nothing.

    What the view has left behind is no difference.
    """
    if not len(now.t) or not len(before.t):
        return math.inf if len(now.t) == len(before.t) else -math.inf
    old = slice(int(before.t.searchsorted(now.t[0])), None)
    old_t, old_y = before.t[old], before.y[old]
    count = min(len(old_t), len(now.t))
    t, y = now.t[:count], now.y[:count]
    same_y = (old_y[:count] == y) | (np.isnan(old_y[:count]) & np.isnan(y))
    differ = np.flatnonzero(~((old_t[:count] == t) & same_y))
    if not len(differ) and len(old_t) == len(now.t):
        return math.inf
    first = int(differ[0]) if len(differ) else count
    return float(now.t[first - 1]) if first else -math.inf


def line_shape(track: Track, start: float, end: float, pixels: int, *, band: bool = False) -> Shape:
    """Return the shape of one curve in a view of `pixels` columns."""
    part = raw_slice(track, start, end)
    count = part.stop - part.start
    width = (end - start) / max(1, pixels)
    if not band and not track.banded and count > pixels * _RAW_PER_PIXEL:
        return _zigzag(ranges(track, start - width, end, width), steady(width))
    if track.banded:
        if count > pixels * _RAW_PER_PIXEL:
            columns = aggregates(track, start, end, width)
            return _with_band(columns.t, columns.mean, columns.p5, columns.p95, columns.low, columns.high, width)
        p5, p95, low, high = (track.field(name)[part] for name in ("p5", "p95", "minimum", "maximum"))
        return _with_band(track.t[part], track.value[part], p5, p95, low, high, width)
    if band and count / max(1.0, pixels / _BIN_PX) >= _LEAST_IN_BIN:
        return _binned(track.t[part], track.value[part], width * _BIN_PX, width)
    if count > pixels * _RAW_PER_PIXEL:
        return _zigzag(ranges(track, start - width, end, width), steady(width))
    return Shape(track.t[part], track.value[part])


def step_shape(track: Track, start: float, end: float) -> Shape:
    """Return the shape of a value that jumps: each value holds until the next."""
    part = raw_slice(track, start, end)
    t, value = track.t[part], track.value[part]
    if len(t) < 2:
        return Shape(t, value)
    jumps = np.flatnonzero(~(np.diff(value) == 0)) + 1  # NaN never equals: a gap is kept
    keep = np.zeros(len(t), dtype=bool)
    for places in (0, jumps - 1, jumps, len(t) - 1):
        keep[places] = True
    t, value = t[keep], value[keep]
    return Shape(np.repeat(t, 2)[1:], np.repeat(value, 2)[:-1])


def _zigzag(columns: Ranges, width: float) -> Shape:
    """Return a line through the smallest and the largest value of every column: nothing is averaged away.

    Which of them comes first follows from the column's number: a view that moves on draws the same line.
    """
    t, low, high = columns
    if len(t) and math.floor(t[0] / width) % 2:
        low, high = high, low
    y = np.empty(2 * len(t))
    y[0::4], y[1::4] = low[0::2], high[0::2]
    y[2::4], y[3::4] = high[1::2], low[1::2]
    return Shape(np.repeat(t, 2), y)


def _with_band(t: Array, mean: Array, p5: Array, p95: Array, low: Array, high: Array, width: float) -> Shape:
    shape = Shape(t, mean, t, p5, p95)
    _add_dots(shape, t, low, high, p5, p95, width * _DOT_BIN_PX)
    return shape


def _add_dots(shape: Shape, t: Array, low: Array, high: Array, low_edge: Array, high_edge: Array, bin_s: float) -> None:
    """Keep, per bin, the one value that stands out most above and below what is drawn."""
    if not len(t):
        return
    bins = np.floor(t / bin_s)
    starts = _bin_starts(bins)
    tops = _pick(high - high_edge, starts)
    bottoms = _pick(low_edge - low, starts)
    shape.dot_t = np.concatenate([t[tops], t[bottoms]])
    shape.dot_y = np.concatenate([high[tops], low[bottoms]])
    shape.dot_edge = np.concatenate([high_edge[tops], low_edge[bottoms]])


def _bin_starts(bins: npt.NDArray[np.float64] | npt.NDArray[np.int64]) -> Indexes:
    """Return where each run of equal numbers begins."""
    return np.concatenate([np.zeros(1, dtype=np.intp), np.flatnonzero(np.diff(bins)) + 1])


def _pick(excess: Array, starts: Indexes) -> Indexes:
    """Return the index of the largest positive excess in each bin that has one."""
    excess = np.where(np.isfinite(excess), excess, -1.0)
    best = np.maximum.reduceat(excess, starts)
    sizes = np.diff(np.append(starts, len(excess)))
    hits = np.flatnonzero((excess == np.repeat(best, sizes)) & (excess > 0))
    owner = np.searchsorted(starts, hits, side="right")
    return hits[np.flatnonzero(np.diff(owner, prepend=-1))]  # the first of each bin: they ascend


def _binned(t: Array, value: Array, bin_s: float, width: float) -> Shape:
    """Return average, p5 and p95 (nearest rank) of bins of a few pixels; a bin with a gap in it breaks the line."""
    bins = np.floor(t / bin_s).astype(np.int64)
    order = np.lexsort((value, bins))  # NaN sorts last within its bin
    starts = _bin_starts(bins)
    sizes = np.diff(np.append(starts, len(t)))
    known = np.add.reduceat((~np.isnan(value)).astype(np.int64), starts)
    ranked = value[order]

    def rank(share: float) -> Array:
        place = np.rint(share * np.maximum(known - 1, 0)).astype(np.int64)
        return np.where(known == sizes, ranked[starts + place], np.nan)

    with np.errstate(invalid="ignore", divide="ignore"):
        mean: Array = np.where(known == sizes, np.add.reduceat(np.nan_to_num(value), starts) / known, np.nan)
    centre: Array = (bins[starts] + 0.5).astype(np.float64) * bin_s
    centre[0], centre[-1] = max(centre[0], t[0]), min(centre[-1], t[-1])
    return _with_band(centre, mean, rank(0.05), rank(0.95), rank(0.0), rank(1.0), width)


@dataclass(slots=True)
class Pile:
    """Stacked curves: `t` shape (n,); `tops` shape (curves + 1, n), row 0 the floor; NaN where anything is missing."""

    t: Array
    tops: Array
    dot_t: Array
    dot_y: Array
    dot_edge: Array


def pile_shape(tracks: Sequence[Track], start: float, end: float, pixels: int) -> Pile:
    """Return the pile of `tracks` in their order from the bottom.

    Zoomed out the areas are averages; dots show where a part went well above its own average within the column.
    """
    none = np.empty(0)
    part = raw_slice(tracks[0], start, end)
    if part.stop - part.start <= pixels * _RAW_PER_PIXEL and not any(track.banded for track in tracks):
        t = tracks[0].t[part]
        rows = [_values_on(track, t) for track in tracks]
        return Pile(t, _cumulated(rows, len(t)), none, none, none)
    width = (end - start) / max(1, pixels)
    columns = [aggregates(track, start, end, width) for track in tracks]
    t = columns[0].t
    means = [_aligned(c, c.mean, t, width) for c in columns]
    tops = _cumulated(means, len(t))
    shape = Shape(t, tops[-1])
    for row, c in enumerate(columns[:-1]):
        high = tops[row] + _aligned(c, c.high, t, width)
        extra = Shape(t, tops[row + 1])
        _add_dots(extra, t, tops[row + 1], high, tops[row + 1], tops[row + 1], width * _DOT_BIN_PX)
        shape.dot_t = np.concatenate([shape.dot_t, extra.dot_t])
        shape.dot_y = np.concatenate([shape.dot_y, extra.dot_y])
        shape.dot_edge = np.concatenate([shape.dot_edge, extra.dot_edge])
    return Pile(t, tops, shape.dot_t, shape.dot_y, shape.dot_edge)


def _cumulated(rows: Sequence[Array], count: int) -> Array:
    return np.cumsum(np.vstack([np.zeros(count), *rows]), axis=0)


def _values_on(track: Track, t: Array) -> Array:
    """Return the track's values at the times of another: equal times as they are, else the newest not after."""
    part = raw_slice(track, t[0], t[-1]) if len(t) else slice(0, 0)
    own = track.t[part]
    if len(own) == len(t) and np.array_equal(own, t):
        return track.value[part]
    if not len(own):
        return np.full(len(t), np.nan)
    index = np.searchsorted(own, t + 0.5 * track.step_s, side="right") - 1
    value = track.value[part][np.maximum(index, 0)]
    stale = (index < 0) | (t - own[np.maximum(index, 0)] > 2.5 * track.step_s)
    return np.where(stale, np.nan, value)


def _aligned(columns: Columns, values: Array, t: Array, width: float) -> Array:
    """Return a row of column values on the columns of another track (the grid is the same)."""
    if len(columns.t) == len(t):
        return values
    out = np.full(len(t), np.nan)
    if not len(t):
        return out
    place = np.searchsorted(t, columns.t - width / 4)
    fits = (place < len(t)) & (np.abs(t[np.minimum(place, len(t) - 1)] - columns.t) < width / 2)
    out[place[fits]] = values[fits]
    return out
