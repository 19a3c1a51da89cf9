"""One long line of a server's output: a pattern that searches it holds every thread of the console until it is through.

Python gives the lock of the interpreter to nobody while a pattern runs: 30 kB of an error log stalled the window for
23 seconds.
"""

from __future__ import annotations

import pytest

from services.connections.ports import MOST_LINE, Output
from services.facts.server.sessions import _DDL
from tests.unit.hostile_lines import no_more_than_its_length_says, patterns_of

PATTERNS = patterns_of("services")


@pytest.mark.parametrize("name", PATTERNS)
def test_that_the_longest_line_takes_a_pattern_no_more_than_its_length_says(name: str) -> None:
    no_more_than_its_length_says(PATTERNS[name])


def test_that_comments_before_a_statement_take_no_time() -> None:
    """A client's statement: 20 comments took seconds, 40 would have taken years."""
    assert _DDL.match("/* x */ " * 5000 + "SELECT 1") is None
    found = _DDL.match("/* a */ /* b */ alter  table t ADD c INT")
    assert found is not None
    assert found.group(1) == "alter  table"


def test_that_a_long_line_of_output_is_cut_before_anybody_searches_it_and_seen_to_be() -> None:
    output = Output(0, b"first\n" + b"x" * 30_000 + b"\nlast\n", b"")
    first, long, last, rest = output.text.split("\n")
    assert (first, last, rest) == ("first", "last", "")
    assert long == "x" * MOST_LINE + "…"


def test_that_output_with_lines_of_a_sane_length_is_as_it_came() -> None:
    text = "a line\n" * 5000
    assert Output(0, text.encode(), b"").text == text
