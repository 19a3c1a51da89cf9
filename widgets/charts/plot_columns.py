"""Points to pixel columns: smallest, largest and average value of each column of a view.

Columns lie on an absolute grid (column k covers k*width to (k+1)*width seconds), so curves do not shimmer while a view
moves. Where a column holds very many points they are taken from blocks of 16 that the track keeps up to date as samples
come (plot_track): a day of samples costs no more than an hour. A block may then fall to the neighbouring column.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from widgets.charts.plot_track import BLOCK, Array, Track

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


def _edges(start: float, end: float, width: float) -> Array:
    """Return the edges of the columns that touch the view, one more than columns."""
    first, last = int(np.floor(start / width)), int(np.ceil(end / width)) + 1
    return np.arange(first, last + 1, dtype=np.float64) * width


def _grid(t: Array, start: float, end: float, width: float) -> tuple[Array, npt.NDArray[np.intp]]:
    """Return the centres of the columns that touch the view, and the indexes of `t` at their edges."""
    edges = _edges(start, end, width)
    return edges[:-1] + 0.5 * width, t.searchsorted(edges)


def ranges(track: Track, start: float, end: float, width: float) -> tuple[Array, Array, Array]:
    """Return centre, smallest and largest value of each column that holds points; a day of points in microseconds."""
    t, low, high = track.t, track.value, track.value
    if width > _BLOCKS_FROM * track.step_s:
        t, low, high = track.blocks()
    centre, index = _grid(t, start, end, width)
    filled = index[1:] > index[:-1]
    starts = index[:-1][filled]
    if not len(starts):
        return centre[:0], low[:0], high[:0]
    smallest, largest = (np.fmin, np.fmax) if track.has_gaps else (np.minimum, np.maximum)
    low, high = low[: index[-1]], high[: index[-1]]
    return centre[filled], smallest.reduceat(low, starts), largest.reduceat(high, starts)


def aggregates(track: Track, start: float, end: float, width: float) -> Columns:
    """Return all five aggregates of each column that holds points; bands are the envelope of the points' own bands."""
    centre, index = _grid(track.t, start, end, width)
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
