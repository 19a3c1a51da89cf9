"""An answer belongs to the question that was shown with it."""

from __future__ import annotations

from dataclasses import replace

from services.procedures.journal.answers import Answers
from services.procedures.plan.actions import Ask
from services.procedures.plan.run_model import Question


def test_that_the_second_click_of_a_double_click_answers_nothing_that_is_asked_next() -> None:
    first = Question(Ask("Is the data right?"), topic="continued", since=1.0)
    following = replace(first, since=2.0)
    answers = Answers()
    answers.give("1", "approve", first)
    assert answers.answer("1", first) == "approve"
    answers.give("1", "approve", first)
    assert answers.answer("1", following) is None
    assert answers.answer("1", following) is None
    answers.give("1", "approve", following)
    assert answers.answer("1", following) == "approve"


def test_that_an_answer_reaches_the_same_question_asked_anew_and_no_other() -> None:
    before = Question(Ask("Done?"), "maintenance", since=1.0)
    answers = Answers()
    answers.give("1", "yes", before)
    assert answers.answer("1", replace(before, since=9.0)) == "yes"
    answers.give("1", "again", replace(before, since=9.0))
    assert answers.answer("1", Question(Ask("It may have happened."), "start", "doubt", 10.0)) is None
