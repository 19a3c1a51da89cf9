"""The wizard while a run asks: each question has its own answers, what is typed, what is told beside it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from services.procedures.conditions.server.variable import VariableIs
from services.procedures.plan.actions import Ask
from services.procedures.plan.checks import Verdict
from services.procedures.plan.model import Breach, WatchRule
from services.procedures.plan.run_model import Broken, RunState, RunView, StepState
from tests.widgets import builders_procedures as p
from widgets.procedures.run.wizard import WizardPage
from widgets.procedures.steps.content import RowInput, row_content
from widgets.procedures.words import current_step


def texts_of(place: QWidget) -> list[str]:
    return [label.text() for label in place.findChildren(QLabel)]


def ask(wizard: WizardPage, topic: str = "step", question: Ask | None = None) -> None:
    state = RunState.FAILED if topic == "failed" else RunState.WAITING
    wizard.set_run(replace(p.run(4, state), question=p.question(topic, question)), p.WORDING)


@pytest.mark.parametrize(
    ("topic", "answers"),
    [
        ("step", ["done", "stop"]),
        ("doubt", ["done", "again", "stop"]),
        ("continued", ["approve", "stop"]),
    ],
)
def test_that_each_question_offers_its_own_answers(
    qtbot: QtBot, wizard: WizardPage, topic: str, answers: list[str]
) -> None:
    ask(wizard, topic)
    told: list[tuple[str, str]] = []
    wizard.answered.connect(lambda run_id, answer, _to: told.append((run_id, answer)))
    for made in list(wizard.question.buttons):
        made.click()
    assert told == [("47", answer) for answer in answers]


def test_that_the_step_that_asks_is_in_sight_below_its_question(qapp: QApplication, wizard: WizardPage) -> None:
    plan = p.long_plan(30)
    wizard.set_run(p.run(10, of=plan))
    for _ in range(5):
        qapp.processEvents()
    asked = replace(p.run(20, RunState.WAITING, of=plan), question=p.question("step", step_id=plan.steps[20].step_id))
    wizard.set_run(asked)
    for _ in range(5):
        qapp.processEvents()
    row = wizard.stages.steps.rows[20]
    assert wizard.question.isVisible()
    assert row.visibleRegion().boundingRect().height() == row.height()


def test_that_the_rest_of_a_plan_is_approved_beside_what_was_found_out_for_it(wizard: WizardPage) -> None:
    guess = replace(p.CHECKS[0], code="POSITIONS", verdict=Verdict.WARN, evidence="n1: not known yet")
    found = replace(guess, verdict=Verdict.PASS, evidence="n1: 512")
    before = replace(p.run(4), checks=(guess, p.CHECKS[1]))
    wizard.set_run(before, p.WORDING)
    preflight, checklist = wizard.stages.preflight, wizard.stages.checklist
    assert not preflight.is_open()
    asked = replace(
        before, state=RunState.WAITING, checks=(guess, p.CHECKS[1], found), question=p.question("continued")
    )
    wizard.set_run(asked)
    assert preflight.is_open()
    assert [check.evidence for check in checklist.checks()] == ["n1: 512", p.CHECKS[1].evidence]
    assert preflight.head.texts()[0] == "2 pass"
    wizard.set_run(replace(asked, state=RunState.RUNNING, question=None))
    assert not preflight.is_open()


def test_that_what_the_rest_of_a_plan_was_made_from_is_in_sight_below_its_question(
    qapp: QApplication, wizard: WizardPage
) -> None:
    plan = p.long_plan(30)
    wizard.set_run(p.run(20, of=plan))
    for _ in range(5):
        qapp.processEvents()
    question = p.question("continued", step_id=plan.steps[20].step_id)
    wizard.set_run(replace(p.run(20, RunState.WAITING, of=plan), question=question))
    for _ in range(5):
        qapp.processEvents()
    head = wizard.stages.preflight.head
    assert head.visibleRegion().boundingRect().height() == head.height()


def test_that_a_failed_run_is_undone_only_after_a_yes_and_left_only_with_a_reason(
    qtbot: QtBot, wizard: WizardPage
) -> None:
    ask(wizard, "failed")
    again, undo, leave = wizard.question.buttons
    with qtbot.waitSignal(wizard.answered) as told:
        again.click()
    assert told.args[:2] == ["47", "again"]
    with qtbot.assertNotEmitted(wizard.answered, wait=20):
        undo.click()
    with qtbot.waitSignal(wizard.answered) as told:
        wizard.confirm.yes.click()
    assert told.args[:2] == ["47", "undo"]
    leave.click()
    assert not wizard.confirm.yes.isEnabled()
    qtbot.keyClicks(wizard.confirm.reason, "repaired by hand")
    with qtbot.waitSignal(wizard.leave_wanted) as left:
        qtbot.keyClick(wizard.confirm.reason, Qt.Key.Key_Return)
    assert left.args == ["47", "repaired by hand"]


def test_that_a_broken_watch_rule_ends_a_run_only_after_a_yes(qtbot: QtBot, wizard: WizardPage) -> None:
    ask(wizard, "breach")
    go_on, undo, stop = wizard.question.buttons
    with qtbot.waitSignal(wizard.answered) as told:
        go_on.click()
    assert told.args[:2] == ["47", "go on"]
    for made, answer in ((undo, "undo"), (stop, "stop")):
        with qtbot.assertNotEmitted(wizard.answered, wait=20):
            made.click()
        with qtbot.waitSignal(wizard.answered) as told:
            wizard.confirm.yes.click()
        assert told.args[:2] == ["47", answer]


RULE = WatchRule("QUORUM", VariableIs("db1", "wsrep_ready", "ON"), "db1 is no full member any more.")
BROKEN = Broken(p.NOW - 60.0, "QUORUM", "db1 is no full member any more.", "1 of 3", Breach.PAUSE)


def _watched(wizard: WizardPage) -> RunView:
    """A run that asks, with a watch rule, driven by this window."""
    ask(wizard, "step", Ask("Is the backup done?"))
    view = wizard.run()
    assert view is not None
    return replace(view, plan=replace(view.plan, watches=(RULE,)), live=True)


def test_that_a_watch_rule_that_breaks_is_told_beside_the_question_that_stands(wizard: WizardPage) -> None:
    view = _watched(wizard)
    wizard.set_run(view)
    first = wizard.question.buttons[0]
    assert first.property("kind") == "primary"
    wizard.set_run(replace(view, broken=(BROKEN,)))
    words = "\n".join(texts_of(wizard.question))
    assert "db1 is no full member any more. (1 of 3)" in words
    assert "the run asks you before its next act" in words
    assert (wizard.question.buttons[0], first.property("kind")) == (first, "")


def test_that_a_rule_that_holds_again_is_told_in_a_line_and_an_answer_stands_out_again(wizard: WizardPage) -> None:
    view = _watched(wizard)
    assert view.question is not None
    since = view.question.since
    over = [replace(BROKEN, at=since + n, over=since + n + 30.0, holds="3 of 3") for n in (5.0, 60.0)]
    wizard.set_run(replace(view, broken=(over[0],)))
    assert any("QUORUM broke at" in text and "has held again" in text for text in texts_of(wizard.question))
    wizard.set_run(replace(view, broken=tuple(over)))
    (told,) = [text for text in texts_of(wizard.question) if "QUORUM broke at" in text]
    assert "So did 1 rule before it" in told
    assert wizard.question.buttons[0].property("kind") == "primary"


def test_that_a_broken_rule_is_told_where_nothing_is_asked_too(wizard: WizardPage) -> None:
    view = replace(p.run(4), plan=replace(p.run(4).plan, watches=(RULE,)), live=True)
    wizard.set_run(view, p.WORDING)
    assert not wizard.question.isVisibleTo(wizard)
    wizard.set_run(replace(view, broken=(BROKEN,)))
    assert wizard.question.isVisibleTo(wizard)
    assert wizard.question.buttons == []
    assert any("db1 is no full member any more." in text for text in texts_of(wizard.question))
    wizard.set_run(replace(view, broken=(replace(BROKEN, over=p.NOW),)))
    assert not wizard.question.isVisibleTo(wizard)


def test_that_a_question_of_a_dead_console_is_told_to_be_old_and_nothing_is_urged(wizard: WizardPage) -> None:
    view = _watched(wizard)
    wizard.set_run(replace(view, live=False))
    assert any(
        "No console drives this run now: its question may be out of date, and nothing is watched. Resume the run "
        "first." in text
        for text in texts_of(wizard.question)
    )
    assert "primary" not in [made.property("kind") for made in wizard.question.buttons]


def test_that_newer_words_of_a_question_leave_what_was_typed(wizard: WizardPage) -> None:
    ask(wizard, "step", Ask("d2 runs 3.2.5. Wipe it?", "typed", expect="d2"))
    view = wizard.run()
    assert view is not None
    assert view.question is not None
    field = wizard.question.typed
    assert field is not None
    field.setText("d")
    newer = replace(view.question, ask=replace(view.question.ask, question="d2 does not answer. Wipe it?"))
    wizard.set_run(replace(view, question=newer))
    assert "d2 does not answer. Wipe it?" in texts_of(wizard.question)
    assert (wizard.question.typed, field.text()) == (field, "d")


def test_that_the_head_tells_since_when_clients_are_kept_out(wizard: WizardPage) -> None:
    ask(wizard, "step", Ask("Go on?"))
    view = wizard.run()
    assert view is not None
    first = view.steps[0]
    away = replace(first, step=replace(first.step, interrupts="nobody reads or writes through db1"), acted=True)
    wizard.set_run(replace(view, steps=(replace(away, started=1.0), *view.steps[1:])))
    assert "nobody reads or writes through db1." in wizard.head.sentence.text()


def test_that_a_typed_question_takes_only_the_name(qtbot: QtBot, wizard: WizardPage) -> None:
    ask(wizard, "step", Ask("Wipe db2?", "typed", expect="db2"))
    field = wizard.question.typed
    assert field is not None
    field.setText("db1")
    with qtbot.assertNotEmitted(wizard.answered, wait=20):
        qtbot.keyClick(field, Qt.Key.Key_Return)
    assert "'db1' is not the answer: type db2, or stop here." in texts_of(wizard.question)
    field.setText("db2")
    assert not any("is not the answer" in text for text in texts_of(wizard.question))
    with qtbot.waitSignal(wizard.answered) as told:
        qtbot.keyClick(field, Qt.Key.Key_Return)
    assert told.args[:2] == ["47", "db2"]


def test_that_a_choice_shows_what_each_answer_means(qtbot: QtBot, wizard: WizardPage) -> None:
    ask(wizard, "step", Ask("Which?", "choice", choices=(("db1", "seqno 12"), ("db3", "seqno 9"))))
    assert [made.text() for made in wizard.question.buttons] == ["db1", "db3", "&Stop here"]
    with qtbot.waitSignal(wizard.answered) as told:
        wizard.question.buttons[1].click()
    assert told.args[:2] == ["47", "db3"]


def test_that_what_is_typed_to_a_question_survives_the_next_view(wizard: WizardPage) -> None:
    question = Ask("Wipe db2?", "typed", expect="db2")
    ask(wizard, "step", question)
    assert wizard.question.typed is not None
    wizard.question.typed.setText("db")
    ask(wizard, "step", question)
    assert wizard.question.typed.text() == "db"


def test_that_a_question_goes_when_it_is_answered(wizard: WizardPage) -> None:
    ask(wizard)
    assert wizard.question.isVisible()
    wizard.set_run(p.run(5))
    assert not wizard.question.isVisible()


def test_that_a_failed_step_offers_only_the_ways_there_are_and_says_what_putting_off_means(wizard: WizardPage) -> None:
    """Past a point of no return there is no way back, and what others don't need may wait."""
    choices = (("again", "try the step again"), ("later", "n1 and n2 serve"), ("leave", "leave it as it is"))
    ask(wizard, "failed", Ask("db2 does not start.", "choice", choices=choices))
    told: list[str] = []
    wizard.answered.connect(lambda _run, answer, _to: told.append(answer))
    assert [made.text().replace("&", "") for made in wizard.question.buttons] == [
        "Try again",
        "Postpone",
        "Leave as it is…",
    ]
    assert "Postponed: n1 and n2 serve" in texts_of(wizard.question)
    wizard.question.buttons[1].click()
    assert told == ["later"]


def test_that_a_step_that_was_put_off_says_so_and_is_not_the_one_that_runs(wizard: WizardPage) -> None:
    view = p.run(6)
    steps = list(view.steps)
    steps[3] = replace(steps[3], state=StepState.FAILED, error="It does not start.", put_off=True)
    shown = replace(view, steps=tuple(steps))
    wizard.set_run(shown, p.WORDING)
    assert current_step(shown) != 3
    content = row_content(4, steps[3], RowInput(), p.NOW)
    assert "Postponed by the user: it is retried before the run ends." in content.spoken()
