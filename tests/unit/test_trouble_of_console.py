"""What the status line says of the console itself: what is now, and once what the console before this one left."""

from __future__ import annotations

import pytest

from services.events import PAST_SAID_S, Event, trouble_of_console
from services.types import Health

BEGUN = 10_000.0
END = Event(BEGUN - 600.0, "console", "The console ended unexpectedly.", Health.WARN)
SEEN = Event(BEGUN - 300.0, "state", "s3: not running (was Synced)", Health.BAD)
FULL = Event(BEGUN + 50.0, "console", "History cannot be written: the disk is full.", Health.BAD)
AGAIN = Event(BEGUN + 60.0, "console", "History is being written again.", Health.GOOD)


def test_that_an_unwished_end_is_told_by_the_console_that_comes_after_it() -> None:
    assert trouble_of_console((SEEN, END), END.at, BEGUN) == END.text
    assert trouble_of_console((END,), BEGUN, BEGUN + 5.0) == END.text


def test_that_an_end_of_before_leaves_the_line_to_what_is_now() -> None:
    assert trouble_of_console((END,), BEGUN, BEGUN + PAST_SAID_S + 1.0) == ""


def test_that_an_end_which_another_console_has_told_is_not_told_again() -> None:
    assert trouble_of_console((END, SEEN), BEGUN, BEGUN + 5.0) == ""


@pytest.mark.parametrize(("events", "said"), [((END, FULL), FULL.text), ((FULL, AGAIN), ""), ((), "")])
def test_that_what_troubles_this_console_stays_until_it_is_over(events: tuple[Event, ...], said: str) -> None:
    assert trouble_of_console(events, BEGUN, BEGUN + 9_000.0) == said
