"""How often a comparison tells of a change where there is none, and finds one where there is: counted on drawn noise.

The seeds are fixed, so the counts are always the same. A count of a rate p in N draws may by chance be above N * p; the
bound is what a fair coin of that rate stays below in 999 of 1,000 cases.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from services.sampling.change.blocks import Reduce, cut, shift
from services.series import Array
from tests.unit.sampling.change_series import remembering

RUNS = 300
SEED = 3


def told(before: Array, after: Array, alpha: float) -> tuple[int, int]:
    """Return of how many pairs of rows something was said, and in how many of those a change was seen."""
    said = seen = 0
    for b, a in zip(before, after, strict=True):
        found = shift(b, a, cut(b, a), np.mean, alpha)
        if math.isfinite(found.low):
            said += 1
            seen += found.low > 0 or found.high < 0
    return said, seen


def bound(rate: float, draws: int) -> float:
    """Return what a count of `rate` in `draws` stays below in 999 of 1,000 cases (normal approximation, rounded up)."""
    return rate * draws + 3.1 * math.sqrt(rate * (1 - rate) * draws) + 1


def windows(noise: Array, length: int) -> tuple[Array, Array]:
    """Return two windows of one unbroken stretch, with a little time between them."""
    return noise[:, :length], noise[:, -length:]


@pytest.mark.parametrize(
    ("share", "length"),
    [
        (0.0, 300),
        (0.97, 600),
        *(
            pytest.param(share, length, marks=pytest.mark.long)
            for share, length in itertools.product((0.0, 0.5, 0.9, 0.97), (300, 600))
            if (share, length) not in {(0.0, 300), (0.97, 600)}
        ),
    ],
)
def test_that_noise_which_remembers_raises_no_more_false_alarms_than_promised(share: float, length: int) -> None:
    noise = remembering(np.random.default_rng(SEED), RUNS, 2 * length + length // 10, share)
    seen: dict[tuple[Reduce, float], int] = {}
    for before, after in zip(*windows(noise, length), strict=True):
        parts = cut(before, after)
        for reduce, alpha in itertools.product((np.mean, np.max), (0.05, 0.01)):
            found = shift(before, after, parts, reduce, alpha)
            seen[reduce, alpha] = seen.get((reduce, alpha), 0) + (found.low > 0 or found.high < 0)
    assert {key: count for key, count in seen.items() if count > bound(key[1], RUNS)} == {}


@pytest.mark.parametrize("alpha", [0.05, 0.01])
def test_that_stalls_and_heavy_tails_raise_no_more_false_alarms_than_promised(alpha: float) -> None:
    rng = np.random.default_rng(SEED)
    noise = np.exp(1.5 * remembering(rng, RUNS, 1_300, 0.7))  # a median of 1, seconds of 100 now and then
    _, seen = told(*windows(noise, 600), alpha)
    assert seen <= bound(alpha, RUNS)


@pytest.mark.parametrize("times", [2.0, 4.0, 1e6])
def test_that_windows_that_vary_differently_raise_no_more_false_alarms_than_promised(times: float) -> None:
    noise = remembering(np.random.default_rng(SEED), RUNS, 1_300, 0.5)
    before, after = windows(noise, 600)
    _, seen = told(before, times * after, 0.05)
    assert seen <= bound(0.05, RUNS)


def test_that_every_second_taken_for_independent_would_raise_many() -> None:
    # What this formula is for: the usual rank test on 600 seconds of such noise is wrong in most cases.
    noise = remembering(np.random.default_rng(SEED), 200, 1_300, 0.9)
    wrong = 0
    for before, after in zip(*windows(noise, 600), strict=True):
        places = np.argsort(np.argsort(np.concatenate([before, after])))[600:].sum() - 600 * 599 / 2
        wrong += abs(places - 180_000.0) > 1.96 * math.sqrt(600 * 600 * 1_201 / 12)
    assert wrong > 0.4 * 200


def test_that_a_wander_slower_than_the_windows_is_seldom_called_a_change() -> None:
    # A third of the variance remembers 100 s, under noise that remembers nothing: the worst case that was tried.
    rng = np.random.default_rng(SEED)
    noise = math.sqrt(0.3) * remembering(rng, RUNS, 1_300, 0.98) + math.sqrt(0.7) * rng.standard_normal((RUNS, 1_300))
    said, seen = told(*windows(noise, 600), 0.01)
    assert seen <= 0.03 * RUNS
    assert said < 0.2 * RUNS


@pytest.mark.parametrize(
    ("share", "length", "moved", "least"),
    [(0.0, 120, 1.0, 0.9), (0.5, 600, 0.5, 0.85), (0.8, 600, 1.0, 0.85), (0.9, 1_800, 1.0, 0.85)],
)
def test_that_a_true_shift_is_found(share: float, length: int, moved: float, least: float) -> None:
    noise = remembering(np.random.default_rng(SEED), 200, 2 * length + length // 10, share)
    before, after = windows(noise, length)
    _, seen = told(before, after + moved, 0.01)
    assert seen >= least * 200


def test_that_the_interval_holds_the_true_shift() -> None:
    noise = remembering(np.random.default_rng(SEED), RUNS, 1_300, 0.5)
    missed = 0
    for before, after in zip(*windows(noise, 600), strict=True):
        found = shift(before, after + 2.0, cut(before, after), np.mean, 0.05)
        missed += not found.low <= 2.0 <= found.high
    assert missed <= bound(0.05, RUNS)


def test_that_ten_seconds_are_never_enough() -> None:
    noise = remembering(np.random.default_rng(SEED), 200, 30, 0.0)
    said, _ = told(noise[:, :10], noise[:, -10:] + 50.0, 0.05)
    assert said == 0
