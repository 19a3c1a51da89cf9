"""Axes with round lines, frames that map time and values, gaps, and fewer points that keep every peak."""

from __future__ import annotations

import math

import numpy as np
import pytest

from services.drawing.curve import Frame, round_step, stretches, time_at, value_axis, x_of
from services.drawing.round_moments import round_moments, time_step
from services.drawing.thinning import thinned


@pytest.mark.parametrize(("rough", "step"), [(0.9, 1.0), (1.0, 1.0), (1.1, 2.0), (30.0, 50.0), (0.06, 0.1), (7e8, 1e9)])
def test_that_a_step_is_one_two_or_five_times_a_power_of_ten(rough: float, step: float) -> None:
    assert round_step(rough) == pytest.approx(step)


@pytest.mark.parametrize("low", [0.0, -3.0, -1e300, 17.2])
@pytest.mark.parametrize("high", [17.2001, 20.0, 1e-6 + 17.2, 9e15, 1e308])
def test_that_an_axis_holds_its_values_between_lines_that_few_numbers_name(low: float, high: float) -> None:
    axis = value_axis(low, high, 4)
    assert axis.low <= max(low, -1e300)
    assert axis.high >= min(high, 1e300) - 1e-6 * axis.step
    assert 2 <= len(axis.lines) <= 7
    assert math.isfinite(axis.lines[-1])


def test_that_zeros_have_an_axis_too() -> None:
    assert value_axis(0.0, 0.0, 2).lines == (0.0, 0.5, 1.0)


def test_that_a_frame_holds_what_is_beyond_it_at_its_edge_and_breaks_its_line_at_gaps() -> None:
    frame = Frame(left=100, top=10, right=200, bottom=60, start=0, end=10, low=0, high=5)
    lines = list(frame.lines([0, 1, 2, 3, 4, 5], [0.0, 5.0, math.nan, 9.0, math.inf, -2.0]))
    assert lines == [[(100, 60), (110, 10)], [(130, 10)], [(150, 60)]]
    assert frame.holds(10)
    assert not frame.holds(10.1)


def test_that_a_moment_stands_where_the_pixel_under_it_says() -> None:
    assert time_at(x_of(1234.5, 1000, 2000, 60, 800), 1000, 2000, 60, 800) == pytest.approx(1234.5)


def test_that_nothing_but_gaps_is_no_stretch() -> None:
    assert list(stretches([(0, math.nan), (1, math.inf)])) == []


def test_that_moments_are_whole_steps_of_the_clock_they_are_of() -> None:
    assert time_step(3600, 9) == 600
    assert time_step(86400 * 365, 4) == 28 * 86400 * 4
    assert round_moments(100, 700, 300) == (300, 600)
    assert round_moments(100, 700, 300, offset=90) == (210, 510)
    assert round_moments(301, 302, 300) == ()


def test_that_fewer_points_keep_every_peak_and_every_gap_in_order() -> None:
    t, values = np.arange(10_000.0), np.zeros(10_000)
    values[[17, 5_003]] = 9.0, -9.0
    values[8_000:8_100] = np.nan
    few_t, few = thinned(t, values, 400)
    assert len(few) <= 400
    assert {9.0, -9.0} <= set(few.tolist())
    assert np.isnan(few).any()
    assert (np.diff(few_t) > 0).all()
    assert len(thinned(t[:9], values[:9], 400)[0]) == 9
