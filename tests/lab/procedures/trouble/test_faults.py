"""What goes wrong around a run on real servers: a second console, a host that dies, fills up or can't be reached."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.procedures.plan.run_model import RunState
from tests.lab.estate.estate import Estate
from tests.lab.procedures.console.steering import Console
from tests.lab.procedures.scenarios import DESYNC, REJOIN, RESTART, Scenario
from tests.lab.procedures.states import trials
from tests.lab.procedures.states.faults import FAULTS, Fault
from tests.lab.procedures.whole import Whole

SAMPLE = (
    pytest.param(DESYNC, "partition", marks=pytest.mark.long),
    (RESTART, "server killed"),
    pytest.param(REJOIN, "sshd stopped", marks=pytest.mark.long),
    pytest.param(REJOIN, "disk filled", marks=pytest.mark.long),
)


def _fault(name: str) -> Fault:
    return next(fault for fault in FAULTS if fault.name == name)


@pytest.mark.slow
@pytest.mark.parametrize(("scenario", "name"), SAMPLE, ids=str)
def test_that_a_fault_in_the_long_step_is_told_truly_and_leaves_nothing_on(
    steer: Estate, console: Console, whole: Whole, scenario: Scenario, name: str
) -> None:
    assert trials.faulted(console, scenario, _fault(name), heal_after_s=20.0)  # a member is given up after 5 s


@pytest.mark.long
def test_that_a_second_console_is_refused_while_one_runs_and_after_it_was_killed(
    steer: Estate, console: Console, whole: Whole, tmp_path: Path
) -> None:
    other = Console(steer, tmp_path / "other")
    with console.running(*RESTART.words(), "--yes") as running:
        running.wait_for_step("s3:settle-s3")
        running.freeze()  # a busy machine takes longer to ask the other console than this step takes
        refused = other.run("desync-for-backup", "--json", node="s1")
        assert refused.code == 1, refused
        assert "LOCK-FREE" in refused.document()["refused"], refused
        running.kill()
    still = other.run("desync-for-backup", "--json", node="s2")
    assert still.code == 1, still
    assert "LOCK-FREE" in still.document()["refused"], still
    assert other.runs() == ()
    undone = console("undo", console.runs()[0], "--yes")
    assert undone.code == 0, undone
    console.assert_ended(RunState.UNDONE, undone)
    free = other.run("desync-for-backup", node="s2")
    assert free.code == 0, free
    whole.assert_as_before()
