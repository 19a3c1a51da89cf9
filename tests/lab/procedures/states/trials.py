"""One trial: a procedure on real servers, something that goes wrong in its middle, and the end state all the same."""

from __future__ import annotations

import re
from pathlib import Path

from services.procedures.plan.run_model import RunState, RunView
from tests.lab.estate.estate import Estate
from tests.lab.procedures.console.steering import KILLED, Console, Ran
from tests.lab.procedures.scenarios import Scenario, assert_nothing_done_twice
from tests.lab.procedures.states.faults import Fault
from tests.lab.procedures.whole import members

RESTS = frozenset({RunState.DONE, RunState.UNDONE, RunState.FAILED, RunState.WAITING, RunState.PAUSED,
                   RunState.UNDO_FAILED, RunState.LEFT})  # fmt: skip


def killed(console: Console, scenario: Scenario, when: int | str) -> bool:
    """Kill the console at one journal write, resume, and assert the end of an unbroken run; False: it ended before."""
    with scenario.situation(console.estate):
        ran = console.killed(when, *scenario.words(), "--yes")
        if ran.code == 0:
            console.assert_ended(RunState.DONE, ran)
            return False
        assert ran.code == KILLED, ran
        run_id = console.runs()[0]
        resumed = console("resume", run_id, "--yes", *scenario.again)
        assert resumed.code == 0, f"killed at {when}: {resumed}"
        view = console.assert_ended(RunState.DONE, resumed)
        assert_nothing_done_twice(view, console.entries())
        scenario.assert_end(console)
    return True


def faulted(console: Console, scenario: Scenario, fault: Fault, *, heal_after_s: float = 45.0) -> str:
    """Let a fault happen in the long step; return where the run rested, and how the cluster became whole again.

    A run that waits the fault out sees it over after `heal_after_s`.

    Asserts that the run ends, that it names what it left on, and that after the fault is over resume or undo ends it
    with every obligation discharged and no member lost.
    """
    with scenario.situation(console.estate):
        with console.running(*scenario.words(), "--yes") as running:
            running.wait_for_step(scenario.long_step)
            fault.break_it(console.estate, scenario.host)
            ran = running.end(lambda: fault.heal(console.estate, scenario.host), heal_after_s)
        rested = console.view()
        assert_rests(rested, ran)
        fault.heal(console.estate, scenario.host)
        words = f"{rested.state.value}: {_sentence(rested)}"
        if rested.state in {RunState.DONE, RunState.UNDONE}:
            assert console.open_obligations() == (), words
            return words
        way = _back(console, scenario, rested)
        return f"{words} Then {way}."


def assert_rests(view: RunView, ran: Ran) -> None:
    """Assert that the run rests somewhere, and that its words say what is still switched on."""
    assert view.state in RESTS, ran
    assert view.sentence, ran
    assert ran.code in {0, 3, 4}, ran
    if view.state is RunState.DONE:
        assert ran.code == 0, ran
    for one in view.obligations:
        assert one.obligation.sentence in ran.out, (one.obligation.sentence, ran)


def _back(console: Console, scenario: Scenario, rested: RunView) -> str:
    """Take the run back, else bring the node up as a person would and take it back then."""
    undone = console("undo", rested.run_id, "--yes")
    view = console.view()
    if view.state is RunState.UNDONE and console.open_obligations() == ():
        return "undone by undo"
    _bring_up(console.estate)
    again = console("undo", rested.run_id, "--yes")
    view = console.assert_ended(RunState.UNDONE, again)
    assert undone.out
    return "undone by undo once its server was up again"


def _bring_up(estate: Estate) -> None:
    for name in members(estate):
        estate.host(name).sh("systemctl start --no-block mariadb; true")
    estate.wait_synced(members(estate), limit_s=90)


def _sentence(view: RunView) -> str:
    return re.sub(r"\s+", " ", view.sentence).strip()


def console_for(scenario: Scenario, estate: Estate, data: Path) -> Console:
    """A workstation of its own for one trial."""
    assert estate.name == scenario.estate
    return Console(estate, data)
