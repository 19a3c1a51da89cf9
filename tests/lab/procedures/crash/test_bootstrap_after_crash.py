"""bootstrap-after-crash on real servers: all killed, one behind; the most advanced one is found, no row is lost."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from services.procedures.plan.run_model import RunState, RunView
from tests.lab.estate.estate import Estate
from tests.lab.estate.servers import database
from tests.lab.estate.waiting import while_asserts
from tests.lab.procedures.console.steering import Console, Ran
from tests.lab.procedures.scenarios import CONFIRM, CRASH
from tests.lab.procedures.states.writer import Writer
from tests.lab.procedures.whole import Whole, members


def _goes_on(writer: Writer, rows: int) -> None:
    assert len(writer.acknowledged) > rows, (len(writer.acknowledged), writer.refused)


def _assert_the_second_part_told_its_checks(console: Console, view: RunView, ran: Ran) -> None:
    """Nobody was asked to approve the rest of the plan: its checks are in the output, and in the document."""
    part = ran.out[ran.out.index(f"Run {view.run_id} started.") :]
    assert view.fresh_checks
    for check in view.fresh_checks:
        assert check.code in part, (check.code, part)
    document = console("resume", view.run_id, "--yes", "--json").document()
    assert {check["code"] for check in document["checks"]} >= {check.code for check in view.fresh_checks}


@pytest.mark.slow
def test_that_the_most_advanced_node_is_bootstrapped_after_all_were_killed_and_no_row_is_lost(
    steer: Estate, console: Console, whole: Whole
) -> None:
    with Writer(steer, members(steer)) as writer:
        time.sleep(1)
        steer.kill9("s1")  # it stays behind: the others go on without it
        seen = len(writer.acknowledged)
        while_asserts(lambda: _goes_on(writer, seen + 40), limit_s=60)
        steer.kill9("s2")
        steer.kill9("s3")
        ran = console.run("bootstrap-after-crash", *CONFIRM)
        assert ran.code == 0, ran
        view = console.assert_ended(RunState.DONE, ran)
        _assert_the_second_part_told_its_checks(console, view, ran)
        kept = dict(view.kept)
        chosen = view.plan.step("bootstrap").host
        seqno = {name: int(kept[f"recovered-{name}"].rsplit(":", 1)[1]) for name in members(steer)}
        assert seqno[chosen] == max(seqno.values())
        assert seqno["s1"] < seqno[chosen]
        time.sleep(2)
        writer.assert_nothing_lost()
    console.assert_nothing_to_do("bootstrap-after-crash")
    whole.assert_as_before()


@pytest.mark.long
@pytest.mark.slow
def test_that_nodes_that_were_all_killed_at_once_form_their_last_cluster_again_and_nobody_is_bootstrapped(
    steer: Estate, console: Console, whole: Whole
) -> None:
    with Writer(steer, members(steer)) as writer:
        time.sleep(2)
        with ThreadPoolExecutor(3) as pool:
            tuple(pool.map(steer.kill9, members(steer)))
        ran = console.run("bootstrap-after-crash")
        assert ran.code == 0, ran
        view = console.assert_ended(RunState.DONE, ran)
        order = [step.step_id for step in view.plan.steps]
        assert "formed" in order
        assert "bootstrap" not in order
        time.sleep(2)
        writer.assert_nothing_lost()
    whole.assert_as_before()


@pytest.mark.long
@pytest.mark.slow
def test_that_a_cluster_that_serves_again_is_not_taken_down_because_the_last_node_fails_to_join(
    steer: Estate, console: Console, whole: Whole
) -> None:
    with CRASH.situation(steer), console.running(*CRASH.words(), "--yes") as running:
        running.wait_for_step("start-s1")
        steer.kill9("s1")
        ran = running.end()
    assert ran.code == 4, ran
    rested = console.view()
    assert rested.state is RunState.FAILED, ran
    for name in ("s2", "s3"):
        assert steer.sql(name, "SHOW GLOBAL STATUS LIKE 'wsrep_cluster_status'")[0][1] == "Primary"
    assert any("s1" in sentence for sentence in console.open_obligations())
    resumed = console("resume", rested.run_id, "--yes", *CONFIRM)
    console.assert_ended(RunState.DONE, resumed)
    CRASH.assert_end(console)
    whole.assert_as_before()


@pytest.mark.slow
@pytest.mark.long
def test_that_a_seqno_that_innodb_contradicts_is_taken_out_of_the_state_file_before_a_node_starts_from_it(
    steer: Estate, console: Console, whole: Whole
) -> None:
    with Writer(steer, members(steer)) as writer:
        time.sleep(2)
    for name in members(steer):
        steer.stop(name)
    steer.host("s1").sh("sed -i 's/^seqno:.*/seqno: 3/' /var/lib/mysql/grastate.dat")
    ran = console.run("bootstrap-after-crash", *CONFIRM)
    assert ran.code == 0, ran
    view = console.assert_ended(RunState.DONE, ran)
    assert "stale-s1" in {step.step_id for step in view.plan.steps}, [step.step_id for step in view.plan.steps]
    writer.assert_nothing_lost(members(steer))
    whole.assert_as_before()


@pytest.mark.long
@pytest.mark.slow
def test_that_nodes_that_ran_while_a_question_stood_are_told_and_nobody_is_bootstrapped_by_their_old_positions(
    steer: Estate, console: Console
) -> None:
    for name in ("s2", "s3", "s1"):
        steer.stop(name)
    waits = console.run("bootstrap-after-crash")
    assert waits.code == 4, waits  # nobody has typed s1
    steer.start("s3", bootstrap=True)
    steer.start("s2")
    with Writer(steer, ("s2", "s3")) as writer:
        time.sleep(2)
    steer.stop("s2")
    steer.stop("s3")
    refused = console("resume", console.runs()[0], "--yes", *CONFIRM)
    assert refused.code != 0, refused
    assert "It did not begin: s2 ran since the check (" in " ".join(refused.out.split()), refused
    assert database.pid(steer.spec, "s1") is None
    steer.start("s3", bootstrap=True)
    steer.start("s2")
    writer.assert_nothing_lost()
