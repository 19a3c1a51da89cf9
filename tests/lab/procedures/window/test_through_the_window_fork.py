"""A fork, from its first sight to one cluster again, in the window alone: what it says, what is typed, what is kept."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from services.procedures.plan.run_model import RunState
from services.types import Health
from tests.lab.estate.estate import Estate
from tests.lab.estate.servers import database
from tests.lab.procedures.console.person import Person, at_the_window, words
from tests.lab.procedures.console.steering import Console
from tests.lab.procedures.states.forks import ROWS, two_forks
from tests.lab.procedures.whole import Whole, members
from widgets.procedures.split_notice import SplitNotice

pytestmark = [
    pytest.mark.slow,
    pytest.mark.qt_log_ignore("does not support", extend=True),  # the off-screen platform's own menus
]
START = "Start the cluster after all nodes went down"
BRING = "Add a node, or bring one back"


def notice(person: Person) -> SplitNotice:
    found = person.window.findChild(SplitNotice)
    assert found is not None
    return found


def types_the_answer(person: Person, asked: str, answer: str, lost: str = "") -> None:
    """Wait for a question whose answer is typed, and which tells what is lost; type it."""
    question = person.is_asked(asked, 180.0).ask
    assert (question.expect, lost in question.question) == (answer, True), question
    banner = person.wizard.question
    assert banner.typed is not None
    assert not banner.buttons[0].isEnabled()
    person.types(banner.typed, answer)
    person.shoots(f"typed-{answer.replace(' ', '-')}")
    person.presses(banner, "Go on")


def healths(person: Person) -> dict[str, Health]:
    """How the drawing judges each member."""
    assert person.session.controller is not None
    nodes = [n for c in person.session.controller.estate.clusters for n in c.nodes]
    return {n.host: n.health for n in nodes if n.host in {"s1", "s2", "s3"}}


def sees_the_split(qtbot: QtBot, console: Console) -> None:
    """Open the window on a live split: both sides look bad, and the notice says what it means."""
    with at_the_window(qtbot, console, "split") as person:
        person.waits(lambda: notice(person).isVisible())
        assert "s1, s2 | s3" in notice(person).text(), notice(person).text()
        person.waits(lambda: healths(person) == dict.fromkeys(("s1", "s2", "s3"), Health.BAD))
        person.shoots("live")


def starts_the_majority(person: Person) -> None:
    """From the menu of a dead node to the end of the run: the side is chosen, its cost is typed."""
    person.clicks_in_the_tree("s1")
    person.chooses(person.right_clicks("s1"), START)
    person.reads_the_form()
    assert person.answer("nodes") == "s1, s2, s3"
    person.checks()
    blocks = {check.code: check for check in person.wizard.stages.checklist.standing_blocks()}
    assert "s1 and s3 FORKED" in blocks["HISTORY"].evidence
    person.shoots("fork")
    assert "Choose the side to keep: s1 or s2 or s3 under “Node to bootstrap”" in words(person.window)
    person.presses(person.wizard.stages.checklist, "Answer")
    person.fills_in({"bootstrap": "s1"})
    person.checks()
    assert person.wizard.stages.checklist.standing_blocks() == ()
    person.reads_the_plan()
    person.rehearses()
    person.approves()
    person.is_asked("The rest of the plan is ready", 180.0)
    person.shoots("rest")
    person.presses(person.wizard.question, "Approve and continue")
    types_the_answer(person, "s3 diverged", f"lose {ROWS} of s3")
    types_the_answer(person, "cannot be undone", "s1")
    person.is_asked("Is the data on s1 right?", 180.0)
    person.presses(person.wizard.question, "Yes, continue")
    person.sees_it_done()


def brings_the_loser_back(person: Person) -> None:
    """Add the node that lost: written out, counted, typed, then a full transfer."""
    person.presses(person.window.top, "Topology")
    person.clicks_in_the_tree("s3")
    person.chooses(person.right_clicks("s3"), BRING)
    person.reads_the_form()
    assert person.answer("joiner") == "s3"
    person.checks()
    assert "HISTORY" in {check.code for check in person.wizard.stages.checklist.standing_blocks()}
    person.shoots("loser")
    person.presses(person.wizard.stages.checklist, "Answer")
    person.answers_and_begins({"loser": "s3", "settle": "3 s"})
    for found in ("The rest of the plan is ready", f"The side of s3 is discarded: {ROWS} transactions of s3"):
        person.is_asked(found, 180.0)  # its position first, then what it would lose
        person.presses(person.wizard.question, "Approve and continue")
    types_the_answer(person, "cannot be undone", "s3", f"{ROWS} transactions of s3")
    person.sees_it_done()


@pytest.mark.long
def test_that_a_fork_is_told_chosen_paid_for_and_healed_in_the_window_alone(
    qtbot: QtBot, steer: Estate, console: Console, whole: Whole
) -> None:
    with two_forks(steer, meanwhile=lambda: sees_the_split(qtbot, console)) as ledger:
        with at_the_window(qtbot, console, "fork") as person:
            person.waits(lambda: person.steering.runs.is_open and notice(person).isVisible())
            person.shoots("opened")
            starts_the_majority(person)
            for name in ("s1", "s2"):
                ledger.assert_on(steer, name, "s1")
            assert database.pid(steer.spec, "s3") is None
            brings_the_loser_back(person)
            person.waits(lambda: not notice(person).isVisible())
            person.shoots("healed")
        for name in members(steer):
            ledger.assert_on(steer, name, "s1")
        kept = steer.host("s3").sh("cat -- $(ls -t /var/lib/pilothouse/forks/*.sql | head -n 1)").out
        assert kept.count("@2='s3'") == ROWS, "what only s3 had is in the file"
    console.assert_ended(RunState.DONE)
