"""Points to pixel columns: smallest, largest and average value of each column of a view.

Columns lie on an absolute grid (column k covers k*width to (k+1)*width seconds), so curves do not shimmer while a view
moves. Where a column holds very many points they are taken from blocks of 16 that the track keeps up to date as samples
come (plot_track): a day of samples costs no more than an hour. A block may then fall to the neighbouring column. Below
that the columns of the view before are kept, and only those that new samples fall into are computed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from widgets.charts.plots.track import BLOCK, Array, KnownRanges, Track

Ranges = tuple[Array, Array, Array]
"""Centre, smallest and largest value of columns."""

_BLOCKS_FROM = 2 * BLOCK  # points a column


@dataclass(slots=True)
class Columns:
    """`t`: shape (n,), centre of each column that holds points; the values are NaN where all of these are gaps."""

    t: Array
    low: Array
    high: Array
    mean: Array
    p5: Array
    p95: Array


def steady(width: float) -> float:
    """Return the same width however a view's ends were rounded: column 1e9 would move by half of it with each tick."""
    return float(f"{width:.8g}")


def _numbers(start: float, end: float, width: float) -> tuple[int, int]:
    """Return the number of the first column that touches the view, and that past the last."""
    return math.floor(start / width), math.ceil(end / width) + 1


def _grid(t: Array, numbers: tuple[int, int], width: float) -> tuple[Array, npt.NDArray[np.intp]]:
    """Return the centres of columns, and the indexes of `t` at their edges (one more)."""
    edges = np.arange(numbers[0], numbers[1] + 1, dtype=np.float64) * width
    return edges[:-1] + 0.5 * width, t.searchsorted(edges)


def ranges(track: Track, start: float, end: float, width: float) -> Ranges:
    """Return centre, smallest and largest value of each column that holds points; a day of points in microseconds."""
    width = steady(width)
    first, last = _numbers(start, end, width)
    if width > _BLOCKS_FROM * track.step_s:
        return _ranges(track.blocks(), (first, last), width, gaps=track.has_gaps)
    points = (track.t, track.value, track.value)
    known = track.ranges
    if known is None or known.width != width or not known.first <= first <= known.settled:
        found = _ranges(points, (first, last), width, gaps=track.has_gaps)
    else:
        end_kept = min(known.settled, last) * width
        part = slice(known.t.searchsorted(first * width), known.t.searchsorted(end_kept))
        kept = known.t[part], known.low[part], known.high[part]
        if last <= known.settled:
            return kept
        fresh = _ranges(points, (known.settled, last), width, gaps=track.has_gaps)
        found = _joined(kept, fresh)
    # One less than the newest point's: a point on the very edge may be counted to the column before it.
    settled = min(last, math.floor(track.last_at / width) - 1)
    track.ranges = KnownRanges(width, first, max(first, settled), *found)
    return found


def _joined(kept: Ranges, fresh: Ranges) -> Ranges:
    return np.concatenate((kept[0], fresh[0])), np.concatenate((kept[1], fresh[1])), np.concatenate((kept[2], fresh[2]))


def _ranges(points: Ranges, numbers: tuple[int, int], width: float, *, gaps: bool) -> Ranges:
    """Return the columns with these numbers of points given as moments, smallest and largest values."""
    t, low, high = points
    centre, index = _grid(t, numbers, width)
    filled = index[1:] > index[:-1]
    starts = index[:-1][filled]
    if not len(starts):
        return centre[:0], low[:0], high[:0]
    smallest, largest = (np.fmin, np.fmax) if gaps else (np.minimum, np.maximum)
    part = slice(starts[0], index[-1])
    starts = starts - starts[0]
    return centre[filled], smallest.reduceat(low[part], starts), largest.reduceat(high[part], starts)


def aggregates(track: Track, start: float, end: float, width: float) -> Columns:
    """Return all five aggregates of each column that holds points; bands are the envelope of the points' own bands."""
    width = steady(width)
    centre, index = _grid(track.t, _numbers(start, end, width), width)
    filled = index[1:] > index[:-1]
    starts = index[:-1][filled]
    if not len(starts):
        none = centre[:0]
        return Columns(none, none, none, none, none, none)
    stop = int(index[-1])
    value = track.value[:stop]
    known = np.add.reduceat(np.isfinite(value).astype(np.float64), starts)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean: Array = np.add.reduceat(np.nan_to_num(value), starts) / known
    mean[known == 0] = np.nan
    low = np.fmin.reduceat(track.field("minimum")[:stop], starts)
    high = np.fmax.reduceat(track.field("maximum")[:stop], starts)
    if not track.banded:
        return Columns(centre[filled], low, high, mean, low, high)
    p5 = np.fmin.reduceat(track.field("p5")[:stop], starts)
    p95 = np.fmax.reduceat(track.field("p95")[:stop], starts)
    return Columns(centre[filled], low, high, mean, p5, p95)


def raw_slice(track: Track, start: float, end: float) -> slice:
    """Return which points lie in the view, with one more on either side so that lines reach the edges."""
    t = track.t
    return slice(max(0, int(t.searchsorted(start)) - 1), min(len(t), int(t.searchsorted(end, side="right")) + 1))
