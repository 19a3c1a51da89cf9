"""Axes and values: round ticks, common units, the unit on the topmost tick, no surprise prefix."""

from __future__ import annotations

import math
import time
from itertools import pairwise

import pytest

from widgets.charts.scales import format_value, make_scale, right_scale
from widgets.common.time_axis.ticks import time_ticks
from widgets.common.time_axis.view import View


def words(low: float, high: float, unit: str, **more: bool) -> list[str]:
    return [text for _, text in make_scale(low, high, unit, **more).ticks]


@pytest.mark.parametrize(
    ("high", "unit", "expected"),
    [
        (12.4, "%", ["0", "5", "10", "15 %"]),
        (9.4, "h", ["0", "3", "6", "9", "12 h"]),
        (7.1, "s", ["0", "2", "4", "6", "8 s"]),
        (0.031, "s", ["0", "10", "20", "30", "40 ms"]),
        (400.0, "s", ["0", "2", "4", "6", "8 min"]),
        (5.6e9, "B", ["0", "2", "4", "6 GB"]),
        (186e6, "B/s", ["0", "50", "100", "150", "200 MB/s"]),
        (1900.0, "1/s", ["0", "500", "1 000", "1 500", "2 000 /s"]),
        (3.0, "", ["0", "1", "2", "3"]),
        (2500.0, "ms", ["0", "1", "2", "3 s"]),
    ],
)
def test_that_ticks_are_round_and_share_one_unit(high: float, unit: str, expected: list[str]) -> None:
    assert [text.replace("\u202f", " ") for text in words(0, high, unit)] == expected


def test_that_a_count_has_no_fractions() -> None:
    assert words(0, 1, "") == ["0", "1"]


def test_that_a_fixed_end_has_a_tick_with_the_unit() -> None:
    for intervals in (2, 3, 4, 5):
        assert make_scale(0, 8e9, "B", fixed_high=True, intervals=intervals).ticks[-1] == (8e9, "8 GB")


def test_that_a_scale_without_data_or_all_zero_still_has_ticks() -> None:
    assert words(0, math.nan, "%")[-1].endswith("%")
    assert words(0, 0, "B")[-1].endswith("B")


def test_that_the_right_scale_stands_on_the_grid_of_the_left() -> None:
    left = make_scale(0, 15, "")
    right = right_scale(left, 5.2, "ms")
    assert len(right.ticks) == len(left.ticks)
    assert right.high >= 5.2
    for (a, _), (b, _) in zip(left.ticks, right.ticks, strict=True):
        assert a / left.high == pytest.approx(b / right.high)


@pytest.mark.parametrize(
    ("value", "unit", "expected"),
    [
        (23.04, "%", "23 %"),
        (0.191, "%", "0.2 %"),
        (0.01, "%", "<0.1 %"),
        (0.0, "%", "0 %"),
        (5.6e9, "B", "5.6 GB"),
        (4.9, "ms", "4.9 ms"),
        (9.3334, "h", "9 h 20 min"),
        (1904.0, "", "1 904"),
        (math.nan, "s", "–"),
    ],
)
def test_that_a_value_is_said_with_its_unit(value: float, unit: str, expected: str) -> None:
    assert format_value(value, unit).replace("\u202f", " ") == expected


@pytest.fixture
def berlin(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    time_ticks.cache_clear()
    yield
    monkeypatch.undo()
    time.tzset()
    time_ticks.cache_clear()


@pytest.mark.usefixtures("berlin")
def test_that_time_ticks_follow_the_local_clock_and_name_the_day() -> None:
    start = 1_795_200_000.0
    span = time_ticks(start, start + 86400, 8)
    assert {tick.at % 3600 for tick in span} == {0}
    assert [tick.text for tick in span if tick.strong] == [time.strftime("%d %b", time.localtime(start + 86400))]
    assert all(b.at - a.at == 3 * 3600 for a, b in pairwise(span))


def test_that_panning_into_the_future_stops_at_the_present_and_is_live() -> None:
    view = View(0, 100, live=False, now=150)
    assert view.panned(500) == View(50, 150, live=True, now=150)
    assert view.panned(-20) == View(-20, 80, live=False, now=150)


def test_that_zooming_keeps_the_moment_under_the_pointer_and_a_live_end() -> None:
    past = View(0, 100, live=False, now=1000).zoomed(25, 0.5)
    assert (past.start, past.end) == (12.5, 62.5)
    live = View(0, 100, live=True, now=100).zoomed(25, 0.5)
    assert (live.start, live.end, live.live) == (50, 100, True)
