"""The verdict: 'ok' over a lost or forked row is a failure; what was typed must cover what is lost."""

from __future__ import annotations

import pytest

from tests.lab.random_states.asking import Asked
from tests.lab.random_states.judging import After, Before, judge
from tests.lab.random_states.page import page, with_row

ROWS = frozenset(range(1, 11))
FIVE = frozenset(range(1, 6))
NONE: frozenset[int] = frozenset()
DONE = Asked("bootstrap-after-crash", "", "done", "all Synced")
REFUSED = Asked("bootstrap-after-crash", "", "refused", "HISTORY")


def _typed(question: str, answer: str = "yes") -> Asked:
    return Asked("bootstrap-after-crash", "", "done", "all Synced", ((question, answer),))


def _before(s1: frozenset[int], s2: frozenset[int], *, apart: bool = False) -> Before:
    return Before(ROWS, {"s1": s1, "s2": s2}, apart)


def _after(s1: frozenset[int], s2: frozenset[int], synced: tuple[str, ...] = ("s1", "s2")) -> After:
    return After({"s1": s1, "s2": s2}, synced)


def test_that_done_with_every_row_on_every_node_is_ok() -> None:
    verdict = judge(_before(ROWS, FIVE), _after(ROWS, ROWS), [DONE])
    assert (verdict.word, verdict.kept, verdict.lost, verdict.forked) == ("ok", 10, 0, 0)


@pytest.mark.parametrize("asked", [[DONE], [REFUSED], [Asked("add-node", "s1", "undone", "")], []])
def test_that_a_row_that_is_lost_without_a_word_fails_whatever_the_console_said(asked: list[Asked]) -> None:
    verdict = judge(_before(ROWS, FIVE), _after(FIVE, FIVE), asked)
    assert (verdict.word, verdict.lost) == ("FAIL", 5)


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("5 transactions of s1 are lost. Is this accepted?", "typed"),
        ("4 transactions of s1 are lost. Is this accepted?", "FAIL"),
        ("How many only s1 has is not known. Is this accepted?", "typed"),
    ],
)
def test_that_what_was_typed_for_must_cover_the_loss_or_say_that_it_is_not_known(question: str, word: str) -> None:
    assert judge(_before(ROWS, FIVE), _after(FIVE, FIVE), [_typed(question)]).word == word


def test_that_the_counts_of_several_questions_add_up_and_those_of_one_do_not() -> None:
    first = ("s3 has 3 more write sets than s1. Type 'lose 3 of s3' to accept that it is lost.", "lose 3 of s3")
    second = ("s2 went its own way after seqno 7 with 2 write sets. Type 'lose 2 of s2'.", "lose 2 of s2")
    asked = Asked("bootstrap-after-crash", "", "done", "all Synced", (first, second))
    assert asked.told == 5
    assert not asked.unknown_of
    assert _typed("what s3 (left out) has is not known: it may be ahead", "without s3").unknown_of == {"s3"}


def test_that_one_loss_named_by_several_questions_and_procedures_counts_once() -> None:
    said = "The side of s3 is discarded: 4 transactions of s3 (t (4 rows)), kept in /f/s3.sql on s3."
    twice = Asked("add-node", "s3", "done", "", ((f"{said} Approve it?", "approve"), (f"{said} Type s3.", "s3")))
    assert twice.told == 4
    assert judge(_before(ROWS, FIVE), _after(FIVE, FIVE), [twice, twice]).word == "FAIL"


def test_that_a_typed_number_counts_as_the_count() -> None:
    asked = [_typed("Type the count of what is lost.", "5")]
    assert judge(_before(ROWS, FIVE), _after(FIVE, FIVE), asked).word == "typed"


def test_that_synced_nodes_that_differ_fail_where_something_said_done() -> None:
    fork = _after(FIVE | {8}, FIVE | {9})
    assert judge(_before(FIVE | {8}, FIVE | {9}), fork, [DONE]).word == "FAIL"
    hidden = judge(_before(FIVE | {8}, FIVE | {9}, apart=True), fork, [DONE])
    assert (hidden.word, hidden.forked, hidden.forked_before) == ("FAIL", 2, 1)


def test_that_a_fork_that_was_there_and_that_every_procedure_refused_is_no_failure() -> None:
    verdict = judge(_before(FIVE | {8}, FIVE | {9}, apart=True), _after(FIVE | {8}, FIVE | {9}), [REFUSED])
    assert (verdict.word, verdict.why) == ("refused", "HISTORY")


