"""rolling-restart on real servers: all nodes, one option on all of them, again, and taken back; no row is lost."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from services.procedures.plan.checks import Check, Verdict
from services.procedures.plan.run_model import RunState, StepState
from tests.lab.estate.estate import Estate
from tests.lab.estate.servers import database
from tests.lab.estate.waiting import while_asserts
from tests.lab.procedures.console.secret_search import SecretSearch
from tests.lab.procedures.console.steering import KILLED, Console
from tests.lab.procedures.states.writer import Writer
from tests.lab.procedures.whole import Whole, members

QUICK: dict[str, object] = {"pause": "1 s", "soak": "3 s", "downtime": "20 s"}
OPTION: dict[str, object] = {**QUICK, "option": "innodb_io_capacity", "value": "444"}


def _pids(estate: Estate) -> dict[str, int | None]:
    return {name: database.pid(estate.spec, name) for name in members(estate)}


def _capacity(estate: Estate) -> set[str]:
    return {estate.sql(name, "SELECT @@GLOBAL.innodb_io_capacity")[0][0] for name in members(estate)}


@pytest.mark.slow
def test_that_an_option_is_changed_on_every_node_one_at_a_time_by_ist_and_no_row_is_lost(
    steer: Estate, console: Console, whole: Whole, tmp_path: Path
) -> None:
    before = _pids(steer)
    with SecretSearch(steer, tmp_path, steer.client_dir) as search, Writer(steer, members(steer)) as writer:
        ran = console.run("rolling-restart", **OPTION)
        assert ran.code == 0, ran
        view = console.assert_ended(RunState.DONE, ran)
        after = _pids(steer)
        console.assert_nothing_to_do("rolling-restart", **OPTION)
        assert _pids(steer) == after
        writer.assert_nothing_lost()
        search.assert_none(ran.out, ran.err)
    assert all(after[name] not in {None, before[name]} for name in before)
    assert _capacity(steer) == {"444"}
    transfers = [s for s in view.steps if s.step.step_id.split(":")[-1].startswith("transfer-")]
    assert len(transfers) == 3
    assert all(s.state is StepState.DONE and "by IST" in " ".join(s.evidence) for s in transfers)
    assert [s.step.host for s in transfers][-1] == _writer_of(view.checks)


def _writer_of(checks: tuple[Check, ...]) -> str:
    order = next(check for check in checks if check.code == "ORDER")
    assert order.verdict is Verdict.PASS
    return order.evidence.split(" (")[0].split(", ")[-1]


@pytest.mark.long
@pytest.mark.slow
def test_that_a_changed_option_is_taken_back_with_its_file_and_the_running_server(
    steer: Estate, console: Console, whole: Whole
) -> None:
    with Writer(steer, members(steer)) as writer:
        killed = console.killed_run("s3:whole=acting", "rolling-restart", **{**OPTION, "nodes": "s3"})
        assert killed.code == KILLED, killed
        assert _capacity(steer) == {"200", "444"}
        undone = console("undo", console.runs()[0], "--yes")
        assert undone.code == 0, undone
        console.assert_ended(RunState.UNDONE, undone)
        writer.assert_nothing_lost()
    assert _capacity(steer) == {"200"}
    whole.assert_as_before()


@pytest.mark.long
@pytest.mark.slow
def test_that_a_node_is_restarted_desynced_and_without_a_drain(steer: Estate, console: Console, whole: Whole) -> None:
    before = _pids(steer)
    with Writer(steer, members(steer)) as writer:
        ran = console.run("rolling-restart", **QUICK, nodes="s2", desync="yes", drain="none")
        assert ran.code == 0, ran
        console.assert_ended(RunState.DONE, ran)
        writer.assert_nothing_lost()
    assert [name for name, pid in _pids(steer).items() if pid != before[name]] == ["s2"]
    console.assert_nothing_to_do("rolling-restart", **QUICK, nodes="s2", older_than="1 h")
    whole.assert_as_before()


def _sleeps(estate: Estate, host: str) -> None:
    assert any("SLEEP(300)" in row[-2:][0] for row in estate.sql(host, "SHOW PROCESSLIST")), (
        "the statement is not there"
    )


@pytest.mark.long
@pytest.mark.slow
def test_that_a_session_that_does_not_end_is_closed_only_on_request(
    steer: Estate, console: Console, whole: Whole
) -> None:
    before = _pids(steer)
    with ThreadPoolExecutor(1) as pool:
        # Longer than any run: that it ended within the test says that it was closed.
        working = pool.submit(steer.sql, "s2", "SELECT SLEEP(300)", limit_s=320.0)
        while_asserts(lambda: _sleeps(steer, "s2"), limit_s=30)
        ran = console.run("rolling-restart", **QUICK, nodes="s2", drain_limit="5 s", cut="yes")
        assert ran.code == 0, ran
        assert working.exception(timeout=30) is not None
    view = console.assert_ended(RunState.DONE, ran)
    assert next(s for s in view.steps if s.step.step_id == "s2:cut-s2").state is StepState.DONE
    assert [name for name, pid in _pids(steer).items() if pid != before[name]] == ["s2"]
    whole.assert_as_before()
