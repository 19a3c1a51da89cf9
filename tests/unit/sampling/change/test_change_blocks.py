"""The formula behind a comparison, against what can be computed by hand or stands in tables."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from services.sampling.change.blocks import Cut, cut, delta, memory, shift
from services.sampling.change.blocks import _place as place
from tests.unit.sampling.change_series import remembering

SEED = 12


def test_that_the_interval_is_that_of_the_mann_whitney_tables() -> None:
    # Critical values of U, two-sided: 13 for 8 and 8 at 5 %, 37 for 12 and 12 at 5 %, 7 for 8 and 8 at 1 %.
    assert (place(8, 8, 0.05), place(12, 12, 0.05), place(8, 8, 0.01)) == (14, 38, 8)


@pytest.mark.parametrize(("before", "after"), [(3, 3), (3, 5), (4, 4)])
def test_that_the_interval_counts_every_order_of_the_blocks(before: int, after: int) -> None:
    below = [
        sum(1 for b in chosen for a in set(range(before + after)) - set(chosen) if a < b)
        for chosen in itertools.combinations(range(before + after), before)
    ]
    for alpha in (0.05, 0.1, 0.2, 0.5):
        rare = [count for count in range(before * after) if np.mean(np.array(below) <= count) <= alpha / 2]
        assert place(before, after, alpha) == len(rare)


def test_that_the_order_of_the_windows_changes_nothing_but_the_sign() -> None:
    assert place(9, 40, 0.01) == place(40, 9, 0.01)
    rng = np.random.default_rng(SEED)
    before, after = rng.standard_normal(600), rng.standard_normal(600) + 0.4
    there = shift(before, after, cut(before, after), np.mean, 0.01)
    back = shift(after[::-1], before[::-1], cut(after, before), np.mean, 0.01)
    assert there.by == pytest.approx(-back.by, abs=0.05)
    assert there.high - there.low == pytest.approx(back.high - back.low, rel=0.3)


def test_that_a_shift_of_everything_is_found_to_the_digit() -> None:
    values = np.random.default_rng(SEED).standard_normal(600)
    found = shift(values, values + 3.0, cut(values, values + 3.0), np.mean, 0.01)
    assert found.by == pytest.approx(3.0, abs=0.1)
    assert found.low < 3.0 < found.high
    assert delta(values, values + 30.0) == 1.0
    assert delta(values + 30.0, values) == -1.0
    assert delta(values, values) == 0.0


def test_that_cliffs_delta_counts_pairs() -> None:
    before, after = np.array([1.0, 2.0, 2.0]), np.array([2.0, 3.0, 0.0, 2.0])
    pairs = [int(a > b) - int(a < b) for b in before for a in after]
    assert delta(before, after) == pytest.approx(sum(pairs) / len(pairs))


def test_that_other_programs_give_the_same_numbers() -> None:
    # Cliff's delta: the case of R's effsize, tests/testthat/testCliff.R. Hodges-Lehmann: R's wilcox.test on the
    # example of Hollander, Wolfe and Chicken (psiaims.github.io/CAMIS, R/nparestimate).
    treatment, control = (10, 10, 20, 20, 20, 30, 30, 30, 40, 50), (10, 20, 30, 40, 40, 50)
    assert delta(np.array(control, float), np.array(treatment, float)) == pytest.approx(-0.25)
    x = np.array([1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30])
    y = np.array([0.878, 0.647, 0.598, 2.050, 1.060, 1.290, 1.060, 3.140, 1.290])
    assert shift(y, x, Cut(1, 9, 9, 1.0), np.mean, 0.05).by == pytest.approx(0.56, abs=1e-3)


@pytest.mark.parametrize("share", [0.0, 0.5, 0.8, 0.9])
def test_that_the_memory_of_noise_whose_memory_is_known_is_estimated(share: float) -> None:
    known = (1.0 + share) / (1.0 - share)  # of a first-order autoregression
    rng = np.random.default_rng(SEED)
    found = [memory(*remembering(rng, 2, 1_800, share)) for _ in range(40)]
    assert 0.8 * known < float(np.median(found)) < 2.0 * known + 4.0


def test_that_a_slow_wander_under_fast_noise_is_remembered() -> None:
    rng = np.random.default_rng(SEED)
    slow, fast = remembering(rng, 2, 900, 0.98), rng.standard_normal((2, 900))
    before, after = np.sqrt(0.3) * slow + np.sqrt(0.7) * fast
    assert memory(before, after) > 30.0
    assert not cut(before, after).enough


def test_that_a_number_that_never_varies_has_no_memory_and_an_exact_shift() -> None:
    still = np.full(300, 4.0)
    parts = cut(still, still + 1)
    assert parts == Cut(19, 15, 15, 1.0)
    rounded = still * (1 + 1e-12 * np.linspace(0.0, 1.0, 300))
    assert cut(rounded, rounded + 1) == parts
    found = shift(still, still + 1, parts, np.max, 0.01)
    assert (found.before, found.after, found.low, found.by, found.high) == (4.0, 5.0, 1.0, 1.0, 1.0)


def test_that_too_few_blocks_give_numbers_but_no_interval() -> None:
    values = np.arange(20.0)
    found = shift(values, values, cut(values, values), np.mean, 0.01)
    assert (found.low, found.high) == (-math.inf, math.inf)
    parts = Cut(5, 4, 4, 1.0)
    few = shift(values, values + 1, parts, np.mean, 0.01)
    assert (few.before, few.after, few.low, few.high) == (9.5, 10.5, -math.inf, math.inf)


def test_that_an_interval_between_unlike_windows_is_no_narrower_than_the_sign_tests() -> None:
    still, wild = np.zeros(120), np.tile(np.arange(12.0) - 5.5, (10, 1)).T.ravel()
    found = shift(still, wild, Cut(10, 12, 12, 1.0), np.mean, 0.01)
    # Of 12 signs at most one of the other kind is rarer than 0.5 %: the second smallest and the second largest value.
    assert (found.low, found.high) == (-4.5, 4.5)


def test_that_the_blocks_next_to_the_change_are_the_whole_ones() -> None:
    before = np.concatenate([np.full(4, 100.0), np.zeros(80)])
    after = np.concatenate([np.ones(80), np.full(4, 100.0)])
    found = shift(before, after, Cut(10, 8, 8, 1.0), np.mean, 0.01)
    assert (found.low, found.high) == (1.0, 1.0)
