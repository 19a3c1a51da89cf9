"""The wizard before a run: questions, checklist, plan, approval. On made-up values."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QCheckBox, QComboBox, QLabel, QLineEdit, QPushButton
from pytestqt.qtbot import QtBot

from services.procedures.plan.checks import Check, Override, Remedy, Verdict
from services.procedures.plan.forms.fields import Fault, Field
from tests.widgets import builders_procedures as p
from widgets.common.controls.combo import Combo
from widgets.common.look.theme import apply_theme
from widgets.procedures.forms.field_row import FieldRow
from widgets.procedures.page import ProceduresPage
from widgets.procedures.run.wizard import WizardPage


@pytest.fixture
def wizard(qtbot: QtBot, qapp: QApplication) -> WizardPage:
    apply_theme(qapp, "light")
    made = WizardPage(lambda: p.NOW)
    made.set_about(p.ABOUTS[0])
    made.set_fields(p.FIELDS, {}, ())
    made.resize(1208, 828)
    qtbot.addWidget(made)
    made.show()
    qtbot.waitExposed(made)
    return made


def row(wizard: WizardPage, name: str) -> FieldRow:
    return wizard.stages.form.rows[name]


def text_of(wizard: WizardPage, name: str) -> QLineEdit:
    field = row(wizard, name).focus_target()
    assert isinstance(field, QLineEdit)
    return field


# -- questions -------------------------------------------------------------------------------------------------------
def test_that_each_kind_of_question_has_its_field_with_the_default_in_it(wizard: WizardPage) -> None:
    assert isinstance(row(wizard, "node").focus_target(), QComboBox)
    assert isinstance(row(wizard, "drain").focus_target(), QCheckBox)
    assert {name: r.text() for name, r in wizard.stages.form.rows.items()} == {
        "node": "db2", "away": "30 min", "donor": "db1", "drain": "yes", "others": "db1, db3", "floor": "20 GB",
    }  # fmt: skip
    assert wizard.stages.form.values() == {}


def test_that_rare_questions_are_folded_until_asked_for(qtbot: QtBot, wizard: WizardPage) -> None:
    assert not row(wizard, "floor").isVisible()
    qtbot.mouseClick(wizard.stages.form.more, Qt.MouseButton.LeftButton)
    assert row(wizard, "floor").isVisible()


def test_that_typing_is_told_once_after_a_pause_with_only_what_was_answered(qtbot: QtBot, wizard: WizardPage) -> None:
    told: list[dict[str, str]] = []
    wizard.inputs_changed.connect(told.append)
    text_of(wizard, "away").selectAll()
    with qtbot.waitSignal(wizard.inputs_changed, timeout=2000):
        qtbot.keyClicks(text_of(wizard, "away"), "45 min")
        assert told == []
    assert told == [{"away": "45 min"}]


def test_that_a_fault_is_shown_under_its_field_and_bars_the_check(qtbot: QtBot, wizard: WizardPage) -> None:
    sentence = "How long it will be away: write a time like 30 min or 1 h."
    wizard.set_fields(p.FIELDS, {"away": "soon"}, (Fault("away", sentence),))
    assert row(wizard, "away").fault() == sentence
    assert row(wizard, "away").fault_words.isVisible()
    assert row(wizard, "node").fault() == ""
    assert not wizard.stages.form.check.isEnabled()
    with qtbot.assertNotEmitted(wizard.check_wanted, wait=20):
        qtbot.keyClick(text_of(wizard, "away"), Qt.Key.Key_Return)
    wizard.set_fields(p.FIELDS, {"away": "1 h"}, ())
    assert row(wizard, "away").fault() == ""
    assert wizard.stages.form.check.isEnabled()


def test_that_a_fault_of_a_rare_question_unfolds_it(wizard: WizardPage) -> None:
    wizard.set_fields(p.FIELDS, {"floor": "much"}, (Fault("floor", "write a size"),))
    assert row(wizard, "floor").isVisible()


def test_that_a_fault_of_the_whole_form_is_shown_below_it(wizard: WizardPage) -> None:
    wizard.set_fields(p.FIELDS, {}, (Fault("", "No member can be a donor."),))
    assert wizard.stages.form.bar.text() == "No member can be a donor."


def test_that_new_fields_change_no_text_being_typed_and_keep_the_focus(qtbot: QtBot, wizard: WizardPage) -> None:
    field = text_of(wizard, "away")
    field.setFocus()
    field.selectAll()
    qtbot.keyClicks(field, "4")
    wizard.set_fields(p.FIELDS, {}, ())
    qtbot.keyClicks(field, "5")
    assert field.text() == "45"
    assert text_of(wizard, "away") is field
    assert field.hasFocus()


def test_that_a_default_that_follows_another_answer_is_shown_until_it_is_answered_itself(wizard: WizardPage) -> None:
    donors = (("db2", ""), ("db3", ""))
    fields = tuple(replace(f, default="db3", choices=donors) if f.name == "donor" else f for f in p.FIELDS)
    wizard.set_fields(fields, {"node": "db1"}, ())
    assert row(wizard, "donor").text() == "db3"
    wizard.set_fields(fields, {"node": "db1", "donor": "db2"}, ())
    assert row(wizard, "donor").text() == "db2"
    wizard.set_fields(p.FIELDS, {"node": "db3", "donor": "db1"}, ())
    assert row(wizard, "donor").text() == "db1"


def test_that_hosts_stand_in_the_order_of_the_default_whatever_is_unticked(qtbot: QtBot, wizard: WizardPage) -> None:
    nodes = (("db1", "the writer"), ("db2", ""), ("db3", ""))
    order = Field("order", "Nodes, in this order", "hosts", "db3, db2, db1", nodes)
    wizard.set_fields((order,), {}, ())
    boxes = row(wizard, "order").findChildren(QCheckBox)
    assert [box.text() for box in boxes] == ["db3", "db2", "db1  –  the writer"]
    qtbot.mouseClick(boxes[1], Qt.MouseButton.LeftButton, pos=QPoint(8, boxes[1].height() // 2))
    assert row(wizard, "order").text() == "db3, db1"
    wizard.set_fields((replace(order, default="db2, db3, db1"),), {"order": "db3, db1"}, ())
    assert next(box.text() for box in row(wizard, "order").findChildren(QCheckBox)) == "db2"
    assert row(wizard, "order").text() == "db3, db1"


def test_that_a_choice_that_has_no_room_ends_in_an_ellipsis_and_is_whole_in_its_tooltip(wizard: WizardPage) -> None:
    long = "the node refuses client statements (wsrep_reject_queries) until it is a full member again and keeps up"
    wizard.set_fields(
        (Field("drain", "How clients leave", "choice", "server", (("server", long), ("none", ""))),), {}, ()
    )
    box = row(wizard, "drain").focus_target()
    assert isinstance(box, Combo)
    assert box.shown_text().startswith("server  –  the node refuses")
    assert box.shown_text().endswith("…")
    assert box.toolTip() == f"server  –  {long}"
    before = box.grab().toImage()
    box.setCurrentIndex(1)
    assert box.shown_text() == "none"
    assert box.grab().toImage() != before


def test_that_a_number_tells_its_unit_and_a_command_has_more_room_than_a_number(wizard: WizardPage) -> None:
    wizard.set_fields(
        (Field("share", "Share of the network", "number", "70", unit="%"), Field("take", "Command", "text")), {}, ()
    )
    assert "%" in [shown.text() for shown in row(wizard, "share").findChildren(QLabel)]
    assert row(wizard, "take").focus_target().maximumWidth() > row(wizard, "share").focus_target().maximumWidth()


# -- checklist -------------------------------------------------------------------------------------------------------
def test_that_checks_fold_the_questions_to_one_line_and_stand_blocks_first(wizard: WizardPage) -> None:
    wizard.set_checks((*p.CHECKS, p.BLOCK))
    stages = wizard.stages
    assert not stages.inputs.is_open()
    assert "Node that goes down: db2" in stages.inputs.head.texts()[0]
    assert stages.preflight.is_open()
    assert [r.check.code for r in stages.checklist.rows][:2] == ["DISK-FREE", "IST-REACH"]
    assert stages.preflight.head.texts()[0].startswith("3 pass · 1 warning · 1 block: db1: 18.2 GB free")


def test_that_what_a_person_chooses_by_is_shown_also_where_it_passed(wizard: WizardPage) -> None:
    positions = Check("POSITIONS", "The nodes' positions", Verdict.PASS, "db1: 7; db2: 9", to_read=True)
    wizard.set_checks((*p.CHECKS, p.BLOCK, positions))
    checklist = wizard.stages.checklist
    assert [row.check.code for row in checklist.rows] == ["DISK-FREE", "IST-REACH", "POSITIONS"]
    assert [line.head.passed.checks[0].code for line in checklist.lines] == ["HEALTH", "NO-DDL", "CAPABLE"]


def test_that_only_a_block_that_is_not_absolute_takes_a_reason(qtbot: QtBot, wizard: WizardPage) -> None:
    wizard.set_checks((*p.CHECKS, p.BLOCK, p.ABSOLUTE))
    checklist = wizard.stages.checklist
    reasons = {r.check.code: r.reason for r in checklist.rows}
    assert [code for code, reason in reasons.items() if reason is not None] == ["DISK-FREE"]
    field = reasons["DISK-FREE"]
    assert field is not None
    qtbot.keyClicks(field, "   ")
    assert checklist.overrides() == ()
    qtbot.keyClicks(field, "the disk is grown tonight")
    assert checklist.overrides() == (Override("DISK-FREE", "the disk is grown tonight"),)
    assert checklist.standing_blocks() == (p.ABSOLUTE,)


def test_that_an_answer_that_would_do_is_named_by_its_question_with_the_way_to_it(
    qtbot: QtBot, wizard: WizardPage
) -> None:
    answers = (Remedy("Choose the side to keep", "donor", ("db1", "db3")), Remedy("Leave more room", "floor"))
    wizard.set_checks((replace(p.ABSOLUTE, try_=(), answers=answers),))
    shown = [label.text() for label in wizard.stages.checklist.findChildren(QLabel)]
    donor, floor = (row(wizard, name).field.title for name in ("donor", "floor"))
    assert f"Try: Choose the side to keep: db1 or db3 under “{donor}”" in shown
    assert f"Try: Leave more room: “{floor}”" in shown
    assert not any("donor=" in text for text in shown)
    assert not wizard.stages.inputs.is_open()
    assert not row(wizard, "floor").isVisible()
    ways = [made for made in wizard.stages.checklist.findChildren(QPushButton) if made.text() == "Answer"]
    qtbot.mouseClick(ways[1], Qt.MouseButton.LeftButton)
    assert wizard.stages.inputs.is_open()
    assert row(wizard, "floor").isVisible()
    assert wizard.focusWidget() is row(wizard, "floor").focus_target()
    wizard.resize(1000, 420)  # a small screen: the question is below the fold
    qtbot.mouseClick(ways[0], Qt.MouseButton.LeftButton)
    qtbot.mouseClick(ways[1], Qt.MouseButton.LeftButton)
    shown_row = row(wizard, "floor")
    qtbot.waitUntil(lambda: shown_row.visibleRegion().boundingRect().height() == shown_row.height())


def test_that_a_reason_typed_survives_checking_again(qtbot: QtBot, wizard: WizardPage) -> None:
    wizard.set_checks((*p.CHECKS, p.BLOCK))
    field = wizard.stages.checklist.rows[0].reason
    assert field is not None
    qtbot.keyClicks(field, "grown tonight")
    wizard.set_checks((*p.CHECKS, p.BLOCK), waiting=True)
    assert not wizard.stages.checklist.again.isEnabled()
    wizard.set_checks((*p.CHECKS, replace(p.BLOCK, evidence="db1: 17.9 GB free")))
    assert wizard.stages.checklist.overrides() == (Override("DISK-FREE", "grown tonight"),)


def test_that_one_reason_is_asked_for_blocks_of_one_code_on_several_hosts(qtbot: QtBot, wizard: WizardPage) -> None:
    wizard.set_checks((*p.CHECKS, p.BLOCK, replace(p.BLOCK, host="db2"), replace(p.BLOCK, host="db3")))
    wizard.set_plan(p.plan(), p.WORDING)
    checklist = wizard.stages.checklist
    assert checklist.standing.text() == "A run cannot start while these checks block: DISK-FREE."
    assert [r.reason is not None for r in checklist.rows[:3]] == [True, False, False]
    second = checklist.rows[1].findChildren(QLabel)
    assert "The reason above applies to every DISK-FREE." in [label.text() for label in second]
    field = checklist.rows[0].reason
    assert field is not None
    qtbot.keyClicks(field, "grown tonight")
    assert checklist.overrides() == (Override("DISK-FREE", "grown tonight"),)
    assert checklist.standing_blocks() == ()
    assert wizard.stages.approval.start.isEnabled()


def test_that_start_waits_while_a_block_stands_and_says_which(qtbot: QtBot, wizard: WizardPage) -> None:
    wizard.set_checks((*p.CHECKS, p.BLOCK))
    wizard.set_plan(p.plan(), p.WORDING)
    approval = wizard.stages.approval
    assert not approval.start.isEnabled()
    assert approval.reason.text() == "These checks block: DISK-FREE."
    field = wizard.stages.checklist.rows[0].reason
    assert field is not None
    qtbot.keyClicks(field, "grown tonight")
    assert approval.start.isEnabled()
    with qtbot.waitSignal(wizard.start_wanted) as started:
        approval.start.click()
    assert started.args == [(Override("DISK-FREE", "grown tonight"),), {}]


def test_that_an_absolute_block_never_lets_start(wizard: WizardPage) -> None:
    wizard.set_checks((*p.CHECKS, p.ABSOLUTE))
    wizard.set_plan(p.plan(), p.WORDING)
    assert not wizard.stages.approval.start.isEnabled()


def test_that_other_answers_take_the_old_plan_away(qtbot: QtBot, wizard: WizardPage) -> None:
    wizard.set_plan(p.plan(), p.WORDING)
    wizard.stages.inputs.set_open(True)
    with qtbot.waitSignal(wizard.inputs_changed, timeout=2000):
        qtbot.keyClicks(text_of(wizard, "away"), "5")
    assert not wizard.stages.plan.isVisible()
    assert not wizard.stages.go.isVisible()


# -- keys ------------------------------------------------------------------------------------------------------------
def tab_to(qtbot: QtBot, wanted: object, most: int = 60) -> None:
    for _ in range(most):
        if QApplication.focusWidget() is wanted:
            return
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
    raise AssertionError(f"no way by Tab to {wanted}")


def test_that_tab_goes_through_every_box_of_a_list_before_the_next_question(qtbot: QtBot, wizard: WizardPage) -> None:
    form = wizard.stages.form
    boxes = form.rows["others"].key_stops()
    assert len(boxes) > 1
    with qtbot.waitActive(wizard):
        wizard.activateWindow()
    boxes[0].setFocus()
    for box in boxes:
        assert QApplication.focusWidget() is box
        qtbot.keyClick(box, Qt.Key.Key_Tab)
    assert QApplication.focusWidget() is form.more


def test_that_keys_alone_lead_from_the_card_to_the_start(qtbot: QtBot, wizard: WizardPage) -> None:
    page = ProceduresPage(lambda: p.NOW)
    qtbot.addWidget(page)
    page.set_procedures(p.ABOUTS)
    with qtbot.waitActive(page):
        page.show()
        page.activateWindow()
    page.focus_first()
    assert QApplication.focusWidget() is page.cards[0].open_button
    with qtbot.waitSignal(page.procedure_chosen) as chosen:
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Return)
    assert chosen.args == ["freeze-gcache"]
    with qtbot.waitActive(wizard):
        page.hide()
        wizard.activateWindow()
    wizard.focus_first()
    tab_to(qtbot, text_of(wizard, "away"))
    with qtbot.waitSignal(wizard.check_wanted):
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Return)
    wizard.set_checks(p.CHECKS)
    with qtbot.waitSignal(wizard.plan_wanted):
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Space)
    wizard.set_plan(p.confirming_plan(), p.WORDING)
    assert QApplication.focusWidget() is wizard.stages.steps.rows[0]
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Down)
    assert QApplication.focusWidget() is wizard.stages.steps.rows[1]
    tab_to(qtbot, wizard.stages.approval.lines["stop"])
    qtbot.keyClicks(QApplication.focusWidget(), "db2")
    with qtbot.waitSignal(wizard.start_wanted):
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Return)


def test_that_escape_leaves_the_page(qtbot: QtBot, wizard: WizardPage) -> None:
    with qtbot.waitSignal(wizard.closed):
        qtbot.keyClick(text_of(wizard, "away"), Qt.Key.Key_Escape)
