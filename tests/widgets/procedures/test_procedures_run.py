"""The wizard while a run goes on: rows in place, pause, undo, questions, the end. On made-up values."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from services.procedures.conditions.galera.data.state_named import StateNamed
from services.procedures.plan.model import Consent, Undo
from services.procedures.plan.run_model import RunState, RunView, StepState, UndoView
from services.types import Health
from tests.widgets import builders_procedures as p
from widgets.procedures.run.wizard import SIDE_FROM, WizardPage
from widgets.procedures.values import Curve


def moved_on(view: RunView, done: float) -> RunView:
    steps = (*view.steps[:6], p.moving(view.steps[6].step, done), *view.steps[7:])
    return replace(view, steps=steps)


# -- the run ---------------------------------------------------------------------------------------------------------
def test_that_a_run_folds_what_is_decided_and_says_where_it_stands(wizard: WizardPage) -> None:
    wizard.set_run(p.run(), p.WORDING)
    stages = wizard.stages
    assert not stages.inputs.is_open()
    assert not stages.preflight.is_open()
    assert not stages.go.isVisible()
    assert stages.plan.head.texts() == ("11 steps · step 7 running", "23 min so far, about 41 s left")
    assert wizard.head.name.text() == "freeze-gcache · run 47"


def test_that_the_step_that_runs_says_what_it_waits_for_until_when_and_how_far_it_is(wizard: WizardPage) -> None:
    wizard.set_run(p.run(), p.WORDING)
    content = wizard.stages.steps.rows[6].content
    assert content.ground == "transfer_tint"
    assert "waits for Synced, until" in content.spoken()
    assert "now: Joiner, receiving IST from db1" in content.spoken()
    assert "about 33 s left" in content.spoken()
    assert [block.share for block in content.blocks if block.kind == "bar"] == [pytest.approx(69_840 / 112_527)]


def test_that_a_new_view_changes_only_the_row_that_moved_and_makes_none_anew(wizard: WizardPage) -> None:
    view = p.run()
    wizard.set_run(view, p.WORDING)
    rows = list(wizard.stages.steps.rows)
    assert wizard.set_run(moved_on(view, 80_000.0)) == 1
    assert wizard.set_run(moved_on(view, 80_000.0)) == 0
    assert wizard.stages.steps.rows == rows


def test_that_sixty_steps_keep_their_rows_through_hundred_views(wizard: WizardPage) -> None:
    plan = p.long_plan()
    view = p.run(30, of=plan)
    wizard.set_run(view)
    rows = list(wizard.stages.steps.rows)
    changed = 0
    for done in range(100):
        steps = (*view.steps[:30], p.moving(view.steps[30].step, done * 1000.0), *view.steps[31:])
        changed += wizard.set_run(replace(view, steps=steps))
    assert wizard.stages.steps.rows == rows
    assert changed <= 100


def test_that_a_continued_plan_adds_rows_and_keeps_the_old_ones(wizard: WizardPage) -> None:
    plan = p.long_plan(8)
    wizard.set_run(p.run(3, of=plan))
    rows = list(wizard.stages.steps.rows)
    longer = p.long_plan(12)
    wizard.set_run(p.run(8, of=longer), {"s9": ("sudo systemctl stop mariadb",)})
    assert wizard.stages.steps.rows[:8] == rows
    assert len(wizard.stages.steps.rows) == 12


def test_that_evidence_of_the_step_that_runs_stands_beside_and_in_its_row_where_there_is_no_room(
    qapp: QApplication, wizard: WizardPage
) -> None:
    view = p.run()
    wizard.set_run(view, p.WORDING)
    assert wizard.side.isVisible()
    assert wizard.side.evidence.lines() == view.steps[6].evidence
    assert view.steps[6].evidence[0] not in wizard.stages.steps.rows[6].content.spoken()
    wizard.resize(SIDE_FROM - 20, 700)
    qapp.processEvents()
    assert not wizard.side.isVisible()
    assert view.steps[6].evidence[0] in wizard.stages.steps.rows[6].content.spoken()


def test_that_curves_are_marked_where_steps_began(wizard: WizardPage) -> None:
    wizard.set_run(p.run(), p.WORDING)
    times, values = p.curve("disk")
    for late, word in ((1.0, "now "), (600.0, "last ")):
        wizard.side.set_series(0, Curve(times, values, "B", times[-1] + late))
        assert wizard.side.plots[0].accessibleDescription().startswith(word)
    wizard.side.set_series(0, Curve(*p.curve("disk"), unit="B"))
    wizard.side.set_series(7, Curve())
    assert len(wizard.side.plots) == 2
    assert wizard.side.plots[0].accessibleDescription() == "now 74.5 GB"


def test_that_a_step_cancelled_or_in_doubt_is_told_by_word(wizard: WizardPage) -> None:
    view = p.run(6)
    doubtful = replace(view.steps[6], state=StepState.IN_DOUBT)
    wizard.set_run(replace(view, state=RunState.WAITING, steps=(*view.steps[:6], doubtful, *view.steps[7:])))
    content = wizard.stages.steps.rows[6].content
    assert content.health is Health.WARN
    assert "in doubt" in content.spoken()


# -- the hand --------------------------------------------------------------------------------------------------------
def test_that_pause_is_told_once_and_waits_for_the_end_of_the_step(qtbot: QtBot, wizard: WizardPage) -> None:
    wizard.set_run(p.run(), p.WORDING)
    with qtbot.waitSignal(wizard.pause_wanted):
        wizard.head.pause.click()
    assert not wizard.head.pause.isEnabled()
    wizard.set_run(p.run(), p.WORDING)
    assert wizard.head.pause.text() == "Pausing after this step…"
    wizard.set_run(p.run(state=RunState.PAUSED))
    assert not wizard.head.pause.isVisible()
    with qtbot.waitSignal(wizard.go_on_wanted):
        wizard.head.go_on.click()


def test_that_a_step_that_can_not_be_broken_off_can_not_be_cancelled(wizard: WizardPage) -> None:
    wizard.set_run(p.run(6), p.WORDING)
    assert not wizard.head.cancel.isEnabled()
    assert "' cannot be interrupted safely; pause after it instead." in wizard.head.cancel.toolTip()
    wizard.set_run(p.run(2), p.WORDING)
    assert wizard.head.cancel.isEnabled()


def test_that_a_question_about_one_step_never_cancels_the_one_after_it(qtbot: QtBot, wizard: WizardPage) -> None:
    wizard.set_run(p.run(2), p.WORDING)
    wizard.head.cancel.click()
    assert "The wait in '" in wizard.confirm.text.text()
    wizard.set_run(p.run(2), p.WORDING)
    assert wizard.confirm.isVisible()
    with qtbot.assertNotEmitted(wizard.cancel_wanted, wait=20):
        wizard.set_run(p.run(3), p.WORDING)
        wizard.confirm.yes.click()
    assert not wizard.confirm.isVisible()


def test_that_each_undo_on_the_page_has_a_key_of_its_own(wizard: WizardPage) -> None:
    wizard.set_run(replace(p.run(4, RunState.FAILED), question=p.question("failed")), p.WORDING)
    wizard.head.undo.click()
    undos = [wizard.head.undo, wizard.confirm.yes, wizard.question.buttons[1]]
    keys = {button.text()[button.text().index("&") + 1].lower() for button in undos}
    assert len(keys) == len(undos) == 3


def test_that_leave_says_what_it_switches_off(wizard: WizardPage) -> None:
    wizard.set_run(replace(p.run(4, RunState.FAILED), question=p.question("failed")), p.WORDING)
    wizard.question.buttons[2].click()
    assert "Temporary changes are released: gcache frozen on db1." in wizard.confirm.text.text()


def test_that_undo_names_hosts_and_steps_and_acts_only_after_a_yes(qtbot: QtBot, wizard: WizardPage) -> None:
    wizard.set_run(p.run(), p.WORDING)
    with qtbot.assertNotEmitted(wizard.undo_wanted, wait=20):
        wizard.head.undo.click()
    assert wizard.confirm.title.text() == "Undo run 47 on db1, db2?"
    assert "– db2: Start db2 again\n– db1: Release" in wizard.confirm.text.text()
    assert "It releases: gcache frozen on db1" in wizard.confirm.text.text()
    assert wizard.focusWidget() is wizard.confirm.no
    qtbot.keyClick(wizard.confirm.no, Qt.Key.Key_Escape)
    assert not wizard.confirm.isVisible()
    wizard.head.undo.click()
    with qtbot.waitSignal(wizard.undo_wanted):
        wizard.confirm.yes.click()


def test_that_undo_says_for_what_it_will_wait_and_counts_what_is_more_of_the_same(wizard: WizardPage) -> None:
    asks = Consent((StateNamed("db2", "/var/lib/mysql"),), "Starting db2 replaces its data. Type db2 to accept.", "db2")
    steps = p.plan().steps
    undo = Undo("Start db2 again", steps[2].action, consent=asks)
    wizard.set_run(p.run(5, of=replace(p.plan(), steps=tuple(replace(s, undo=undo) for s in steps))), p.WORDING)
    wizard.head.undo.click()
    lines = wizard.confirm.text.text().splitlines()
    sentence = "Waits until 'db2' is typed, unless this is found: a state in grastate.dat of db2. "
    assert sum(f"{sentence}Starting db2 replaces its data. Type db2 to accept." in line for line in lines) == 2
    assert "4 more steps need a confirmation." in lines


def test_that_undo_of_many_steps_stays_readable(wizard: WizardPage) -> None:
    wizard.set_run(p.run(60, RunState.PAUSED, of=p.long_plan(60)))
    wizard.head.undo.click()
    lines = wizard.confirm.text.text().splitlines()
    assert len(lines) <= 11
    assert any(line.startswith("– and ") for line in lines)


# -- the end ---------------------------------------------------------------------------------------------------------
def test_that_a_run_that_is_over_offers_its_report_and_nothing_else(qtbot: QtBot, wizard: WizardPage) -> None:
    wizard.set_run(replace(p.run(99, RunState.DONE), ended=p.NOW, live=False, obligations=()), p.WORDING)
    head = wizard.head
    assert not any(made.isVisible() for made in (head.pause, head.cancel, head.undo, head.go_on, head.leave))
    with qtbot.waitSignal(wizard.report_wanted) as wanted:
        wizard.stages.report.html.click()
    assert wanted.args == ["html"]
    with qtbot.waitSignal(wizard.report_wanted) as wanted:
        wizard.stages.report.markdown.click()
    assert wanted.args == ["markdown"]


def test_that_the_report_says_what_is_true_now_once(wizard: WizardPage) -> None:
    plan = replace(p.plan(), expects=("db2 is Synced.", "The cache of db1 is released."))
    over = replace(p.run(99, RunState.DONE, of=plan), ended=p.NOW, live=False, obligations=())
    wizard.set_run(replace(over, sentence="db2 is Synced. The cache of db1 is released."))
    assert words(wizard.stages.report) == ["db2 is Synced. The cache of db1 is released."]
    wizard.set_run(replace(over, sentence="It is done."))
    assert words(wizard.stages.report) == ["It is done.", "db2 is Synced.\nThe cache of db1 is released."]


def words(inside: QWidget) -> list[str]:
    return [label.text() for label in inside.findChildren(QLabel) if label.isVisible()]


def test_that_a_run_whose_console_died_is_called_interrupted_and_can_be_resumed(wizard: WizardPage) -> None:
    wizard.set_run(replace(p.run(), live=False), p.WORDING)
    assert wizard.head.go_on.text() == "&Resume"
    assert wizard.stages.plan.head.texts()[0] == "11 steps · step 7 running"
    assert "interrupted while running" in wizard.head.sentence.text()


def test_that_a_step_that_is_taken_back_is_told_by_its_undo_its_commands_and_its_own_time(wizard: WizardPage) -> None:
    view = p.run()
    old = view.steps[1]
    undo = Undo("Unfreeze the gcache of db1", old.step.action)
    back = replace(
        old,
        step=replace(old.step, undo=undo),
        state=StepState.UNDOING,
        failed="db1 did not answer.",
        undo=UndoView(p.NOW - 7.0),
    )
    plan = replace(view.plan, steps=(view.plan.steps[0], back.step, *view.plan.steps[2:]))
    wording = {**p.WORDING, f"undo:{back.step.step_id}": ("SET GLOBAL x=-1;",)}
    shown = replace(view, plan=plan, state=RunState.UNDOING, steps=(view.steps[0], back, *view.steps[2:]))
    wizard.set_run(shown, wording)
    content = wizard.stages.steps.rows[1].content
    assert content.blocks[0].lines == ("Rolling back: Unfreeze the gcache of db1",)
    assert content.took == "7.0 s"
    assert "SET GLOBAL x=-1;" in content.spoken()
    assert f"the step: {back.step.title}" in content.spoken()
    assert "why: db1 did not answer." in content.spoken()
    over = replace(back, state=StepState.UNDONE, undo=UndoView(p.NOW - 7.0, p.NOW - 5.0), said=undo.title)
    wizard.set_run(replace(shown, steps=(view.steps[0], over, *view.steps[2:])), None)
    content = wizard.stages.steps.rows[1].content
    assert content.blocks[0].lines == ("Rolled back: Unfreeze the gcache of db1",)
    assert content.took == "2.0 s"
    assert content.spoken().count("Unfreeze the gcache of db1") == 1


def test_that_what_a_failed_act_printed_stands_open_in_its_row_and_beside_it(wizard: WizardPage) -> None:
    view = p.run()
    printed = ("[ERROR] mariadbd: unknown variable 'x=1'", "[ERROR] Aborting")
    failed = replace(
        view.steps[6], state=StepState.FAILED, ended=p.NOW, output=printed, evidence=printed, error="It ended with 7."
    )
    wizard.set_run(replace(view, state=RunState.FAILED, steps=(*view.steps[:6], failed, *view.steps[7:])), p.WORDING)
    blocks = wizard.stages.steps.rows[6].content.blocks
    assert blocks[-1].lines == printed
    assert wizard.side.evidence.lines() == printed
