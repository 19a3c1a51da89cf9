"""Two stretches of one number compared, by a formula that respects that one second resembles the next. Pure.

A metric remembers: of 600 seconds in a row perhaps 30 tell something new. So neither the seconds nor a test that takes
them for independent are used, but blocks of them, long against that memory, which are nearly independent:

1. memory: the integrated autocorrelation time, tau = 1 + 2 * (sum of the autocorrelations), cut off by Geyer's initial
   monotone positive sequence (C. J. Geyer, "Practical Markov Chain Monte Carlo", Statistical Science 7, 1992), of both
   windows' samples about their own means. It is taken of the seconds, and again of their averages over 2, 4, 8 ...
   of them: a slow wander under fast noise is seen only there. The longest counts.
2. block: five memories, and never less than a sixteenth of the shorter window (batch means: A. M. Law, "Simulation
   Modeling and Analysis", section 9.5.3). Fewer than eight blocks on either side: nothing is said.
3. shift: the median of all differences of a block after and a block before (Hodges and Lehmann, Annals of Mathematical
   Statistics 34, 1963); its interval lies between the order statistics of those differences that the exact distribution
   of the Mann-Whitney count gives (Hollander, Wolfe and Chicken, "Nonparametric Statistical Methods", section 4.3).
   That count takes both windows to vary alike. Where one varies more than twice as much as the other, the interval is
   no narrower than the sign test's of the one that varies, which is what is left of it when the other stands still.
4. effect size: Cliff's delta of the seconds (N. Cliff, Psychological Bulletin 114, 1993).

Nothing is drawn at random: the same samples give the same answer. How often it speaks of a change where there is none
is measured by tests/unit/sampling/change/test_change_false_alarms.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from services.sampling.change.model import Shift
from services.series import Array

LEAST_BLOCKS, MOST_BLOCKS = 8, 16
MEMORIES, LEAST_BLOCK = 5.0, 5
MOST_UNLIKE = 2.0
Reduce = Callable[..., Array]
_STILL = 1e-9
"""A number that varies by less of itself stands still: what is left are the roundings of a rate."""
_LEAST_POINTS = 24
"""Of fewer averages no memory is estimated."""


@dataclass(frozen=True, slots=True)
class Cut:
    """How two windows are cut: samples of a block, blocks of each window, samples that the metric remembers."""

    block: int
    before: int
    after: int
    memory: float

    @property
    def enough(self) -> bool:
        """Return whether there are enough blocks to say anything."""
        return min(self.before, self.after) >= LEAST_BLOCKS


def cut(before: Array, after: Array) -> Cut:
    """Return how to cut two windows; arrays of shape (n,), n > 0, equally spaced samples without NaN."""
    shorter = min(len(before), len(after))
    remembered = memory(before, after)
    block = min(shorter, max(LEAST_BLOCK, math.ceil(MEMORIES * remembered), math.ceil(shorter / MOST_BLOCKS)))
    return Cut(block, len(before) // block, len(after) // block, remembered)


def memory(before: Array, after: Array) -> float:
    """Return the integrated autocorrelation time in samples, at least 1."""
    shorter, longest, width = min(len(before), len(after)), 1.0, 1
    while shorter // width >= _LEAST_POINTS:
        pair = [_reduced(window, width, len(window) // width, np.mean) for window in (before, after)]
        longest = max(longest, (_time(pair) - 1.0) * width)
        width *= 2
    return longest


def shift(before: Array, after: Array, parts: Cut, reduce: Reduce, alpha: float, *, known: bool = True) -> Shift:
    """Return the shift of the blocks' values; of too few its interval has no ends.

    Args:
        reduce: what a block is told by: np.mean, np.max or np.min; alpha: how often the interval may miss.
        known: False where the windows say nothing for another reason: then the interval has no ends either.
    """
    # The blocks next to the change are whole; what is left over lies at the far ends.
    of_before = _reduced(before[len(before) - parts.before * parts.block :], parts.block, parts.before, reduce)
    of_after = _reduced(after, parts.block, parts.after, reduce)
    place = _place(parts.before, parts.after, alpha) if known and parts.enough else 0
    spreads = _spread(of_before), _spread(of_after)
    if max(spreads) > MOST_UNLIKE * min(spreads):
        signs = (parts.before * _sign_place(parts.after, alpha), parts.after * _sign_place(parts.before, alpha))
        place = min(place, *signs)
    by = np.sort((of_after[:, None] - of_before[None, :]).ravel())
    medians = float(np.median(of_before)), float(np.median(of_after))
    ends = (float(by[place - 1]), float(by[-place])) if place else (-math.inf, math.inf)
    return Shift(*medians, float(np.median(by)), *ends)


def delta(before: Array, after: Array) -> float:
    """Return Cliff's delta: the share of pairs in which a second after is above one before, less the share below."""
    ordered = np.sort(before)
    above = np.searchsorted(ordered, after, side="left").sum()
    below = (len(before) - np.searchsorted(ordered, after, side="right")).sum()
    return float((above - below) / (len(before) * len(after)))


def _reduced(window: Array, block: int, count: int, reduce: Reduce) -> Array:
    return np.asarray(reduce(window[: count * block].reshape(count, block), axis=1), np.float64)


def _time(windows: list[Array]) -> float:
    """Return tau of several windows together, in their own steps; at least 1."""
    lags = max(2, min(len(window) for window in windows) // 2)
    power = np.sum([_covariance(window)[:lags] for window in windows], axis=0)
    if power[0] <= sum(len(window) * (_STILL * np.abs(window).max()) ** 2 for window in windows):
        return 1.0
    rho = power[: lags // 2 * 2] / power[0]
    pairs = rho[0::2] + rho[1::2]
    negative = np.flatnonzero(pairs <= 0)
    positive = pairs[: int(negative[0])] if len(negative) else pairs
    return max(1.0, 2.0 * float(np.minimum.accumulate(positive).sum()) - 1.0) if len(positive) else 1.0


def _covariance(window: Array) -> Array:
    """Return the sums of products at each lag about the window's mean, by Fourier transform."""
    room = 1 << (2 * len(window) - 1).bit_length()
    spectrum = np.fft.rfft(window - window.mean(), room)
    return np.asarray(np.fft.irfft(spectrum * spectrum.conj(), room)[: len(window)], np.float64)


def _spread(values: Array) -> float:
    """Return the mean distance from the median."""
    return float(np.abs(values - np.median(values)).mean())


def _sign_place(count: int, alpha: float) -> int:
    """Return the same for `count` values against one that stands still: the sign test's, 0 where none is far enough."""
    below = np.cumsum([math.comb(count, n) / 2.0**count for n in range(count + 1)])
    return int(np.searchsorted(below, alpha / 2.0, side="right"))


@lru_cache(maxsize=64)
def _place(before: int, after: int, alpha: float) -> int:
    """Return which order statistic from either end bounds the interval, 0 where none is far enough out.

    The interval between the c-th smallest and the c-th largest difference misses with twice the probability that the
    Mann-Whitney count is below c.
    """
    fewer, more = sorted((before, after))
    chances = np.ones(fewer * more + 1)
    chances[1:] = 0.0
    for size in range(1, fewer + 1):  # the Gaussian binomial: times (1 - q^(more + size)), through (1 - q^size)
        turned = chances.copy()
        turned[more + size :] -= chances[: max(0, len(chances) - more - size)]
        for start in range(size):
            turned[start::size] = np.cumsum(turned[start::size])
        chances = turned / turned.max()
    return int(np.searchsorted(np.cumsum(chances / chances.sum()), alpha / 2.0, side="right"))
