"""From points to columns: extremes survive every zoom, gaps stay gaps, appended samples count."""

from __future__ import annotations

import numpy as np
import pytest

from services.series import Series
from tests.widgets.chart_data import NOW, series
from widgets.charts.plots.columns import aggregates, ranges
from widgets.charts.plots.shapes import line_shape, pile_shape, step_shape
from widgets.charts.plots.track import Track


def track_of(values, **more) -> Track:
    track = Track()
    track.replace(series(values, **more))
    return track


@pytest.mark.parametrize("count", [2_000, 20_000, 86_400])
def test_that_one_second_of_stall_survives_a_view_of_any_length(count: int) -> None:
    values = np.full(count, 3.0)
    values[count // 3] = 97.0
    values[count // 2] = 0.5
    shape = line_shape(track_of(values), NOW - count, NOW, 400)
    assert len(shape.t) < 1000
    assert np.nanmax(shape.y) == 97.0
    assert np.nanmin(shape.y) == 0.5
    assert shape.t[np.nanargmax(shape.y)] == pytest.approx(NOW - count + count // 3, abs=2 * count / 400)


@pytest.mark.parametrize("count", [900, 20_000, 86_400])
def test_that_a_gap_breaks_the_line_at_every_zoom(count: int) -> None:
    values = np.full(count, 3.0)
    values[count // 2 : count // 2 + count // 20] = np.nan
    shape = line_shape(track_of(values), NOW - count, NOW, 400)
    inside = (shape.t > NOW - count / 2 + count / 100) & (shape.t < NOW - count / 2 + count / 25)
    assert inside.any()
    assert np.isnan(shape.y[inside]).all()


def test_that_columns_of_blocks_equal_those_of_points_but_for_the_edges() -> None:
    rng = np.random.default_rng(3)
    values = rng.normal(0, 1, 50_000)
    track = track_of(values)
    width = 50_000 / 300
    t, low, high = ranges(track, NOW - 50_000, NOW, width)
    exact = aggregates(track, NOW - 50_000, NOW, width)
    _, mine, other = np.intersect1d(t, exact.t, return_indices=True)
    assert len(mine) >= 299
    assert np.mean(low[mine] == exact.low[other]) > 0.85
    assert np.mean(high[mine] == exact.high[other]) > 0.85
    assert (low.min(), high.max()) == (values.min(), values.max())


def test_that_samples_appended_one_by_one_give_the_same_columns_as_all_at_once() -> None:
    rng = np.random.default_rng(4)
    values = rng.normal(5, 1, 9_000)
    whole = track_of(values)
    grown = track_of(values[:8_000], end=NOW - 1_000)
    for index in range(8_000, 9_000):
        assert grown.append(series([values[index]], end=NOW - 8_999 + index))
        if index % 97 == 0:
            ranges(grown, NOW - 9_000, NOW, 40.0)  # blocks are made while it grows
    for one, other in zip(ranges(grown, NOW - 9_000, NOW, 40.0), ranges(whole, NOW - 9_000, NOW, 40.0), strict=True):
        np.testing.assert_array_equal(one, other)


def test_that_a_sample_that_is_known_already_changes_nothing() -> None:
    track = track_of([1.0, 2.0, 3.0])
    assert not track.append(series([2.0, 3.0]))
    assert len(track) == 3


def test_that_a_hole_without_a_word_from_the_store_becomes_a_gap() -> None:
    track = track_of([1.0, 1.0], end=NOW - 60)
    track.append(series([2.0, 2.0]))
    assert np.isnan(track.value[2])
    assert np.isnan(track.value_at(NOW - 30))
    assert track.value_at(NOW) == 2.0


def test_that_aggregates_keep_average_band_and_extremes_apart() -> None:
    count = 600
    value = np.full(count, 4.0)
    peak = value.copy()
    peak[100] = 40.0
    track = track_of(value, step=60.0, minimum=value - 1, maximum=peak, p5=value - 0.5, p95=value + 0.5)
    shape = line_shape(track, NOW - count * 60, NOW, 300)
    assert np.nanmax(shape.y) == pytest.approx(4.0)
    assert np.nanmax(shape.p95) == pytest.approx(4.5)
    assert shape.dot_y.max() == 40.0
    assert shape.extent(NOW - count * 60, NOW)[1] == 40.0


def test_that_old_samples_are_forgotten_and_blocks_stay_true() -> None:
    values = np.arange(20_000.0)
    track = track_of(values)
    ranges(track, NOW - 20_000, NOW, 64.0)
    track.forget_before(NOW - 5_000)
    assert len(track) == 5_001
    _, low, _ = ranges(track, NOW - 5_000, NOW, 64.0)
    assert low[0] == pytest.approx(14_999.0, abs=16)


def test_that_a_curve_that_follows_the_present_for_hours_stops_growing() -> None:
    track = track_of(np.full(900, 3.0))
    sizes = []
    for second in range(1, 3 * 3600):
        track.append(series([4.0], end=NOW + second))
        track.forget_before(NOW + second - 1800)
        sizes.append(len(track))
    assert max(sizes) <= 2_402
    assert min(sizes[3600:]) >= 1_800


def test_that_a_pile_with_one_part_missing_is_a_gap_in_the_whole() -> None:
    first, second = np.full(100, 20.0), np.full(100, 30.0)
    second[40:50] = np.nan
    pile = pile_shape([track_of(first), track_of(second)], NOW - 100, NOW, 300)
    assert np.isnan(pile.tops[-1][41:49]).all()
    assert pile.tops[-1][10] == 50.0


def test_that_a_pile_of_averages_keeps_dots_for_what_they_hide() -> None:
    user = np.full(6_000, 10.0)
    user[3_000:3_002] = 100.0
    idle = 100.0 - user
    pile = pile_shape([track_of(user), track_of(idle)], NOW - 6_000, NOW, 300)
    assert np.nanmax(pile.tops[1]) < 30
    assert pile.dot_y.max() == 100.0


def test_that_a_setting_is_drawn_as_steps_not_slopes() -> None:
    shape = step_shape(track_of([1.0, 1.0, 1.0, 2.0, 2.0]), NOW - 5, NOW)
    jumps = np.flatnonzero(np.diff(shape.y) != 0)
    assert len(jumps) == 1
    assert shape.t[jumps[0]] == shape.t[jumps[0] + 1]


def test_that_a_noisy_curve_gets_a_band_at_full_resolution_and_a_gap_in_it_stays() -> None:
    rng = np.random.default_rng(1)
    values = rng.normal(10, 1, 900)
    values[300:330] = np.nan
    shape = line_shape(track_of(values), NOW - 900, NOW, 450, band=True)
    assert len(shape.band_t) > 30
    known = np.isfinite(shape.p5)
    assert (shape.p5[known] <= shape.y[known]).all()
    assert (shape.y[known] <= shape.p95[known]).all()
    inside = (shape.t > NOW - 597) & (shape.t < NOW - 573)
    assert np.isnan(shape.y[inside]).all()


@pytest.mark.parametrize("seed", range(6))
def test_that_columns_kept_from_the_view_before_equal_columns_computed_anew(seed: int) -> None:
    """While samples come, gaps and holes among them, and a hand pans and zooms in between."""
    rng = np.random.default_rng(seed)
    track, span, back = track_of(rng.normal(5, 1, 3_000), end=NOW), 2_000.0, 0.0
    at = NOW
    for step in range(400):
        at += float(rng.choice([0.0, 0.97, 1.0, 1.31, 9.0], p=[0.1, 0.2, 0.5, 0.18, 0.02]))
        value = np.nan if rng.random() < 0.05 else float(rng.normal(5, 1))
        track.append(series([value], end=at))
        if step % 23 == 0:
            span, back = float(rng.choice([1_200.0, 2_000.0, 2_500.0])), float(rng.choice([0.0, 0.0, 700.0]))
        if step % 97 == 0:
            track.forget_before(at - 2_800.0)
        end = at - back
        kept = ranges(track, end - span, end, span / 400)
        whole = Track()
        whole.replace(Series("whole", track.t, track.value))
        anew = ranges(whole, end - span, end, span / 400)
        for mine, other in zip(kept, anew, strict=True):
            np.testing.assert_array_equal(mine, other)


def test_that_data_given_anew_are_not_mixed_with_columns_of_the_former() -> None:
    track = track_of(np.full(3_000, 3.0))
    ranges(track, NOW - 3_000, NOW, 6.0)
    track.replace(series(np.full(3_000, 8.0)))
    _, low, _ = ranges(track, NOW - 3_000, NOW, 6.0)
    assert set(low.tolist()) == {8.0}


def test_that_columns_stand_still_while_the_span_is_rounded_from_tick_to_tick() -> None:
    track = track_of(np.arange(3_000.0))
    ends = [NOW + 0.1 * number for number in range(1, 30)]
    centres = [set(ranges(track, end - 2_000.0, end, (end - (end - 2_000.0)) / 437)[0].tolist()) for end in ends]
    common = set.intersection(*centres)
    assert all(len(centre - common) <= 4 for centre in centres)
