"""Durations and estimates: said in one way by the window, the terminal, events and reports."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.moments import duration, estimate


@pytest.mark.parametrize(
    ("seconds", "words", "about"),
    [
        (0.0, "0 s", "0 s"),
        (0.0004, "0.4 ms", "0.4 ms"),
        (0.038, "38 ms", "38 ms"),
        (0.25, "0.2 s", "0.2 s"),
        (0.4, "0.4 s", "0.4 s"),
        (1.9, "1.9 s", "2 s"),
        (3.0, "3.0 s", "3 s"),
        (9.96, "10 s", "10 s"),
        (59.4, "59 s", "59 s"),
        (59.6, "1 min", "1 min"),
        (89.0, "1 min 29 s", "1 min 29 s"),
        (119.0, "1 min 59 s", "1 min 59 s"),
        (365.0, "6 min 05 s", "6 min"),
        (372.0, "6 min 12 s", "6 min"),
        (1800.0, "30 min", "30 min"),
        (3599.6, "1 h", "1 h"),
        (5400.0, "1 h 30 min", "1 h 30 min"),
        (11_400.0, "3 h 10 min", "3 h 10 min"),
        (25_500.0, "7 h 05 min", "7 h 05 min"),
        (86_400.0, "1 d", "1 d"),
        (41 * 86_400.0 + 3 * 3600, "41 d 3 h", "41 d 3 h"),
        (1234 * 86_400.0, "1\u202f234 d", "1\u202f234 d"),
        (-2.0, "−2.0 s", "−2.0 s"),
    ],
)
def test_that_a_duration_is_said_in_the_words_of_a_person(seconds: float, words: str, about: str) -> None:
    assert (duration(seconds), estimate(seconds)) == (words, about)


@given(st.floats(min_value=0.0, max_value=1e12))
def test_that_any_duration_is_said_with_a_unit_and_two_at_most(seconds: float) -> None:
    parts = duration(seconds).split(" ")
    assert len(parts) in {2, 4}
    assert parts[1] in {"ms", "s", "min", "h", "d"}
