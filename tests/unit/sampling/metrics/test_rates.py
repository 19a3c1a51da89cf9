"""Counter differences: resets, restarts, wraps and holes are gaps; nothing is ever negative or giant."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.sampling.metrics.rates import breaks, deltas, hole_places, intervals, rate, with_holes
from tests.examples import examples


def _rate(values: list[float], t: list[float] | None = None, epochs: list[float] | None = None,
          uptime: list[float] | None = None) -> list[float | None]:  # fmt: skip
    moments = np.array(t if t is not None else range(len(values)), np.float64)
    broken = breaks(np.array(epochs or [0.0] * len(values)), None if uptime is None else np.array(uptime))
    found = rate(np.array(values, np.float64), intervals(moments, moments), broken)
    return [None if np.isnan(v) else float(v) for v in found]


def test_that_a_rate_is_growth_by_the_measured_interval() -> None:
    assert _rate([10, 20, 40], [0, 0.5, 2.5]) == [None, 20.0, 10.0]


def test_that_a_fall_is_a_gap_and_the_next_interval_counts_again() -> None:
    assert _rate([100, 110, 3, 8]) == [None, 10.0, None, 5.0]


def test_that_a_32_bit_wrap_is_a_gap_and_not_a_guess() -> None:
    assert _rate([2.0**32 - 10, 5.0, 15.0]) == [None, None, 10.0]


def test_that_a_restart_is_a_gap_even_where_the_counter_is_higher_afterwards() -> None:
    assert _rate([5, 500, 510], epochs=[1, 2, 2]) == [None, None, 10.0]
    assert _rate([5, 500, 510], uptime=[90, 1, 2]) == [None, None, 10.0]


def test_that_samples_more_than_two_and_a_half_seconds_apart_are_a_gap() -> None:
    assert _rate([0, 2, 5, 6], [0, 2.0, 4.6, 5.6]) == [None, 1.0, None, 1.0]


def test_that_an_unsigned_counter_below_zero_gives_no_giant_rate() -> None:
    assert _rate([3, 2.0**64 - 1, 5, 6]) == [None, None, None, 1.0]


def test_that_a_missing_value_is_a_gap_on_both_sides() -> None:
    assert _rate([1, float("nan"), 5, 7]) == [None, None, None, 2.0]


def test_that_a_monotonic_clock_of_another_boot_is_a_gap() -> None:
    dt = intervals(np.array([0.0, 1.0, 2.0]), np.array([5000.0, 3.0, 4.0]))
    assert np.isnan(dt).tolist() == [True, True, False]


def test_that_a_fall_of_iowait_counts_zero() -> None:
    dt = np.array([np.nan, 1.0, 1.0])
    found = deltas(np.array([100.0, 99.0, 101.0]), dt, np.zeros(3, bool), may_fall=True)
    assert found[1:].tolist() == [0.0, 2.0]


@given(
    st.lists(st.floats(allow_nan=True, allow_infinity=True), min_size=2, max_size=50),
    st.lists(st.floats(0.0, 10.0), min_size=50, max_size=50),
    st.lists(st.integers(0, 2).map(float), min_size=50, max_size=50),
)
@settings(max_examples=examples(200), deadline=None)
def test_that_no_input_whatever_gives_a_negative_rate(
    values: list[float], steps: list[float], epochs: list[float]
) -> None:
    n = len(values)
    t = np.cumsum(np.array(steps[:n]))
    found = deltas(np.array(values), intervals(t, t), breaks(np.array(epochs[:n]), None))
    assert not (found < 0).any()
    assert np.isnan(found[0])


def test_that_a_hole_becomes_a_point_without_a_value() -> None:
    t, values = with_holes(np.array([0.0, 1.0, 9.0, 10.0]), np.array([1.0, 2.0, 3.0, 4.0]))
    assert t.tolist() == [0.0, 1.0, 2.0, 9.0, 10.0]
    assert np.isnan(values).tolist() == [False, False, True, False, False]
    assert hole_places(np.array([0.0, 2.5, 5.0])).tolist() == []


@pytest.mark.parametrize("length", [0, 1])
def test_that_nothing_or_one_sample_has_no_rate(length: int) -> None:
    none = np.zeros(length)
    assert np.isnan(rate(none, intervals(none, none), breaks(none, none))).all()
