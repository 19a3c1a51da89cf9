"""'For N seconds' on a real clock: twice in one run, in a run after an undo, and with a console that stood still."""

from __future__ import annotations

import signal
import time
from itertools import pairwise

import pytest

from services.procedures.plan.run_model import RunState, RunView
from tests.lab.estate.estate import Estate
from tests.lab.estate.waiting import while_asserts
from tests.lab.procedures.console.steering import KILLED, Console
from tests.lab.procedures.whole import Whole

SECONDS, STILL = 8.0, 11.0
INPUTS: dict[str, object] = {"nodes": "s2, s3", "soak": "8 s", "pause": "8 s", "downtime": "20 s"}


def _lasted(view: RunView) -> dict[str, float]:
    """Return what each wait of this run lasted, from its own beginning on."""
    return {
        s.step.step_id: s.ended - s.started
        for s in view.steps
        if s.started is not None and s.ended is not None and ("settle" in s.step.step_id or "pause" in s.step.step_id)
    }


def _is_new(console: Console, before: str) -> None:
    assert console.runs()[0] != before


@pytest.mark.long
@pytest.mark.slow
def test_that_a_node_serves_for_its_seconds_after_clients_came_back_twice_in_a_run_and_again_after_an_undo(
    steer: Estate, console: Console, whole: Whole
) -> None:
    killed = console.killed_run("s2:pause=done", "rolling-restart", **INPUTS)
    assert killed.code == KILLED, killed
    first, killed_run = console.view(), console.runs()[0]
    assert min(_lasted(first).values()) >= SECONDS, _lasted(first)
    assert set(_lasted(first)) == {"s2:settle-s2", "s2:pause"}
    assert console("undo", killed_run, "--yes").code == 0

    words = (w for name, value in INPUTS.items() for w in ("--input", f"{name}={value}"))
    with console.running("run", "rolling-restart", *words, "--yes") as running:
        while_asserts(lambda: _is_new(console, killed_run), limit_s=60)
        running.wait_for_step("s2:pause")
        running.freeze()
        time.sleep(STILL)  # longer than the whole wait: on waking its span would be over, and nobody has looked
        running.process.send_signal(signal.SIGCONT)
        ran = running.end()
    assert ran.code == 0, ran
    view = console.assert_ended(RunState.DONE, ran)
    lasted = _lasted(view)
    assert set(lasted) == {"s2:settle-s2", "s2:pause", "s3:settle-s3"}
    assert min(lasted.values()) >= SECONDS, lasted
    assert lasted["s2:pause"] >= STILL + SECONDS - 0.5, lasted
    assert all(one.step.action != two.step.action for one, two in pairwise(view.steps)), view.steps[-2:]
    whole.assert_as_before()
