"""What folds in the wizard: checks that passed, a plan by node; what comes next stays in sight. On made-up values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QHelpEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QToolTip, QWidget
from pytestqt.qtbot import QtBot

from services.procedures.plan.checks import Check, Verdict
from services.procedures.plan.forms.fields import Fault
from services.procedures.plan.model import Plan, Step
from services.procedures.plan.run_model import RunState, RunView, StepState, StepView
from services.types import Health
from tests.widgets import builders_procedures as p
from widgets.procedures.run.next_bar import Stage
from widgets.procedures.run.wizard import WizardPage
from widgets.procedures.steps.fold_line import FoldLine
from widgets.procedures.steps.group_head import GroupHead
from widgets.procedures.values import Rehearsed

pytestmark = pytest.mark.qt_log_ignore("does not support", extend=True)  # the off-screen platform's own tooltips

NODES = ("s3", "s1", "s2")


def rights(*hosts: str) -> tuple[Check, ...]:
    return tuple(
        Check("RIGHTS", f"The console can change {name}", Verdict.PASS, f"root on {name}", host=name,
              each="The console can change each host")
        for name in hosts
    )  # fmt: skip


MANY = (*p.CHECKS, *rights(*(f"db{n}" for n in range(1, 31))))
DARK = Check("CLOCKS", "The clocks agree", Verdict.WARN, "not read: db1", not_known=True)


def node_steps(host: str, donor: str, took: float | None = 20.0) -> tuple[Step, ...]:
    step = Step(f"donor-{host}", host, f"Name {donor} as the donor of {host}", p.sql(""), estimate_s=took)
    more = tuple(
        replace(step, step_id=f"{word}-{host}", title=f"{word.title()} {host}") for word in ("drain", "stop", "start",
        "prove", "settle", "watch")
    )  # fmt: skip
    return (step, *more)


def rolling() -> Plan:
    """Three nodes one after the other, each followed by a proof of the whole cluster."""
    steps: list[Step] = []
    for host, donor in zip(NODES, ("s9", "s9", "s8"), strict=True):
        whole = Step(f"whole-{host}", "", "Prove 3 members", p.sql(""), estimate_s=2.0)
        steps += [*node_steps(host, donor), whole]
    return p.plan(steps=tuple(steps), hosts=NODES, charts=())


def told(head: GroupHead) -> tuple[str, str]:
    return head.words.host, head.words.told


def heads(wizard: WizardPage) -> dict[str, GroupHead]:
    return {head.words.host: head for head in wizard.stages.steps.heads}


def shown(wizard: WizardPage) -> list[int]:
    return [row.index for row in wizard.stages.steps.rows if not row.isHidden()]


def running(plan: Plan, done: int, state: StepState = StepState.PROVING) -> RunView:
    steps = [StepView(s, StepState.DONE, p.NOW - 100 + n, p.NOW - 99 + n) for n, s in enumerate(plan.steps[:done])]
    steps += [StepView(step) for step in plan.steps[done:]]
    if done < len(steps):
        steps[done] = replace(steps[done], state=state, started=p.NOW - 5)
    return p.run(0, RunState.RUNNING, of=plan, steps=tuple(steps), obligations=())


# -- what passed -----------------------------------------------------------------------------------------------------
def test_that_what_passed_is_a_line_a_check_with_its_hosts_as_marks(wizard: WizardPage) -> None:
    wizard.set_checks((*p.CHECKS, *rights("db1", "db2", "db3")))
    lines = wizard.stages.checklist.lines
    assert [(line.head.text(), line.head.marks()) for line in lines] == [
        ("All members are Primary and Synced", ("cluster",)),
        ("No transfer and no schema change runs", ("cluster",)),
        ("The provider can freeze", ("db1",)),
        ("The console can change each host", ("db1", "db2", "db3")),
    ]
    assert lines[3].height() < 40


def test_that_what_blocks_warns_or_is_not_known_stands_open_above_what_passed(wizard: WizardPage) -> None:
    wizard.set_checks((*p.CHECKS, DARK, p.BLOCK))
    checklist = wizard.stages.checklist
    assert [row.check.code for row in checklist.rows] == ["DISK-FREE", "IST-REACH", "CLOCKS"]
    words = [label.text() for label in checklist.rows[2].findChildren(QLabel)]
    assert "not known" in words
    assert "pass" not in words
    bottom = checklist.rows[2].mapTo(checklist, QPoint(0, 0)).y()
    assert bottom < checklist.lines[0].mapTo(checklist, QPoint(0, 0)).y()
    assert wizard.stages.preflight.head.texts()[0].startswith("3 pass · 1 not known · 1 warning · 1 block")


def test_that_a_check_of_one_host_that_does_not_pass_leaves_the_line_of_the_others(wizard: WizardPage) -> None:
    one, two, three = rights("db1", "db2", "db3")
    wizard.set_checks((one, replace(two, verdict=Verdict.WARN), three))
    checklist = wizard.stages.checklist
    assert [row.check.host for row in checklist.rows] == ["db2"]
    assert [line.head.marks() for line in checklist.lines] == [("db1", "db3")]


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Space, Qt.Key.Key_Right])
def test_that_the_keys_open_a_line_to_what_was_read_of_each_host_and_left_folds_it(
    wizard: WizardPage, key: Qt.Key
) -> None:
    wizard.set_checks(rights("db1", "db2"))
    line = wizard.stages.checklist.lines[0]
    line.head.setFocus()
    QTest.keyClick(line.head, key)
    details = line.details()
    assert details is not None
    assert details.isVisible()
    said = [label.text() for label in details.findChildren(QLabel)]
    assert said == ["db1: root on db1 · RIGHTS", "db2: root on db2 · RIGHTS"]
    assert line.head.accessibleDescription() == "db1, db2 open"
    QTest.keyClick(line.head, Qt.Key.Key_Left)
    assert not details.isVisible()


def test_that_what_passed_is_one_stop_of_tab_and_arrows_go_from_line_to_line(wizard: WizardPage) -> None:
    wizard.set_checks((*p.CHECKS, *rights("db1", "db2")))
    first, second = (line.head for line in wizard.stages.checklist.lines[:2])
    first.setFocus()
    QTest.keyClick(first, Qt.Key.Key_Down)
    assert QApplication.focusWidget() is second
    tabbed = [h for h in (line.head for line in wizard.stages.checklist.lines)
              if h.focusPolicy() & Qt.FocusPolicy.TabFocus]  # fmt: skip
    assert tabbed == [second]
    QTest.keyClick(second, Qt.Key.Key_Up)
    assert QApplication.focusWidget() is first


def test_that_the_pointer_over_a_mark_tells_what_was_read_of_that_host(wizard: WizardPage, qapp: QApplication) -> None:
    wizard.set_checks(rights("db1", "db2"))
    head = wizard.stages.checklist.lines[0].head
    head.grab()
    box, check = head._marks[1]
    at = box.center().toPoint()
    QApplication.sendEvent(head, QHelpEvent(QEvent.Type.ToolTip, at, head.mapToGlobal(at)))
    assert (check.host, QToolTip.text()) == ("db2", "db2: root on db2")
    QToolTip.hideText()


def test_that_a_line_opened_by_hand_stays_open_when_the_hosts_are_read_anew(wizard: WizardPage) -> None:
    wizard.set_checks(rights("db1", "db2"))
    wizard.stages.checklist.lines[0].head.click()
    wizard.set_checks(rights("db1", "db2", "db3"))
    assert wizard.stages.checklist.lines[0].head.opened


# -- what comes next -------------------------------------------------------------------------------------------------
def in_sight(part: QWidget, page: WizardPage) -> bool:
    place = part.mapTo(page, QPoint(0, 0))
    return part.isVisible() and page.rect().contains(place) and page.height() >= place.y() + part.height()


@pytest.mark.parametrize("size", [(1048, 728), (728, 440), (2328, 1368)])
def test_that_what_comes_next_is_in_sight_at_every_stage_and_size(
    wizard: WizardPage, qapp: QApplication, size: tuple[int, int]
) -> None:
    wizard.resize(*size)
    wizard.set_fields(p.FIELDS, {}, ())
    stages = wizard.stages
    for step, part in (
        (lambda: None, stages.form.check),
        (lambda: wizard.set_checks(MANY), stages.checklist.go_on),
        (lambda: wizard.set_plan(p.long_plan(), {}), stages.approval.start),
    ):
        step()
        for place in (0, 99_999):
            qapp.processEvents()
            wizard._scroll.verticalScrollBar().setValue(place)
            assert in_sight(part, wizard)
    wizard.set_run(p.run(), p.WORDING)
    assert not stages.next.isVisible()
    assert stages.next.stage is Stage.RUN


def test_that_what_comes_next_says_why_it_can_not_be_done_yet(wizard: WizardPage) -> None:
    form, checklist = wizard.stages.form, wizard.stages.checklist
    assert (form.check.isEnabled(), form.why_not.text()) == (False, "The hosts are read first.")
    wizard.set_fields(p.FIELDS, {}, (Fault("away", "write a time"),))
    assert (form.check.isEnabled(), form.why_not.text()) == (False, "Answer the marked questions first.")
    wizard.set_fields(p.FIELDS, {}, ())
    assert (form.check.isEnabled(), form.why_not.isVisible()) == (True, False)
    wizard.set_checks(p.CHECKS, waiting=True)
    assert (checklist.go_on.isEnabled(), checklist.standing.text()) == (False, "Reading the hosts…")
    wizard.set_checks(p.CHECKS)
    assert (checklist.go_on.isEnabled(), checklist.standing.isVisible()) == (True, False)
    wizard.set_fields(p.FIELDS, {"away": "soon"}, (Fault("away", "write a time"),))
    assert (checklist.go_on.isEnabled(), checklist.standing.text()) == (False, "Answer the marked questions first.")


def test_that_checking_again_takes_with_it_what_was_typed_last(qtbot: QtBot, wizard: WizardPage) -> None:
    wizard.set_fields(p.FIELDS, {}, ())
    wizard.set_checks(p.CHECKS)
    sentences: list[object] = []
    wizard.inputs_changed.connect(sentences.append)
    wizard.check_wanted.connect(lambda: sentences.append("check"))
    wizard.stages.inputs.set_open(True)
    field = wizard.stages.form.rows["away"].focus_target()
    qtbot.keyClicks(field, " 5 s")
    wizard.stages.checklist.again.click()
    assert sentences == [{"away": "30 min 5 s"}, "check"]


def test_that_what_a_rehearsal_found_stands_beside_the_button_that_starts(wizard: WizardPage) -> None:
    wizard.set_plan(p.plan(), p.WORDING)
    wizard.set_rehearsal((Rehearsed("able", True, ""),))
    said = [label.text() for label in wizard.stages.approval.foot.findChildren(QLabel) if label.isVisible()]
    assert said == ["rehearsed: nothing would stop it"]


# -- a plan by node --------------------------------------------------------------------------------------------------
def test_that_a_plan_is_read_by_node_and_what_is_the_same_but_for_the_host_is_folded(wizard: WizardPage) -> None:
    wizard.set_plan(rolling(), {})
    found = {host: head.words.told for host, head in heads(wizard).items()}
    assert found == {
        "s3": "7 steps, about 2 min 20 s",
        "s1": "7 steps, about 2 min 20 s · the same as for s3",
        "s2": "7 steps, about 2 min 20 s · as for s3, but for step 17, Name s8 as the donor of s2",
    }
    assert shown(wizard) == [*range(7), 7, 15, 23]
    assert [row.content.host for row in wizard.stages.steps.rows if row.index in {7, 15, 23}] == ["all"] * 3


def test_that_steps_that_run_another_command_are_not_called_the_same(wizard: WizardPage) -> None:
    plan = rolling()
    wording = {step.step_id: (f"sudo systemctl stop {step.host}",) for step in plan.steps}
    wizard.set_plan(plan, {**wording, **{f"{w}-s1": ("rm -rf /",) for w in ("drain", "stop", "start")}})
    assert heads(wizard)["s1"].words.told == "7 steps, about 2 min 20 s"
    assert set(range(8, 15)) <= set(shown(wizard))


def test_that_a_group_without_estimates_says_no_time_and_one_with_some_no_more_than_it_knows(
    wizard: WizardPage,
) -> None:
    none, some = node_steps("s1", "s9", None), node_steps("s2", "s9")
    wizard.set_plan(p.plan(steps=(*none, replace(some[0], estimate_s=None), *some[1:])), {})
    assert [told(head) for head in wizard.stages.steps.heads] == [
        ("s1", "7 steps"),
        ("s2", "7 steps, at least 2 min · the same as for s1"),
    ]


def test_that_a_plan_is_shown_from_its_top_wherever_its_button_was_pressed(
    qtbot: QtBot, wizard: WizardPage, qapp: QApplication
) -> None:
    wizard.set_fields(p.FIELDS, {}, ())
    wizard.set_checks(MANY)
    qapp.processEvents()
    bar = wizard._scroll.verticalScrollBar()
    bar.setValue(bar.maximum())
    wizard.set_plan(rolling(), {})
    qtbot.waitUntil(lambda: in_sight(wizard.stages.plan.head, wizard), timeout=2000)
    assert in_sight(wizard.stages.steps.rows[0], wizard)


def test_that_it_is_so_on_a_small_screen_where_much_folds_at_once(
    qtbot: QtBot, wizard: WizardPage, qapp: QApplication
) -> None:
    wizard.resize(728, 470)
    wizard.set_fields(p.FIELDS, {}, ())
    wizard.set_checks((*MANY, p.BLOCK, p.ABSOLUTE, DARK))
    for _ in range(5):
        qapp.processEvents()
    wizard._scroll.verticalScrollBar().setValue(99_999)
    wizard.set_checks(p.CHECKS)
    wizard.set_plan(p.confirming_plan(), p.WORDING)
    qtbot.waitUntil(lambda: not wizard._settled.isActive(), timeout=2000)
    assert in_sight(wizard.stages.plan.head, wizard)
    assert wizard.stages.steps.rows[0].visibleRegion().boundingRect().top() == 0


def test_that_every_fold_of_a_plan_opens_and_folds_by_keys(wizard: WizardPage) -> None:
    wizard.set_plan(rolling(), {})
    rows, head = wizard.stages.steps.rows, heads(wizard)["s1"]
    rows[7].setFocus()
    QTest.keyClick(rows[7], Qt.Key.Key_Down)
    assert QApplication.focusWidget() is head
    for key, opened in (
        (Qt.Key.Key_Right, True), (Qt.Key.Key_Left, False), (Qt.Key.Key_Return, True),
        (Qt.Key.Key_Return, False), (Qt.Key.Key_Space, True),
    ):  # fmt: skip
        QTest.keyClick(head, key)
        assert (head.opened, rows[8].isVisible()) == (opened, opened)
    QTest.keyClick(head, Qt.Key.Key_Down)
    assert QApplication.focusWidget() is rows[8]
    QTest.keyClick(rows[8], Qt.Key.Key_Left)
    assert QApplication.focusWidget() is head
    section = wizard.stages.plan
    section.head.setFocus()
    for key, opened in ((Qt.Key.Key_Left, False), (Qt.Key.Key_Left, False), (Qt.Key.Key_Right, True)):
        QTest.keyClick(section.head, key)
        assert section.is_open() is opened


def test_that_a_fold_tells_how_bad_what_it_hides_can_be(wizard: WizardPage) -> None:
    wizard.set_plan(p.plan(), p.WORDING)
    risks = [(head.words.host, head.words.risk) for head in wizard.stages.steps.heads]
    assert risks == [("db1", ""), ("db2", "node down"), ("db2", "")]


# -- a run by node ---------------------------------------------------------------------------------------------------
def test_that_the_group_that_runs_is_open_what_is_over_folds_with_its_result(
    wizard: WizardPage, qapp: QApplication
) -> None:
    plan = rolling()
    wizard.set_run(running(plan, 2))
    qapp.processEvents()
    assert shown(wizard) == [*range(7), 7, 15, 23]
    assert told(heads(wizard)["s3"]) == ("s3", "2 of 7 steps done")
    wizard.set_run(running(plan, 9))
    first, second = heads(wizard)["s3"], heads(wizard)["s1"]
    assert shown(wizard) == [7, *range(8, 15), 15, 23]
    assert (first.words.told, first.words.health, first.words.took) == ("7 steps done", Health.GOOD, "7.0 s")
    assert second.words.health is Health.TRANSFER


def test_that_a_group_that_a_person_opened_or_folded_stays_so_until_it_comes_to_stand_elsewhere(
    wizard: WizardPage,
) -> None:
    plan = rolling()
    wizard.set_run(running(plan, 9))
    heads(wizard)["s3"].click()
    heads(wizard)["s1"].click()
    wizard.set_run(replace(running(plan, 9), steps=(*running(plan, 9).steps[:9], p.moving(plan.steps[9]),
                                                    *running(plan, 9).steps[10:])))  # fmt: skip
    assert heads(wizard)["s3"].opened
    assert not heads(wizard)["s1"].opened
    wizard.set_run(running(plan, 10))
    assert heads(wizard)["s1"].opened  # another step runs: it is in sight


def test_that_the_keys_find_their_way_back_to_steps_that_folded_under_them(wizard: WizardPage) -> None:
    plan = rolling()
    wizard.set_run(running(plan, 2))
    steps = wizard.stages.steps
    steps.rows[2].setFocus()
    wizard.set_run(running(plan, 7, StepState.PENDING))  # between two steps
    head = heads(wizard)["s3"]
    assert not head.opened
    assert QApplication.focusWidget() is head
    stops = [part for part in (*steps.heads, *steps.rows) if part.focusPolicy() & Qt.FocusPolicy.TabFocus]
    assert stops == [head]


def test_that_a_group_that_failed_stands_open(wizard: WizardPage) -> None:
    plan = rolling()
    failed = replace(running(plan, 9, StepState.FAILED), state=RunState.FAILED, live=False)
    wizard.set_run(failed)
    assert heads(wizard)["s1"].opened
    assert heads(wizard)["s1"].words.health is Health.BAD
    over = replace(failed, state=RunState.LEFT, ended=p.NOW)
    wizard.set_run(over)
    assert heads(wizard)["s1"].opened


def test_that_the_running_step_of_a_far_group_is_brought_into_sight(
    qtbot: QtBot, wizard: WizardPage, qapp: QApplication
) -> None:
    wizard.resize(728, 440)
    plan = rolling()
    wizard.set_run(running(plan, 2))
    wizard.set_run(running(plan, 19))
    row = wizard.stages.steps.rows[19]
    qtbot.waitUntil(lambda: in_sight(row, wizard) and row.visibleRegion().boundingRect().height() == row.height())


def test_that_a_rehearsal_that_would_stop_opens_the_group_where(wizard: WizardPage) -> None:
    wizard.set_plan(rolling(), {})
    assert not heads(wizard)["s1"].opened
    wizard.set_rehearsal((Rehearsed("stop-s1", False, "a client is busy"),))
    assert heads(wizard)["s1"].opened
    assert not heads(wizard)["s2"].opened


def test_that_a_plan_whose_groups_are_single_steps_begins_with_the_keys_on_its_first_step(wizard: WizardPage) -> None:
    wizard.set_plan(p.long_plan(), {})
    rows = wizard.stages.steps.rows
    assert QApplication.focusWidget() is rows[0]
    QTest.keyClick(rows[0], Qt.Key.Key_Down)
    assert QApplication.focusWidget() is rows[1]


def test_that_folds_grow_with_the_text(wizard: WizardPage, text_size: Callable[[int], None]) -> None:
    wizard.set_plan(rolling(), {})
    before = {head: head.height() for head in wizard.findChildren(FoldLine)}
    assert before
    text_size(150)
    assert all(head.height() == 1.5 * height for head, height in before.items())
