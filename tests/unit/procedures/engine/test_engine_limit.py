"""A limit counts the time in which the engine looked: hours asleep are no wait, and no leaping clock waits for ever."""

from __future__ import annotations

from services.clock import ManualClock
from services.procedures.engine.limit import ASLEEP_S, Limit


def test_that_a_limit_is_over_after_its_seconds_and_tells_when_by_the_clock_as_it_is() -> None:
    clock = ManualClock()
    limit = Limit(clock, 90.0)
    assert limit.wall == clock.wall() + 90.0
    for _ in range(9):
        assert not limit.over()
        clock.advance(10.0)
    assert limit.over()
    assert limit.slept_s == 0.0


def test_that_hours_asleep_do_not_count() -> None:
    clock = ManualClock()
    limit = Limit(clock, 90.0)
    clock.advance(30.0)
    assert not limit.over()
    clock.advance(10_800.0)
    assert not limit.over()
    assert limit.slept_s == 10_800.0
    assert limit.wall == clock.wall() + 60.0
    clock.advance(60.0)
    assert limit.over()


def test_that_a_clock_that_only_leaps_comes_to_an_end_too() -> None:
    clock = ManualClock()
    limit = Limit(clock, 90.0)
    looks = 0
    while not limit.over():
        clock.advance(2 * ASLEEP_S)
        looks += 1
    assert looks < 100
