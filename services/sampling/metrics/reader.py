"""From the store to curves: a catalogue metric of one server over a span, thinned for drawing, with bands and gaps.

Up to twice the wanted points, raw seconds. Beyond that, bins: of raw seconds up to six hours, of one-minute aggregates
beyond. A bin's line is the average; minimum and maximum are exact; p5 and p95 are percentiles of the seconds within a
bin, or, for bins of several minutes, the 5th percentile of the minutes' p5 and the 95th of their p95 (an approximation
that is never narrower than what most minutes showed).
"""

from __future__ import annotations

import math

import numpy as np

from services.facts.model import SSH
from services.history.columns.compaction import DERIVED, SECONDS_ONLY_S
from services.history.columns.rollup import MINUTE_S, by_step, doubles
from services.history.columns.values import Columns, Rollups
from services.history.store import HistoryStore
from services.sampling.metrics import rates
from services.sampling.metrics.absence import read_over, why_absent
from services.sampling.metrics.catalogue import Catalogue
from services.sampling.metrics.formula import Formula, Frame
from services.sampling.past.starts import known_starts
from services.series import Array, Series
from services.types import Lack

STEPS = (1.0, 2.0, 5.0, 10.0, 15.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1_800.0, 3_600.0, 7_200.0, 21_600.0,
         86_400.0)  # fmt: skip
_UPTIME = "uptime"


class SeriesReader:
    """Reads through one store and one catalogue. Thread-safe (both are)."""

    def __init__(self, store: HistoryStore, catalogue: Catalogue) -> None:
        self._store = store
        self._catalogue = catalogue

    def series(self, server: str, metric_key: str, start: float, end: float, points: int) -> Series:
        """Return a metric from `start` to `end` with about `points` points; reads the file.

        Raises:
            BadInput: `metric_key` is neither a metric nor a formula. StoreError: the file can't be read.
        """
        formula = self._catalogue.formula(metric_key)
        server = self._read_of(server, formula)
        points = max(2, points)
        span = max(1.0, end - start)
        if span > max(SECONDS_ONLY_S, 2.0 * points):
            return self._from_minutes(server, metric_key, formula, (start, end), points)
        frame, restarts = self._frame(server, formula, start, end)
        t, values = _cut(frame.t, formula.evaluate(frame), start, end)
        if span <= 2.0 * points:
            t, values = rates.with_holes(t, values)
            lacks, missing = _absence(formula, frame)
            return Series(metric_key, t, values, restarts=restarts, missing=missing, lacks=lacks)
        return _binned(metric_key, t, values, _step(span / points), restarts, _absence(formula, frame))

    def tail(self, server: str, metric_key: str, since: float) -> Series:
        """Return the raw points after `since` from memory only (at most the newest ten minutes)."""
        formula = self._catalogue.formula(metric_key)
        server = self._read_of(server, formula)
        known = self._store.keys(server) if formula.patterns else ()
        keys = (*formula.needs(known), _UPTIME)
        columns = self._store.hot(server, keys, since - formula.lead_s)
        frame = self._as_frame(columns)
        t, values = _cut(frame.t, formula.evaluate(frame), since + 2e-4, math.inf)
        t, values = rates.with_holes(t, values)
        lacks, missing = _absence(formula, frame)
        return Series(metric_key, t, values, restarts=_restarts(frame, since), missing=missing, lacks=lacks)

    def _read_of(self, server: str, formula: Formula) -> str:
        """Return whose samples hold a formula's values: of another instance on a host, the machine's are the host's."""
        host, _, port = server.rpartition(":")
        if not host or not port.isdecimal() or read_over(formula) != SSH:
            return server
        return host if host in self._store.servers() else server

    def _frame(self, server: str, formula: Formula, start: float, end: float) -> tuple[Frame, tuple[float, ...]]:
        known = self._store.keys(server) if formula.patterns else ()
        keys = tuple(dict.fromkeys((*formula.needs(known), _UPTIME)))
        frame = self._as_frame(self._store.read(server, keys, start - formula.lead_s, end))
        return frame, _restarts(frame, start)

    def _as_frame(self, columns: Columns) -> Frame:
        return Frame(columns.t, columns.mono, known_starts(columns.epochs, self._store.epoch_name), columns.values)

    def _from_minutes(self, server: str, key: str, formula: Formula, span: tuple[float, float], points: int) -> Series:
        """Use stored aggregates, and bins of raw seconds where an hour has none yet (the newest one or two)."""
        start, end = span
        stored_key = DERIVED + key if self._catalogue.metric(key) else key
        stored = self._store.rollups(server, stored_key, start, end)
        covered = float(stored.t[-1]) + MINUTE_S if len(stored.t) else start
        if not len(stored.t):
            covered = (
                max(start, end - SECONDS_ONLY_S) if self._store.rollups(server, _UPTIME, start, end).t.size else start
            )
        parts = [stored]
        restarts: tuple[float, ...] = ()
        absence: Absence = ("", "")
        if covered < end:
            frame, restarts = self._frame(server, formula, covered, end)
            t, values = _cut(frame.t, formula.evaluate(frame), covered, end)
            parts.append(_as_rollups(t, values))
            absence = ("", "") if len(stored.t) else _absence(formula, frame)
        joined = [np.concatenate([getattr(p, name) for p in parts]) for name in _FIELDS]
        step = max(MINUTE_S, _step((end - start) / points))
        return _coarser(key, joined, step, restarts, absence)


