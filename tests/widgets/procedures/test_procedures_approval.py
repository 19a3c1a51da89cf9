"""The wizard's plan and its approval: exact lines, typed names, what bars the start. On made-up values."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.widgets import builders_procedures as p
from widgets.procedures.mono import MonoBox
from widgets.procedures.run.wizard import WizardPage
from widgets.procedures.values import Rehearsed


@pytest.fixture
def wizard(wizard: WizardPage) -> WizardPage:
    wizard.set_fields(p.FIELDS, {}, ())
    return wizard


def test_that_the_plan_says_each_step_with_its_exact_lines(wizard: WizardPage) -> None:
    wizard.set_plan(p.plan(), p.WORDING)
    rows = wizard.stages.steps.rows
    assert len(rows) == 11
    lines = [line for block in rows[3].content.blocks for line in block.lines]
    assert lines == ["Stop cleanly", "sudo systemctl stop mariadb"]
    assert (rows[3].content.host, rows[3].content.risk, rows[3].content.took) == ("db2", "node down", "about 20 s")
    assert "obligation: gcache frozen on db1" in rows[1].content.spoken()


def test_that_a_script_keeps_its_line_breaks_in_the_plan_and_on_the_clipboard(
    qtbot: QtBot, wizard: WizardPage, qapp: QApplication
) -> None:
    script = "sudo bash -c 'umask 077\nindex=$1\ncd -- /var/lib/mysql || exit 3'"
    wizard.set_plan(p.plan(), {**p.WORDING, p.plan().steps[3].step_id: (script,)})
    lines = [line for block in wizard.stages.steps.rows[3].content.blocks for line in block.lines]
    assert lines == ["Stop cleanly", *script.split("\n")]
    box = MonoBox((script,))
    qtbot.addWidget(box)
    one = MonoBox((script.split("\n", maxsplit=1)[0],))
    qtbot.addWidget(one)
    assert box.heightForWidth(900) > 2 * one.heightForWidth(900)
    box.copy()
    assert qapp.clipboard().text() == script


def test_that_long_wording_is_whole_after_enter(qtbot: QtBot, wizard: WizardPage) -> None:
    wizard.set_plan(p.plan(), p.WORDING)
    donor = wizard.stages.steps.rows[5]
    assert "+ # line 7" not in donor.content.spoken()
    assert "… 5 more lines: Enter shows all" in donor.content.spoken()
    donor.setFocus()
    qtbot.keyClick(donor, Qt.Key.Key_Return)
    assert "+ # line 7" in donor.content.spoken()
    qtbot.keyClick(donor, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QApplication.clipboard().text() == "\n".join(p.WORDING["donor"])


def test_that_start_waits_for_the_hosts_name_typed_exactly(qtbot: QtBot, wizard: WizardPage) -> None:
    wizard.set_checks(p.CHECKS)
    wizard.set_plan(p.confirming_plan(), p.WORDING)
    approval = wizard.stages.approval
    field = approval.lines["stop"]
    assert approval.reason.text() == "Type db2 at the end of the plan to confirm."
    for wrong in ("db", "DB2", "db22"):
        field.setText(wrong)
        assert not approval.start.isEnabled()
    field.setText("db2")
    assert approval.start.isEnabled()
    with qtbot.waitSignal(wizard.start_wanted) as started:
        qtbot.keyClick(field, Qt.Key.Key_Return)
    assert started.args == [(), {"stop": "db2"}]


def test_that_a_new_plan_forgets_what_was_typed_for_the_last(wizard: WizardPage) -> None:
    wizard.set_plan(p.confirming_plan(), p.WORDING)
    wizard.stages.approval.lines["stop"].setText("db2")
    wizard.set_plan(replace(p.confirming_plan(), summary="another"), p.WORDING)
    assert wizard.stages.approval.confirmations() == {"stop": ""}


def test_that_a_plan_that_breaks_a_rule_is_not_startable(wizard: WizardPage) -> None:
    wizard.set_plan(p.plan(), p.WORDING, ("Two nodes of the quorum move at once.",))
    assert wizard.stages.approval.violations.text() == "Two nodes of the quorum move at once."
    assert not wizard.stages.approval.start.isEnabled()


def test_that_nothing_to_do_is_said_and_not_startable(wizard: WizardPage) -> None:
    wizard.set_plan(p.plan(steps=()), {})
    assert not wizard.stages.approval.start.isEnabled()
    assert wizard.stages.approval.reason.text() == "There is nothing to do: the cluster is already in this state."


def test_that_a_rehearsal_stands_under_each_step_and_is_summed_up(wizard: WizardPage) -> None:
    wizard.set_plan(p.plan(), p.WORDING)
    wizard.set_rehearsal((Rehearsed("able", True, "the option is there"),), running=True)
    assert not wizard.stages.approval.start.isEnabled()
    wizard.set_rehearsal((Rehearsed("able", True, "the option is there"), Rehearsed("stop", False, "a client is busy")))
    steps = wizard.stages.steps.rows
    assert "rehearsed · the option is there" in steps[0].content.spoken()
    assert "rehearsed: would stop here · a client is busy" in steps[3].content.spoken()
    assert wizard.stages.go.head.texts()[0] == "rehearsed: it would stop at 1 of the steps"
    assert wizard.stages.approval.start.isEnabled()


def test_that_the_head_and_the_approval_name_each_host_with_its_address(wizard: WizardPage) -> None:
    wizard.set_plan(p.plan(), p.WORDING, addresses={"db1": "10.0.0.5", "db2": "10.0.0.6", "db3": "10.0.0.7"})
    words = "11 steps on db1 (10.0.0.5), db2 (10.0.0.6)"
    assert wizard.stages.approval._facts.text().startswith(words)
    assert wizard.stages.plan.head.texts()[0].startswith(words)


def test_that_the_approval_names_all_hosts_where_the_head_counts_them(wizard: WizardPage) -> None:
    hosts = tuple(f"db{n}" for n in range(9))
    wizard.set_plan(p.plan(hosts=hosts), p.WORDING, addresses={host: f"10.0.0.{n}" for n, host in enumerate(hosts)})
    assert "on 9 hosts" in wizard.stages.plan.head.texts()[0]
    assert "db8 (10.0.0.8)" in wizard.stages.approval._facts.text()
