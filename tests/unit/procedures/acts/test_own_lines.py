"""What a file becomes without a run's lines: what is another's stays, what is not certain is not touched."""

from __future__ import annotations

import pytest

from services.procedures.execute.option_edit import edit_options
from services.procedures.looking.own_lines import Back, own_lines, without_own

ORIGINAL = "# ours\n[mysqld]\nmax_connections = 100\nserver_id = 1\n"
WROTE = ORIGINAL.replace("100", "321")
ADDED = edit_options(ORIGINAL, "mysqld", (("back_log", "9"),))
OWN = "[mysqld]\nback_log = 9\n"


@pytest.mark.parametrize(
    ("original", "wrote", "now", "back"),
    [
        (ORIGINAL, WROTE, WROTE, Back(ORIGINAL)),
        (None, OWN, OWN, Back(None)),
        (None, OWN, OWN + "more = 1\n", Back("[mysqld]\nmore = 1\n")),
        (None, OWN, "[mysqld]\nmore = 1\nback_log = 9\n", Back("[mysqld]\nmore = 1\n")),
        (None, OWN, "[mysqld]\n", Back(None)),
        (None, OWN, "[mysqld]\nback_log = 10\n", None),
        (ORIGINAL, WROTE, WROTE + "more = 1\n", Back(ORIGINAL + "more = 1\n")),
        (ORIGINAL, WROTE, WROTE.replace("321", "999"), None),
        (ORIGINAL, WROTE, WROTE.replace("[mysqld]", "[client]\n[mysqld]"), None),
        (ORIGINAL, ADDED, ADDED + "more = 1\n", Back(ORIGINAL + "more = 1\n")),
        (ORIGINAL, ADDED, ADDED.replace("= 9", "= 10"), None),
        (ORIGINAL, ADDED, ORIGINAL, Back(ORIGINAL)),
    ],
)
def test_that_only_what_is_certainly_the_runs_is_taken_out(
    original: str | None, wrote: str, now: str, back: Back | None
) -> None:
    assert without_own(original, wrote, now) == back


def test_that_the_runs_lines_that_still_stand_there_are_named() -> None:
    assert own_lines(ORIGINAL, ADDED, ADDED + "more = 1\n") == ("back_log = 9",)
    assert own_lines(ORIGINAL, WROTE, WROTE.replace("321", "999")) == ()


@pytest.mark.timeout(60)
@pytest.mark.parametrize("n", [4_000, 60_000])
def test_that_texts_of_equal_lines_are_compared_in_a_moment_or_not_at_all(n: int) -> None:
    """4,000 took 21 s: whoever may write the file kept an undo busy for hours."""
    original, wrote, now = "\n" * n, "a: b\n" + "\n" * n, "c: d\n" + "\n" * n
    assert without_own(original, wrote, now) is None
    assert without_own(original, wrote, wrote + "c: d\n") == Back(original + "c: d\n")
    odd = "".join(f"\n{at}: x\n" for at in range(n))
    assert without_own(original, f"a: b\n{odd}", f"{odd}c: d\n") is None
    assert own_lines(original, f"a: b\n{odd}", odd) != ()
