"""Each procedure from its choice to its proof, through the window the program opens, on real servers.

What a person does is done with mouse and keyboard; what the cluster then is, is asked of the servers. How the window
is opened on a cluster that is down: test_through_the_window_crash.py.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from services.procedures.plan.run_model import RunState
from tests.lab.estate import vault
from tests.lab.estate.estate import Estate
from tests.lab.estate.servers import database
from tests.lab.procedures.console.person import Person, at_the_window, opens
from tests.lab.procedures.console.steering import Console
from tests.lab.procedures.scenarios import ADD, FREEZE, RESTART
from tests.lab.procedures.states.writer import Writer
from tests.lab.procedures.whole import Whole, members
from widgets.procedures.standing_notice import StandingNotice

pytestmark = pytest.mark.qt_log_ignore("does not support", extend=True)  # the off-screen platform's own menus


# -- desync-for-backup, from a right click ----------------------------------------------------------------------------


def desynced(estate: Estate, host: str) -> bool:
    return bool(estate.sql(host, "SELECT @@GLOBAL.wsrep_desync")[0][0] == "1")


def begins_desync(person: Person, host: str) -> None:
    """Right click, choose, check, read the plan, rehearse, approve; return when the run asks for the backup."""
    person.sees_synced(("s1", "s2", "s3"))
    menu = person.right_clicks(host)
    person.shoots("menu")
    person.chooses(menu, "Take a node out of flow control")
    person.reads_the_form()
    assert person.answer("node") == host
    person.answers_and_begins({})
    person.is_asked("backup")


def test_that_a_node_is_desynced_for_a_backup_and_brought_back_from_a_right_click_to_the_report(
    qtbot: QtBot, steer: Estate, console: Console, whole: Whole, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with at_the_window(qtbot, console, "desync") as person:
        begins_desync(person, "s2")
        person.shoots("waiting")
        assert desynced(steer, "s2")
        person.waits(lambda: "s2 desynced" in person.window.status.duties.text())
        person.presses(person.wizard.question, "Yes, continue")
        person.sees_it_done()
        assert not desynced(steer, "s2")
        saved = tmp_path / "report.html"
        monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_args: (str(saved), ""))
        person.presses(person.wizard, "Save as HTML")
        person.waits(saved.exists)
        steps = person.looks_in_the_journal()
    report = saved.read_text(encoding="utf-8")
    assert "desync-for-backup" in report
    assert [what for what, secret in vault.load().items() if secret in report] == []
    assert [text.partition(":")[0] for text in steps] == ["Run 1, step 1", "Run 1, step 2", "Run 1, step 4"]
    console.assert_ended(RunState.DONE)
    whole.assert_as_before()


@pytest.mark.long
def test_that_the_next_start_says_where_a_suspended_run_stands_and_resumes_it(
    qtbot: QtBot, steer: Estate, console: Console, whole: Whole
) -> None:
    first = opens(qtbot, console, "suspended")
    begins_desync(first, "s3")
    first.window.close()
    assert first.window.isVisible()
    first.shoots("closing")
    first.presses(first.steering.close_question.strip, "Suspend and close")
    first.waits(lambda: not first.window.isVisible())
    first.leaves()
    assert desynced(steer, "s3")
    with at_the_window(qtbot, console, "resumed") as second:
        notice = second.window.findChild(StandingNotice)
        assert notice is not None
        second.waits(lambda: "Run 1 is not finished" in notice.text())
        assert "Still on: s3 desynced." in notice.text()
        assert "s3 desynced" in second.window.status.duties.text()
        second.shoots("standing")
        second.presses(notice, "Resume")
        second.waits(lambda: second.wizard.question.question() is not None)
        second.presses(second.wizard.question, "Yes, continue")
        second.sees_it_done()
    console.assert_ended(RunState.DONE)
    assert not desynced(steer, "s3")
    whole.assert_as_before()


# -- rolling-restart, from the palette --------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.slow
def test_that_an_option_is_changed_by_a_restart_from_the_palette_to_the_report(
    qtbot: QtBot, steer: Estate, console: Console, whole: Whole
) -> None:
    before = {name: database.pid(steer.spec, name) for name in members(steer)}
    with Writer(steer, members(steer), rate=20) as writer, at_the_window(qtbot, console, "restart") as person:
        person.sees_synced(("s3", "s1", "s2"))
        person.begins_in_the_palette("restart one at a time s3", "Run: Restart the nodes one at a time", "for s3")
        assert person.answer("nodes") == "s3"
        person.answers_and_begins(RESTART.inputs)
        person.sees_it_done()
        assert any("automatic restart disabled on s3" in told for told in person.duties), person.duties
        steps = person.looks_in_the_journal()
        writer.assert_nothing_lost()
    assert any("innodb_io_capacity" in text for text in steps), steps
    console.assert_ended(RunState.DONE)
    after = {name: database.pid(steer.spec, name) for name in members(steer)}
    assert [name for name in before if after[name] != before[name]] == ["s3"]
    RESTART.assert_end(console)


# -- add-node, from the cards -----------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.long
def test_that_a_spare_host_is_added_by_sst_from_the_cards_to_the_report(
    qtbot: QtBot, steer: Estate, console: Console, whole: Whole
) -> None:
    with Writer(steer, members(steer), rate=20) as writer, at_the_window(qtbot, console, "add") as person:
        person.begins_at_the_cards("add-node")
        assert person.answer("joiner") == "new"
        person.answers_and_begins(ADD.inputs)
        person.sees_it_done()
        assert any("automatic restart disabled on new" in told for told in person.duties), person.duties
        steps = person.looks_in_the_journal()
        writer.assert_nothing_lost((*members(steer), "new"))
    assert len(steps) > 3
    view = console.assert_ended(RunState.DONE)
    transfer = next(s for s in view.steps if s.step.step_id == "transfer-new")
    assert "SST" in " ".join((transfer.said, *transfer.evidence))
    ADD.assert_end(console)
    for name in members(steer):
        listed = steer.host(name).sh("my_print_defaults mysqld | grep wsrep.cluster.address").out
        assert steer.addresses["new"] in listed


# -- freeze-gcache, from the inspector --------------------------------------------------------------------------------


def frozen_at(estate: Estate, host: str) -> int:
    options = estate.sql(host, "SELECT @@GLOBAL.wsrep_provider_options")[0][0]
    found = [o.partition("=")[2].strip() for o in options.split(";") if "gcache.freeze_purge_at_seqno" in o]
    assert len(found) == 1, options
    return int(found[0])


@pytest.mark.slow
def test_that_a_node_goes_down_and_returns_by_ist_from_the_inspector_to_the_report(
    qtbot: QtBot, freezing: Estate, freezing_console: Console, freeze_before: Whole
) -> None:
    with (
        Writer(freezing, members(freezing), rate=20) as writer,
        at_the_window(qtbot, freezing_console, "freeze") as person,
    ):
        person.sees_synced(("f3", "f1", "f2"))
        person.presses(person.window.inspector, "Take a node down without SST")
        person.reads_the_form()
        assert person.answer("node") == "f3"
        person.fills_in(FREEZE.inputs)
        person.checks()
        person.reads_the_plan()
        approval = person.wizard.stages.approval
        assert not approval.start.isEnabled()
        assert "FOREIGN-PROVIDER" in approval.waits_for()
        person.overrides("FOREIGN-PROVIDER", "the lab loads it on purpose")
        person.rehearses()
        person.approves()
        person.is_asked("maintenance on f3", 120.0)
        person.waits(lambda: "on f1" in person.window.status.duties.text())
        assert "freeze:f1" in freezing_console.open_obligations()
        person.shoots("waiting")
        assert frozen_at(freezing, "f1") >= 0
        assert database.pid(freezing.spec, "f3") is None
        person.presses(person.wizard.question, "Yes, continue")
        person.sees_it_done()
        person.looks_in_the_journal()
        writer.assert_nothing_lost()
    view = freezing_console.assert_ended(RunState.DONE)
    assert [(o.code, o.reason) for o in view.overrides] == [("FOREIGN-PROVIDER", "the lab loads it on purpose")]
    transfer = next(s for s in view.steps if s.step.step_id == "transfer-f3")
    assert "IST" in " ".join((transfer.said, *transfer.evidence))
    assert frozen_at(freezing, "f1") == -1
    FREEZE.assert_end(freezing_console)
    freeze_before.assert_as_before()