Absence = tuple[Lack, str]
_FIELDS = ("t", "minimum", "average", "maximum", "p5", "p95")


def _as_rollups(t: Array, values: Array) -> Rollups:
    minutes, aggregates = by_step(t, values[None, :], MINUTE_S)
    minimum, average, maximum, p5, p95 = (doubles(row) for row in aggregates[0])
    return Rollups(minutes.astype(np.float64) * MINUTE_S, minimum, average, maximum, p5, p95)


def _restarts(frame: Frame, start: float) -> tuple[float, ...]:
    moments = frame.t[frame.broken]
    return tuple(float(m) for m in moments[moments >= start])


def _cut(t: Array, values: Array, start: float, end: float) -> tuple[Array, Array]:
    # Moments are kept to a tenth of a millisecond, so a wanted moment may lie a little beside its sample.
    low, high = np.searchsorted(t, start - 1e-4, side="left"), np.searchsorted(t, end + 1e-4, side="right")
    return t[low:high], values[low:high]


def _absence(formula: Formula, frame: Frame) -> tuple[Lack, str]:
    """Return why there is nothing to draw, ("", "") when there is something or when nothing was sampled at all."""
    given = {key for key, values in frame.values.items() if not np.isnan(values).all()}
    if given - {_UPTIME} or not len(frame.t):
        return "", ""
    return why_absent(formula, answered=_UPTIME in given)


def _step(ideal: float) -> float:
    """Return the shortest usual step not below `ideal`: bins at round moments don't flicker while time runs."""
    return next((step for step in STEPS if step >= ideal), math.ceil(ideal / STEPS[-1]) * STEPS[-1])


def _binned(key: str, t: Array, values: Array, step: float, restarts: tuple[float, ...], absence: Absence) -> Series:
    bins, aggregates = by_step(t, values[None, :], step)
    columns = [(bins.astype(np.float64) + 0.5) * step, *(doubles(row) for row in aggregates[0])]
    return _series(key, columns, step, restarts, absence)


def _coarser(key: str, columns: list[Array], step: float, restarts: tuple[float, ...], absence: Absence) -> Series:
    """Return minutes gathered into bins of `step` seconds (a multiple of 60)."""
    t, minimum, average, maximum, p5, p95 = columns
    if step <= MINUTE_S:
        return _series(key, [t + MINUTE_S / 2, minimum, average, maximum, p5, p95], MINUTE_S, restarts, absence)
    keep = ~np.isnan(average)
    stacked = np.stack([minimum, average, maximum, p5, p95])[:, keep]
    bins, aggregates = by_step(t[keep], stacked, step)
    wide = doubles(aggregates)
    picked = [wide[0, 0], wide[1, 1], wide[2, 2], wide[3, 3], wide[4, 4]]
    return _series(key, [(bins.astype(np.float64) + 0.5) * step, *picked], step, restarts, absence)


def _series(key: str, columns: list[Array], step: float, restarts: tuple[float, ...], absence: Absence) -> Series:
    """Return the series, with a NaN point where bins without samples lie between."""
    t = columns[0]
    places = np.flatnonzero(np.diff(t) > 1.5 * step) + 1
    if len(places):
        gap = t[places - 1] + step
        columns = [np.insert(t, places, gap), *(np.insert(c, places, np.nan) for c in columns[1:])]
    t, minimum, average, maximum, p5, p95 = columns
    return Series(key, t, average, minimum, maximum, p5, p95, restarts, step, absence[1], absence[0])
