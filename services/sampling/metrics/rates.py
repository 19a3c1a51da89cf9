"""Counters to rates without lies: a reset, a restart or a hole is a gap, never a negative or giant rate. Pure.

The rule (metrics: "Counter delta"): the interval between two samples is dropped when the counter fell, when uptime
fell, when the server's identity changed, or when the samples are more than 2.5 s apart. A fall covers 32-bit wraps of
old kernels too: guessing which of both it was would invent a value.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from services.series import Array

Mask = npt.NDArray[np.bool_]

MAX_GAP_S = 2.5
GIANT = float(2**62)
"""An unsigned 64-bit counter that went below zero shows as almost 2**64: no counter of ours climbs that far."""


def intervals(t: Array, mono: Array) -> Array:
    """Return the seconds since the sample before, NaN for the first and after a hole.

    The monotonic clock measures; where it makes no sense (another boot of the workstation), the interval is a hole.
    """
    dt = np.full(len(t), np.nan)
    if len(t) > 1:
        steps = np.diff(mono)
        dt[1:] = np.where((steps > 0) & (steps <= MAX_GAP_S), steps, np.nan)
    return dt


def breaks(epochs: Array, uptime: Array | None) -> Mask:
    """Return where a restart lies between a sample and the one before it: the epoch changed or the uptime fell."""
    broken = np.zeros(len(epochs), np.bool_)
    if len(epochs) > 1:
        with np.errstate(invalid="ignore"):
            broken[1:] = np.diff(epochs) != 0
            if uptime is not None:
                broken[1:] |= np.diff(uptime) < 0
    return broken


def deltas(values: Array, dt: Array, broken: Mask, *, may_fall: bool = False) -> Array:
    """Return the growth since the sample before, NaN where the interval is dropped.

    Args:
        values: shape (n,); dt: from `intervals`; broken: from `breaks`.
        may_fall: a small fall counts as 0 instead of a reset (man proc_stat(5): iowait may decrease).
    """
    grown = np.full(len(values), np.nan)
    if len(values) > 1:
        with np.errstate(invalid="ignore", over="ignore"):
            steps = np.diff(values)
            bad = np.isnan(dt[1:]) | broken[1:] | (np.abs(values[1:]) >= GIANT) | (np.abs(values[:-1]) >= GIANT)
            if may_fall:
                steps = np.maximum(steps, 0.0)
            else:
                bad |= steps < 0
        grown[1:] = np.where(bad, np.nan, steps)
    return grown


def rate(values: Array, dt: Array, broken: Mask) -> Array:
    """Return the growth per second, NaN where the interval is dropped."""
    return deltas(values, dt, broken) / dt


def hole_places(t: Array) -> npt.NDArray[np.intp]:
    """Return the places i where a hole lies between sample i - 1 and i."""
    return np.flatnonzero(np.diff(t) > MAX_GAP_S) + 1


def with_holes(t: Array, values: Array) -> tuple[Array, Array]:
    """Return the series with a NaN point in each hole, so that a line is not drawn across it."""
    places = hole_places(t)
    if not len(places):
        return t, values
    return np.insert(t, places, t[places - 1] + 1.0), np.insert(values, places, np.nan)
