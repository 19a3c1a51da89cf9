"""Made-up series for comparisons: noise that remembers, drawn from a seed: they prove arithmetic, no server."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from services.sampling.change.judge import SeriesOf
from services.series import Array, Series

NOW = 1_795_200_000.0


def remembering(rng: np.random.Generator, runs: int, length: int, share: float) -> Array:
    """Return `runs` series, shape (runs, length), of mean 0 and deviation 1, each value `share` of the one before."""
    values = np.empty((runs, length))
    values[:, 0] = rng.standard_normal(runs)
    fresh = np.sqrt(1.0 - share * share) * rng.standard_normal((runs, length))
    for n in range(1, length):
        values[:, n] = share * values[:, n - 1] + fresh[:, n]
    return values


def second_by_second(values: Array, start: float = NOW) -> Series:
    """Return a sample a second from `start` on; NaN is a second without one."""
    return Series("test", start + np.arange(len(values)), np.asarray(values, np.float64))


def cut_from(whole: Mapping[tuple[str, str], Series]) -> SeriesOf:
    """Return a source that gives parts of these; of any other metric that the server does not offer it."""

    def series_of(server: str, metric: str, start: float, end: float, points: int) -> Series:
        known = whole.get((server, metric))
        if known is None:
            empty = np.empty(0)
            return Series(metric, empty, empty, missing="This server does not report it.", lacks="not offered")
        inside = (known.t >= start) & (known.t < end)
        restarts = tuple(at for at in known.restarts if start <= at <= end)
        return Series(metric, known.t[inside], known.value[inside], restarts=restarts)

    return series_of
