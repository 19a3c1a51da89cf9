"""The three ways back without an SST, from their choice to their proof, through the window, on real servers."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from services.procedures.plan.run_model import RunState
from tests.lab.estate.estate import Estate
from tests.lab.procedures.console.person import Person, at_the_window
from tests.lab.procedures.console.steering import Console
from tests.lab.procedures.joining.test_snapshot_node import INPUTS as SNAPSHOT
from tests.lab.procedures.joining.test_snapshot_node import away
from tests.lab.procedures.rejoin.test_rejoin_from_binlogs import INPUTS as BINLOGS
from tests.lab.procedures.rejoin.test_rejoin_from_binlogs import lost
from tests.lab.procedures.rejoin.test_rejoin_from_incrementals import _HOW as INCREMENTALS
from tests.lab.procedures.rejoin.test_rejoin_from_incrementals import chain
from tests.lab.procedures.states import backups
from tests.lab.procedures.states.writer import Writer
from tests.lab.procedures.whole import Whole, members

pytestmark = [pytest.mark.qt_log_ignore("does not support", extend=True), pytest.mark.slow, pytest.mark.long]
__all__ = ["away", "chain", "lost"]


def _assert_came_by_ist(console: Console) -> None:
    steps = {s.step.step_id: s for s in console.assert_ended(RunState.DONE).steps}
    assert "by IST" in " ".join((steps["transfer-s3"].said, *steps["transfer-s3"].evidence))
    assert console.open_obligations() == ()


def _leads(person: Person, name: str, inputs: dict[str, object], at: str, *, rest: bool) -> None:
    person.begins_at_the_cards(name)
    person.answers_and_begins(inputs)
    if rest:
        person.approves_the_rest()
    person.sees_a_step(at)
    person.sees_it_done(400.0)
    assert len(person.looks_in_the_journal()) > 3


def test_that_a_node_comes_back_from_incrementals_from_the_cards_to_the_report(
    qtbot: QtBot, steer: Estate, console: Console, whole: Whole, chain: tuple[str, ...]
) -> None:
    with Writer(steer, ("s1", "s2"), rate=20) as writer, at_the_window(qtbot, console, "incrementals") as person:
        _leads(person, "rejoin-from-incrementals", {**INCREMENTALS, "tables": backups.tables()}, "start", rest=False)
        writer.assert_nothing_lost(members(steer))
    _assert_came_by_ist(console)
    backups.forget(steer, "s3")


def test_that_a_node_comes_back_from_binary_logs_from_the_cards_to_the_report(
    qtbot: QtBot, steer: Estate, console: Console, lost: Writer
) -> None:
    with at_the_window(qtbot, console, "binlogs") as person:
        _leads(person, "rejoin-from-binlogs", BINLOGS, "start", rest=True)
        lost.assert_nothing_lost(members(steer))
    _assert_came_by_ist(console)


def test_that_a_node_comes_back_from_a_snapshot_from_the_cards_to_the_report(
    qtbot: QtBot, steer: Estate, console: Console, whole: Whole, away: str
) -> None:
    with Writer(steer, ("s1",), rate=20) as writer, at_the_window(qtbot, console, "snapshot") as person:
        person.begins_at_the_cards("snapshot-node")
        person.fills_in(SNAPSHOT)
        person.checks()
        person.reads_the_plan()
        person.overrides("OTHERS-STAY", "three nodes are all that this estate has")
        person.rehearses()
        person.approves()
        person.sees_a_step("start")
        person.sees_it_done(400.0)
        writer.assert_nothing_lost(members(steer))
    _assert_came_by_ist(console)
