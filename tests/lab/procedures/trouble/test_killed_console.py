"""kill -9 of the console at a sample of its journal writes, then resume: the end of an unbroken run, on real servers.

Every write of every procedure: `python -m tests.lab.procedures.matrix` (on scripted hosts: tests/faults, in every run).
"""

from __future__ import annotations

import pytest

from tests.lab.estate.estate import Estate
from tests.lab.procedures.console.steering import Console
from tests.lab.procedures.scenarios import ADD, CRASH, DESYNC, FREEZE, RESTART, Scenario
from tests.lab.procedures.states import trials
from tests.lab.procedures.whole import Whole

SAMPLE = (
    pytest.param(DESYNC, "desync=acting", marks=pytest.mark.long),
    pytest.param(RESTART, "s3:start-s3=proving", marks=pytest.mark.long),
    (ADD, "start-new=proving"),
    pytest.param(CRASH, "bootstrap=acting", marks=pytest.mark.long),
)


@pytest.mark.slow
@pytest.mark.parametrize(("scenario", "when"), SAMPLE, ids=str)
def test_that_a_run_whose_console_was_killed_ends_like_an_unbroken_one(
    steer: Estate, console: Console, whole: Whole, scenario: Scenario, when: int | str
) -> None:
    assert trials.killed(console, scenario, when)


@pytest.mark.slow
@pytest.mark.parametrize("when", ["freeze=acting", "start-f3=acting", "release=acting"])
def test_that_a_freeze_whose_console_was_killed_ends_like_an_unbroken_one(
    freezing: Estate, freezing_console: Console, when: str
) -> None:
    assert trials.killed(freezing_console, FREEZE, when)
