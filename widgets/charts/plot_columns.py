"""Points to pixel columns: smallest, largest and average value per column, kept while the view moves.

Columns lie on an absolute grid (column k covers k*width to (k+1)*width seconds), so a view that moves by a second
recomputes only the columns at its edges and the one the newest sample fell into.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from widgets.charts.plot_track import Array, Track


@dataclass(slots=True)
class Columns:
    """`t`: shape (n,), centre of each column that holds points; NaN in the others where the column is a gap."""

    t: Array
    low: Array
    high: Array
    mean: Array
    p5: Array
    p95: Array


class ColumnCache:
    """Columns of one track for one column width."""

    __slots__ = ("_filled", "_first", "_generation", "_seen_until", "_table", "_width")

    def __init__(self) -> None:
        self._width = 0.0
        self._generation = -1
        self._first = 0
        self._table = np.empty((5, 0))
        self._filled = np.empty(0, dtype=bool)
        self._seen_until = -np.inf

    def get(self, track: Track, start: float, end: float, width: float) -> Columns:
        """Return the columns of `width` seconds that touch `start` to `end`."""
        first, last = int(np.floor(start / width)), int(np.ceil(end / width)) + 1
        if width != self._width or track.generation != self._generation or not self._overlaps(first, last):
            self._width, self._generation = width, track.generation
            self._first = first
            self._table, self._filled = _compute(track, first, last, width)
        else:
            self._extend(track, first, last)
        self._seen_until = track.last_at
        part = slice(first - self._first, last - self._first)
        filled = self._filled[part]
        table = self._table[:, part][:, filled]
        centre: Array = (np.arange(first, last, dtype=np.float64)[filled] + 0.5) * width
        return Columns(centre, table[0], table[1], table[2], table[3], table[4])

    def _overlaps(self, first: int, last: int) -> bool:
        return first <= self._first + len(self._filled) and last >= self._first

    def _extend(self, track: Track, first: int, last: int) -> None:
        """Add the columns that are missing at either end; redo those that new points fell into."""
        have_last = self._first + len(self._filled)
        if track.last_at > self._seen_until:
            have_last = max(self._first, min(have_last, int(np.floor(self._seen_until / self._width))))
        keep_first, keep_last = max(first, self._first), min(last, have_last)
        if keep_last < keep_first:
            self._first = first
            self._table, self._filled = _compute(track, first, last, self._width)
            return
        kept = slice(keep_first - self._first, keep_last - self._first)
        tables, fills = [self._table[:, kept]], [self._filled[kept]]
        if first < keep_first:
            table, filled = _compute(track, first, keep_first, self._width)
            tables.insert(0, table)
            fills.insert(0, filled)
        if keep_last < last:
            table, filled = _compute(track, keep_last, last, self._width)
            tables.append(table)
            fills.append(filled)
        self._first = first
        if len(tables) > 1 or kept.start or kept.stop != len(self._filled):
            self._table, self._filled = np.concatenate(tables, axis=1), np.concatenate(fills)


def _compute(track: Track, first: int, last: int, width: float) -> tuple[Array, npt.NDArray[np.bool_]]:
    """Return (5, n) of minimum, maximum, mean, p5, p95 and which columns hold any point (NaN counts as one)."""
    count = last - first
    table = np.full((5, count), np.nan)
    index = np.searchsorted(track.t, np.arange(first, last + 1) * width)
    filled = index[1:] > index[:-1]
    if not filled.any():
        return table, filled
    begin, stop = int(index[0]), int(index[-1])
    starts = index[:-1][filled] - begin
    value = track.value[begin:stop]
    low, high = (track.field(name)[begin:stop] for name in ("minimum", "maximum")) if track.banded else (value, value)
    holes = np.isnan(value)
    if holes.any():
        known = np.add.reduceat((~holes).astype(np.float64), starts)
        with np.errstate(invalid="ignore", divide="ignore"):
            table[2, filled] = np.add.reduceat(np.where(holes, 0.0, value), starts) / known
        table[0, filled] = np.fmin.reduceat(low, starts)
        table[1, filled] = np.fmax.reduceat(high, starts)
    else:
        sizes = np.diff(np.append(starts, stop - begin))
        table[2, filled] = np.add.reduceat(value, starts) / sizes
        table[0, filled] = np.minimum.reduceat(low, starts)
        table[1, filled] = np.maximum.reduceat(high, starts)
    if track.banded:  # the envelope of the bands: never narrower than the truth
        table[3, filled] = np.fmin.reduceat(track.field("p5")[begin:stop], starts)
        table[4, filled] = np.fmax.reduceat(track.field("p95")[begin:stop], starts)
    return table, filled


def raw_slice(track: Track, start: float, end: float) -> slice:
    """Return which points lie in the view, with one more on either side so that lines reach the edges."""
    first = int(np.searchsorted(track.t, start)) - 1
    last = int(np.searchsorted(track.t, end, side="right")) + 1
    return slice(max(0, first), min(len(track), last))
