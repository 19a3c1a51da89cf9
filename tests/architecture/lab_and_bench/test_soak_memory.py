"""What the soak calls flat: what the program holds, not what the C library keeps free, nor stores that fill up."""

from __future__ import annotations

import platform
from collections.abc import Callable

import pytest

from tests.bench.support.soaked import Soaked
from tests.bench.support.soaked_memory import SETTLED_S, Memory, heap_in_use, held_slope, objects_slope
from tests.lab.soak_page import Findings, report

MB = 10**6


def _course(
    in_use: Callable[[int], float] = lambda _: 75 * MB,
    *,
    bounded: Callable[[int], float] = lambda _: 14 * MB,
    objects: Callable[[int], float] = lambda _: 900_000,
    anonymous: Callable[[int], float] = lambda _: 180 * MB,
    minutes: int = 30,
) -> list[Memory]:
    """Return readings of so many minutes; each size by the minute."""
    return [
        Memory(minute * 60.0, 250 * MB, 200 * MB, int(anonymous(minute)), int(in_use(minute)), int(objects(minute)),
               int(bounded(minute)))
        for minute in range(1, minutes + 1)
    ]  # fmt: skip


def test_that_a_store_that_still_fills_to_its_bound_is_no_growth() -> None:
    course = _course(lambda minute: (75 + minute / 10) * MB, bounded=lambda minute: (14 + minute / 10) * MB)
    slope = held_slope(course)
    assert slope is not None
    assert slope.flat


def test_that_growth_beyond_the_bounded_stores_is_not_flat() -> None:
    slope = held_slope(_course(lambda minute: (75 + minute / 10) * MB))
    assert slope is not None
    assert not slope.flat
    assert slope.per_hour == pytest.approx(6 * MB, rel=1e-3)


@pytest.mark.parametrize(("minutes", "flat"), [(30, True), (90, False)])
def test_that_growth_too_small_for_half_an_hour_is_told_by_a_longer_soak(minutes: int, *, flat: bool) -> None:
    slope = held_slope(_course(lambda minute: (75 + minute / 25) * MB, minutes=minutes))
    assert slope is not None
    assert slope.flat is flat


def test_that_what_rises_and_falls_with_a_block_is_no_growth() -> None:
    slope = held_slope(_course(lambda minute: (75 + minute % 5) * MB))
    assert slope is not None
    assert slope.per_hour == pytest.approx(0.0, abs=1.0)


def test_that_a_reading_taken_while_an_hour_is_packed_does_not_count() -> None:
    slope = held_slope(_course(lambda minute: (105 if minute == 17 else 75) * MB))
    assert slope is not None
    assert slope.per_hour == pytest.approx(0.0, abs=1.0)


def test_that_more_and_more_objects_are_not_flat() -> None:
    slope = objects_slope(_course(objects=lambda minute: 900_000 + 1000 * minute))
    assert slope is not None
    assert not slope.flat


def test_that_what_came_before_all_had_settled_does_not_count() -> None:
    slope = held_slope(_course(lambda minute: (75 if minute * 60 >= SETTLED_S else 40 + minute) * MB))
    assert slope is not None
    assert slope.per_hour == pytest.approx(0.0, abs=1.0)


def test_that_pages_the_c_library_keeps_are_told_and_not_judged() -> None:
    """The step of the first packed hour: 14 MB more pages, with not a byte more in use."""
    page = report([Findings(Soaked(memory=_course(anonymous=lambda minute: (161 + 14 * (minute > 23)) * MB)))], 31, "")
    assert "less the stores that fill to a bound | flat: " in page
    assert "161.0 MB at first, 161.0 to 175.0, 175.0 at last" in page
    assert "| 24 | 250.0 | 200.0 | 175.0 | 75.0 | 14.00 | 900000 |" in page


def test_that_nothing_is_judged_where_the_c_library_does_not_tell() -> None:
    course = _course(lambda _: 0)
    assert held_slope(course) is None
    assert "less the stores that fill to a bound | too little is known to say" in report(
        [Findings(Soaked(memory=course))], 31, ""
    )


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc tells it")
def test_that_memory_in_use_is_counted_and_memory_given_back_is_not() -> None:
    before = heap_in_use()
    held = bytearray(b"x" * 8 * MB)
    assert heap_in_use() - before > 7 * MB
    del held
    assert heap_in_use() - before < MB
