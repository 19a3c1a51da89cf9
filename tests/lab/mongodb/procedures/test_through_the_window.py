"""mongo-config-rs from its card to its report, in the window, on real servers that are written to."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from services.procedures.plan.run_model import RunState
from tests.lab.estate.estate import Estate
from tests.lab.estate.servers import mongodb
from tests.lab.mongodb.procedures.conversion import load
from tests.lab.procedures.console.person import at_the_window
from tests.lab.procedures.console.steering import Console

pytestmark = [pytest.mark.qt_log_ignore("does not support", extend=True), pytest.mark.slow, pytest.mark.long]
ANSWERS = {"new": "n1, n2", "name": "csrs", "no_ddl": "yes", "no_others": "yes"}


@pytest.mark.timeout(900)
def test_that_config_servers_are_converted_from_the_card_to_the_report(
    qtbot: QtBot, mongo_sccc: Estate, tmp_path: Path
) -> None:
    console = Console(mongo_sccc, tmp_path / "data")
    try:
        with load(mongo_sccc) as loads, at_the_window(qtbot, console, "conversion") as person:
            person.begins_at_the_cards("mongo-config-rs")
            person.fills_in(ANSWERS)
            person.checks()
            assert person.wizard.stages.checklist.standing_blocks() == ()
            person.reads_the_plan()
            person.rehearses()
            approval = person.wizard.stages.approval
            assert not approval.start.isEnabled()  # the point of no return wants its host's name
            person.types(approval.lines["c1:converted"], "c1")
            person.approves()
            person.sees_a_step("scratch-up")
            assert person.wizard.head.undo.isVisible()
            person.is_asked("nobody can create or drop", 180.0)
            person.shoots("asked")
            person.presses(person.wizard.question, "Yes, continue")
            person.sees_a_step("r1:new-string")
            assert not person.wizard.head.undo.isVisible()
            person.sees_it_done()
            assert any("the balancer is off" in told for told in person.duties), person.duties
            assert len(person.looks_in_the_journal()) > 10
        console.assert_ended(RunState.DONE)
        assert [one.refused for one in loads.values()] == [[], []]
    finally:
        mongo_sccc.down()
        mongo_sccc.up()
        assert mongodb.states(mongo_sccc.spec, "d1")
