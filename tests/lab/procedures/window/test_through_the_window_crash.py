"""bootstrap-after-crash through the window, on servers that were all killed: from the cards, and where they died."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from services.procedures.plan.run_model import RunState
from tests.lab.estate.estate import Estate
from tests.lab.estate.servers import database
from tests.lab.procedures.console.person import Person, at_the_window
from tests.lab.procedures.console.steering import Console
from tests.lab.procedures.scenarios import CRASH, all_killed
from tests.lab.procedures.whole import Whole, members

pytestmark = [
    pytest.mark.slow,
    pytest.mark.qt_log_ignore("does not support", extend=True),  # the off-screen platform's own menus
]
TITLE = "Start the cluster after all nodes went down"


def confirms(person: Person, host: str) -> None:
    """Type the host's name: anything else leads nowhere."""
    banner = person.wizard.question
    assert banner.typed is not None
    go_on = banner.buttons[0]
    person.types(banner.typed, "s1")
    assert not go_on.isEnabled()
    person.types(banner.typed, host)
    person.shoots("confirmed")
    person.presses(banner, "Go on")


def assert_alone(estate: Estate, host: str) -> None:
    """Nobody but this node runs, and it is a cluster of one."""
    running = [name for name in members(estate) if database.pid(estate.spec, name) is not None]
    assert running == [host]
    assert estate.sql(host, "SHOW STATUS LIKE 'wsrep_cluster_size'")[0][1] == "1"


@pytest.mark.long
def test_that_a_dead_cluster_is_started_again_from_the_cards_to_the_report(
    qtbot: QtBot, steer: Estate, console: Console, whole: Whole
) -> None:
    with all_killed(steer), at_the_window(qtbot, console, "crash") as person:
        person.waits(lambda: person.steering.runs.is_open)
        person.begins_at_the_cards("bootstrap-after-crash")
        assert person.answer("nodes") == "s1, s2, s3"
        person.answers_and_begins(CRASH.inputs)
        person.is_asked("The rest of the plan is ready", 120.0)
        person.shoots("rest-of-the-plan")
        person.waits(lambda: "automatic restart disabled on s1" in person.window.status.duties.text())
        rows = person.wizard.stages.steps.rows
        assert any("Bootstrap s" in row.content.spoken() for row in rows)
        person.presses(person.wizard.question, "Approve and continue")
        chosen = person.is_asked("This cannot be undone").ask.expect
        assert chosen in {"s2", "s3"}  # s1 died first
        confirms(person, chosen)
        person.is_asked(f"Is the data on {chosen} right?", 120.0)
        person.shoots("data-question")
        assert_alone(steer, chosen)
        person.presses(person.wizard.question, "Yes, continue")
        person.sees_it_done()
        assert person.looks_in_the_journal()
    console.assert_ended(RunState.DONE)
    CRASH.assert_end(console)
    rows_of = {name: steer.sql(name, "SELECT COUNT(*) FROM sbtest.crash")[0][0] for name in members(steer)}
    assert len(set(rows_of.values())) == 1, rows_of
    assert int(rows_of["s1"]) >= 5
    whole.assert_as_before()


@pytest.mark.long
def test_that_a_window_that_saw_the_cluster_die_offers_its_start_by_the_clusters_name(
    qtbot: QtBot, steer: Estate, console: Console, whole: Whole
) -> None:
    with at_the_window(qtbot, console, "died") as person:
        person.sees_synced(("s2", "s1", "s3"))
        with all_killed(steer):
            person.waits(lambda: states(person).isdisjoint({"Synced", ""}))
            person.chooses(person.right_clicks("s2"), TITLE)
            person.reads_the_form()
            assert person.answer("nodes") == "s1, s2, s3"
            assert person.answer("bootstrap") == "the most advanced"  # not s2 because it was clicked
            person.checks()
            person.reads_the_plan()
            plan = person.wizard.stages.approval.plan()
            assert plan is not None
            assert plan.title == f"Start {steer.name} after all nodes went down"
    assert console.runs() == ()


def states(person: Person) -> set[str]:
    """What the drawing says of the members."""
    assert person.session.controller is not None
    nodes = [n for c in person.session.controller.estate.clusters for n in c.nodes]
    return {n.state for n in nodes if n.host in {"s1", "s2", "s3"}}