def test_that_a_fork_whose_side_came_back_by_itself_beside_nothing_but_refusals_is_no_failure() -> None:
    fork = _after(FIVE | {8}, FIVE | {9})
    before = _before(FIVE | {8}, FIVE | {9})  # s1 had no Primary Component yet: nothing was apart
    assert judge(before, fork, [REFUSED]).word == "refused"
    nothing = Asked("add-node", "", "nothing to do", "s1 is a member")
    assert judge(before, fork, [REFUSED, nothing]).word == "FAIL"
    undone = Asked("add-node", "", "undone", "taken back")
    assert judge(before, fork, [undone]).word == "FAIL"


def test_that_a_bootstrap_that_leaves_rows_on_a_stopped_node_needs_a_word_for_it() -> None:
    after = _after(FIVE, ROWS, synced=("s1",))
    assert judge(_before(FIVE, ROWS), after, [DONE]).word == "FAIL"
    verdict = judge(_before(FIVE, ROWS), after, [_typed("s2 stays stopped: 5 transactions are only there.")])
    assert (verdict.word, verdict.aside, verdict.lost) == ("typed", 5, 0)


def test_that_rows_that_no_node_had_any_more_are_counted_apart() -> None:
    verdict = judge(_before(FIVE, NONE), _after(FIVE, FIVE), [DONE])
    assert (verdict.word, verdict.gone, verdict.kept) == ("ok", 5, 5)


@pytest.mark.parametrize("end", ["hang", "broke"])
def test_that_a_console_that_hangs_or_breaks_fails(end: str) -> None:
    assert judge(_before(ROWS, ROWS), _after(ROWS, ROWS), [Asked("add-node", "s2", end, "")]).word == "FAIL"


def test_that_waiting_refusing_and_taking_back_have_words_of_their_own() -> None:
    whole = (_before(ROWS, ROWS), _after(ROWS, ROWS))
    assert judge(*whole, [Asked("add-node", "s2", "waits", "")]).word == "waits"
    assert judge(*whole, [Asked("add-node", "s2", "undone", "")]).word == "taken back"
    assert judge(*whole, [REFUSED]).word == "refused"
    assert judge(*whole, [REFUSED, DONE]).word == "ok"


VERDICT = {"word": "ok", "why": "", "gone": 1, "kept": 9, "aside": 0, "lost": 0, "forked": 0, "forked_before": 1}
ASKED = {"procedure": "add-node", "host": "s2", "end": "refused", "said": "HISTORY | s2", "typed": [], "told": 0}
ROW = {
    "seed": 3,
    "commit": "abc",
    "day": "2026-11-22",
    "servers": "MariaDB",
    "verbs": ["kill s1 (done)"],
    "asked": [ASKED],
    "acknowledged": 10,
    "one_past": True,
    "verdict": VERDICT,
}


def test_that_the_page_sums_states_procedures_and_rows() -> None:
    text = page([ROW, {**ROW, "seed": 2}])
    assert "- 2 states: 2 ok" in text
    assert "- 2 procedures asked for: 2 refused" in text
    assert "- 20 acknowledged rows: 2 gone, 18 kept, 0 aside, 0 lost, 0 forked" in text
    assert text.index("| 2 |") < text.index("| 3 | abc | kill s1 (done) | add-node s2 refused: HISTORY / s2 |")


def test_that_the_page_counts_a_past_that_was_not_known_though_it_is_one() -> None:
    asked = [{**ASKED, "unknown": True}]
    rows = [{**ROW, "asked": asked}, {**ROW, "seed": 4, "asked": asked, "one_past": False}, {**ROW, "seed": 5}]
    assert "a past was 'not known' in 2 states; in 1 of them all nodes had one past" in page(rows)
    old = {name: value for name, value in ROW.items() if name != "one_past"}
    assert "- of 1 states, tried by an older driver, that was not recorded" in page([*rows, {**old, "seed": 6}])


def test_that_a_failure_stays_in_the_row_of_the_seed_that_was_tried_again() -> None:
    failed = {**ROW, "verdict": {**VERDICT, "word": "FAIL", "why": "3 rows are lost"}}
    text = page(with_row([failed], {**ROW, "commit": "def", "mended": "bcd"}))
    assert "failed at abc (3 rows are lost); mended in bcd; tried again: ok" in text
    assert "- failed first, tried again: 3" in text


def test_that_a_row_takes_the_place_of_its_seed_s_alone() -> None:
    assert [row["seed"] for row in with_row([ROW, {**ROW, "seed": 1}], {**ROW, "day": "later"})] == [1, 3]
