"""States of a real night on real servers: what would not come up is not stopped, and what hangs says why."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from services.procedures.plan.run_model import RunState, StepState
from tests.lab.estate.estate import Estate
from tests.lab.estate.servers import database
from tests.lab.procedures.console.at_terminal import at_terminal
from tests.lab.procedures.console.shifted_console import shift_to
from tests.lab.procedures.console.steering import Console
from tests.lab.procedures.states.obstacles import assert_refused, together
from tests.lab.procedures.states.obstacles_of_a_night import dead_names, hangs_in_its_stop, tmp_full
from tests.lab.procedures.states.writer import Writer
from tests.lab.procedures.whole import Whole, members

SHORT = ("--input", "pause=1 s", "--input", "soak=2 s", "--input", "downtime=20 s")
WORD = "=I know better"


@pytest.mark.long
def test_that_a_node_that_could_not_start_again_is_not_stopped(steer: Estate, console: Console, whole: Whole) -> None:
    """/tmp of s2 is full and s3 knows no member's name; accepted by their codes, the stop itself asks again."""
    running = {name: database.pid(steer.spec, name) for name in members(steer)}
    with together(tmp_full("s2"), dead_names("s3"))(steer):
        refused = console.run("rolling-restart", "--json", *SHORT, nodes="s2, s3")
        assert "0 MB are free at /tmp of s2" in assert_refused(refused, "TEMP-SPACE")["evidence"]
        told = assert_refused(refused, "NAMES")["evidence"]
        assert "s3 resolves none of the names in wsrep_cluster_address: one.invalid, two.invalid" in told
        ran = console.run("rolling-restart", *SHORT, "--override", "TEMP-SPACE" + WORD, nodes="s2")
        assert ran.code == 3, ran
        view = console.assert_ended(RunState.UNDONE, ran)
        stop = next(step for step in view.steps if step.step.step_id == "s2:stop-s2")
        assert stop.state is StepState.FAILED
        assert "It did not begin: 0.00 GB are free at /tmp on s2" in stop.error
    assert {name: database.pid(steer.spec, name) for name in members(steer)} == running
    whole.assert_as_before()


@pytest.mark.long
@pytest.mark.slow
def test_that_a_server_that_hangs_on_stop_says_what_holds_it_and_the_run_goes_on_when_it_ends(
    steer: Estate, console: Console, whole: Whole
) -> None:
    with Writer(steer, ("s1", "s2")) as writer:
        words = ("run", "rolling-restart", "--yes", "--input", "nodes=s3", *SHORT)
        with at_terminal(console, *words) as terminal:
            terminal.running(console).wait_for_step("s3:drain-s3")
            hangs_in_its_stop(steer, "s3")
            try:
                at = terminal.wait_for("stopped by a signal: it can end only after kill -CONT")
                at = terminal.wait_for("mariadb.service is stopping (stop-sigterm since ", after=at)
                terminal.wait_for("systemd gives it 15min", after=at)
            finally:
                steer.resume("s3")
            assert terminal.end() == 0, terminal.said[-4000:]
        console.assert_ended(RunState.DONE)
        writer.assert_nothing_lost(members(steer))
    whole.assert_as_before()


@pytest.mark.long
@pytest.mark.slow
def test_that_a_console_asleep_for_hours_in_its_waits_goes_on_when_it_wakes(
    steer: Estate, console: Console, whole: Whole, tmp_path: Path
) -> None:
    """Asleep while it watches a queue, and before that while the server starts: both have limits shorter than that."""
    clocks = tmp_path / "clocks"
    shift_to(clocks, 0, 0)
    words = ("run", "rolling-restart", "--yes", "--input", "nodes=s3", "--input", "soak=5 s", *SHORT[:2], *SHORT[4:])
    with Writer(steer, ("s1", "s2")) as writer:
        with console.running(*words, clocks=clocks) as running:
            running.wait_for_step("s3:start-s3", "proving")
            running.sleeps(clocks, 3.0)
            running.wait_for_step("s3:settle-s3")
            time.sleep(1.5)
            running.sleeps(clocks, 9.0)
            ran = running.end()
        assert ran.code == 0, ran
        assert "This console was asleep for" in ran.out
        console.assert_ended(RunState.DONE, ran)
        writer.assert_nothing_lost(members(steer))
    whole.assert_as_before()


@pytest.mark.long
def test_that_a_workstation_whose_clock_is_put_back_in_a_run_proves_the_same(
    steer: Estate, console: Console, whole: Whole, tmp_path: Path
) -> None:
    clocks = tmp_path / "clocks"
    shift_to(clocks, 0, 0)
    words = ("run", "rolling-restart", "--yes", "--input", "nodes=s3", *SHORT)
    with console.running(*words, clocks=clocks) as running:
        running.wait_for_step("s3:start-s3", "proving")
        shift_to(clocks, -3600, 0)
        ran = running.end()
    assert ran.code == 0, ran
    console.assert_ended(RunState.DONE, ran)
    report = console("report", console.runs()[0])
    assert report.code == 0, report
    whole.assert_as_before()
