"""encrypt-sst and sst-tuning from their choice to their report, in the window, on real servers that are written to."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from services.procedures.plan.run_model import RunState
from tests.lab.estate.estate import Estate
from tests.lab.procedures.console.person import at_the_window
from tests.lab.procedures.console.steering import Console
from tests.lab.procedures.maintenance.test_sst_tuning import TUNE
from tests.lab.procedures.states.writer import Writer
from tests.lab.procedures.whole import Whole, members

pytestmark = [pytest.mark.qt_log_ignore("does not support", extend=True), pytest.mark.slow, pytest.mark.long]


def _section(estate: Estate) -> str:
    """What every member has in its section of the transfer, one text."""
    (found,) = {estate.host(name).sh("my_print_defaults sst").out for name in members(estate)}
    return found


def test_that_state_transfer_is_encrypted_from_the_cards_to_the_report(
    qtbot: QtBot, steer: Estate, console: Console, whole: Whole
) -> None:
    with Writer(steer, members(steer), rate=20) as writer, at_the_window(qtbot, console, "encrypt") as person:
        person.begins_at_the_cards("encrypt-sst")
        person.answers_and_begins({})
        person.sees_a_step("try-")
        person.sees_it_done()
        assert any("starts of mariadb.service wait on s1" in told for told in person.duties), person.duties
        assert len(person.looks_in_the_journal()) > 3
        writer.assert_nothing_lost()
    console.assert_ended(RunState.DONE)
    assert "--encrypt=4" in _section(steer)


def test_that_transfers_are_measured_and_set_on_all_nodes_from_the_cards_to_the_report(
    qtbot: QtBot, steer: Estate, console: Console, whole: Whole
) -> None:
    with Writer(steer, members(steer)[:2], rate=20) as writer, at_the_window(qtbot, console, "tuning") as person:
        person.begins_at_the_cards("sst-tuning")
        person.answers_and_begins(TUNE)
        person.approves_the_rest()
        person.sees_it_done()
        assert len(person.looks_in_the_journal()) > 3
        writer.assert_nothing_lost()
    console.assert_ended(RunState.DONE)
    assert "--compressor=pigz" in _section(steer)
