"""Numbers, sizes, durations and ages as words."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widgets.common.look.text import (
    THIN_SPACE,
    format_age,
    format_bytes,
    format_bytes_of,
    format_count,
    format_duration,
    format_number,
    format_percent,
    format_rate,
    one_line,
    plural,
    short_id,
)

T = THIN_SPACE


@pytest.mark.parametrize("unknown", [None, math.nan, math.inf])
def test_that_a_duration_that_is_not_known_is_a_dash(unknown: float | None) -> None:
    assert (format_duration(unknown), format_duration(372.0)) == ("–", "6 min 12 s")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0.0, "0"),
        (0.41237, "0.412"),
        (31.55, "31.6"),
        (999.6, f"1{T}000"),
        (1284.4, f"1{T}280"),
        (-12.0, "−12"),
        (math.inf, "∞"),
        (-math.inf, "−∞"),
        (math.nan, "–"),
        (None, "–"),
        (1e-12, "0"),
    ],
)
def test_that_numbers_have_three_significant_figures_at_most(value: float | None, words: str) -> None:
    assert format_number(value) == words


@given(st.floats(min_value=-1e15, max_value=1e15, allow_nan=False))
def test_that_a_shown_number_is_never_further_than_half_a_percent_from_the_truth(value: float) -> None:
    shown = float(format_number(value).replace(T, "").replace("−", "-"))
    assert shown == pytest.approx(value, rel=0.0051, abs=1e-9)


def test_that_counts_are_exact_with_thousands_apart() -> None:
    assert format_count(48_213_904) == f"48{T}213{T}904"
    assert format_count(None) == "–"


def test_that_sizes_step_up_before_they_need_a_fourth_figure() -> None:
    assert format_bytes(999.4) == "999 B"
    assert format_bytes(999_600.0) == "1 MB"
    assert format_bytes(1_610_612_736) == "1.61 GB"
    assert format_rate(186e6) == "186 MB/s"


def test_that_progress_is_told_in_the_unit_of_the_whole() -> None:
    assert format_bytes_of(42e9, 118e9) == "42 of 118 GB"
    assert format_bytes_of(300e6, 118e9) == "0.3 of 118 GB"
    assert format_bytes_of(5e6, None) == "5 MB"


@given(st.floats(min_value=0, max_value=1e20))
def test_that_every_size_has_a_unit(value: float) -> None:
    assert format_bytes(value).rsplit(" ", 1)[1] in {"B", "kB", "MB", "GB", "TB", "PB", "EB"}


def test_that_ages_say_never_and_now() -> None:
    assert (format_age(None), format_age(0.01), format_age(0.6)) == ("never", "now", "0.6 s ago")


def test_that_an_age_below_a_second_is_told_in_tenths() -> None:
    assert [format_age(age) for age in (0.0756, 0.88, 0.96)] == ["0.1 s ago", "0.9 s ago", "1.0 s ago"]


def test_that_small_words_fit_their_number() -> None:
    assert (plural(1, "{n} vote", "{n} votes"), plural(4, "{n} vote", "{n} votes")) == ("1 vote", "4 votes")
    assert format_percent(0.24, 1) == "0.2 %"
    assert short_id("8f21c0de-5b1a") == "8f21c0de…"


def test_that_a_servers_text_becomes_one_bounded_line_and_keeps_the_spaces_in_numbers() -> None:
    assert one_line("two\r\n lines\x00 and\t48\u202f213") == "two lines and 48\u202f213"
    assert one_line("x" * 300) == "x" * 199 + "…"
    assert one_line("\u202eko\u2069 ad\u200bmin") == "\ufffdko\ufffd ad\ufffdmin"
