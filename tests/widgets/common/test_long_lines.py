"""Patterns of the window and of what starts it take a long line no longer than its length says."""

from __future__ import annotations

import pytest

from tests.unit.hostile_lines import no_more_than_its_length_says, patterns_of

PATTERNS = patterns_of("app", "widgets")


@pytest.mark.parametrize("name", PATTERNS)
def test_that_the_longest_line_takes_a_pattern_of_the_window_no_more_than_its_length_says(name: str) -> None:
    no_more_than_its_length_says(PATTERNS[name])
