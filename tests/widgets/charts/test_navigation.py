"""The charts' time axis as a value: the way back from every move, and bringing a stretch into sight."""

from __future__ import annotations

import pytest

from widgets.charts.navigation import Navigation

NOW = 1_000_000.0


@pytest.fixture
def axis() -> Navigation:
    made = Navigation()
    made.take(NOW - 900, NOW, live=True, now=None)
    return made


def test_that_the_span_before_moving_is_come_back_to(axis: Navigation) -> None:
    axis.take(NOW - 2_000, NOW - 1_000, live=False, now=NOW)
    first = axis.view
    axis.zoom(NOW - 1_500, 0.5)
    axis.pan(-100.0)
    assert axis.view != first
    assert axis.back() == first


def test_that_a_live_axis_comes_back_to_the_present(axis: Navigation) -> None:
    axis.last(60.0)
    axis.zoom_to(NOW - 500, NOW - 400)
    assert axis.back().live
    assert axis.view.span == 60.0


def test_that_a_recordings_present_is_all_of_it(axis: Navigation) -> None:
    axis.play(NOW - 900, NOW)
    axis.zoom_to(NOW - 500, NOW - 400)
    assert not axis.pan(10_000.0).live
    whole = axis.latest()
    assert (whole.start, whole.end, whole.live) == (NOW - 900, NOW, False)


def test_that_a_stretch_is_brought_into_sight_only_where_it_is_not(axis: Navigation) -> None:
    assert axis.bring(NOW - 800, NOW - 100) is None
    view = axis.bring(NOW - 5_000, NOW - 4_000)
    assert view is not None
    assert view.start < NOW - 5_000 < NOW - 4_000 < view.end
    assert not view.live
    assert axis.back().live
    late = axis.bring(NOW - 2_000, NOW)
    assert late is not None
    assert late.end <= NOW
