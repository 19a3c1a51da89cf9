"""rolling-restart behind a real HAProxy: clients go to the other nodes, and what was drained is never forgotten."""

from __future__ import annotations

from collections.abc import Iterator

import pymysql
import pytest

from services.procedures.plan.run_model import RunState
from tests.lab.estate.estate import Estate
from tests.lab.estate.servers import database
from tests.lab.procedures.console.steering import KILLED, Console
from tests.lab.procedures.states.balancer import BalancedWriter, Balancer, balanced, connect
from tests.lab.procedures.whole import Whole, members

QUICK: dict[str, object] = {"pause": "1 s", "soak": "3 s", "downtime": "20 s"}
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def haproxy(steer_estate: Estate, steer_before: Whole) -> Iterator[Balancer]:
    """HAProxy in front of s1, s2 and s3."""
    with balanced(steer_estate) as balancer:
        yield balancer


def _pids(estate: Estate) -> dict[str, int | None]:
    return {name: database.pid(estate.spec, name) for name in members(estate)}


def test_that_an_application_behind_haproxy_sees_no_error_while_every_node_restarts(
    steer: Estate, console: Console, whole: Whole, haproxy: Balancer
) -> None:
    before = _pids(steer)
    with BalancedWriter(steer) as writer:
        ran = console.run("rolling-restart", **QUICK)
        assert ran.code == 0, ran
        writer.assert_nothing_lost(members(steer))
        assert writer.errors == []
    view = console.assert_ended(RunState.DONE, ran)
    assert dict(view.plan.inputs)["drain"] == "haproxy"
    assert "new" in view.plan.hosts
    assert view.plan.voters == members(steer)
    assert all(pid not in {None, before[name]} for name, pid in _pids(steer).items())
    served = {row[0] for row in steer.sql("s1", "SELECT DISTINCT node FROM sbtest.acknowledged WHERE text='through'")}
    assert served == set(members(steer))
    haproxy.assert_all_up()
    whole.assert_as_before()


@pytest.mark.long
@pytest.mark.parametrize("when", ["s3:haproxy-drain-s3-1=acting", "s3:haproxy-ready-s3-1=acting"])
def test_that_nothing_is_left_drained_when_the_console_was_killed_and_the_run_resumed(
    steer: Estate, console: Console, whole: Whole, haproxy: Balancer, when: str
) -> None:
    with BalancedWriter(steer) as writer:
        ran = console.killed_run(when, "rolling-restart", **QUICK, nodes="s3")
        assert ran.code == KILLED, ran
        resumed = console("resume", console.runs()[0], "--yes")
        assert resumed.code == 0, resumed
        writer.assert_nothing_lost(members(steer))
        assert writer.errors == []
    console.assert_ended(RunState.DONE, resumed)
    haproxy.assert_all_up()
    whole.assert_as_before()


@pytest.mark.long
def test_that_an_undo_lets_haproxy_send_sessions_to_the_node_again(
    steer: Estate, console: Console, whole: Whole, haproxy: Balancer
) -> None:
    before = _pids(steer)
    ran = console.killed_run("s3:haproxy-empty-s3=acting", "rolling-restart", **QUICK, nodes="s3")
    assert ran.code == KILLED, ran
    assert haproxy.states()["s3"][0] == "DRAIN"
    assert any(key.endswith("galera/db-s3") for key in console.open_obligations())
    undone = console("undo", console.runs()[0], "--yes")
    assert undone.code == 0, undone
    console.assert_ended(RunState.UNDONE, undone)
    haproxy.assert_all_up()
    assert _pids(steer) == before
    whole.assert_as_before()


@pytest.mark.long
def test_that_an_option_is_taken_back_behind_haproxy_without_an_error_for_the_application(
    steer: Estate, console: Console, whole: Whole, haproxy: Balancer
) -> None:
    option: dict[str, object] = {**QUICK, "nodes": "s3", "option": "innodb_io_capacity", "value": "444"}
    with BalancedWriter(steer) as writer:
        ran = console.killed_run("s3:whole=acting", "rolling-restart", **option)
        assert ran.code == KILLED, ran
        haproxy.assert_all_up()
        undone = console("undo", console.runs()[0], "--yes")
        assert undone.code == 0, undone
        writer.assert_nothing_lost(members(steer))
        assert writer.errors == []
    console.assert_ended(RunState.UNDONE, undone)
    assert steer.sql("s3", "SELECT @@GLOBAL.innodb_io_capacity") == [["200"]]
    haproxy.assert_all_up()
    whole.assert_as_before()


@pytest.mark.long
def test_that_no_node_goes_down_when_haproxy_has_forgotten_that_it_is_drained(
    steer: Estate, console: Console, whole: Whole, haproxy: Balancer
) -> None:
    before = _pids(steer)
    ran = console.killed_run("s3:haproxy-empty-s3=done", "rolling-restart", **QUICK, nodes="s3")
    assert ran.code == KILLED, ran
    haproxy.forget()
    resumed = console("resume", console.runs()[0], "--yes")
    assert resumed.code != 0, resumed
    console.assert_ended(RunState.UNDONE, resumed)
    told = [(e.data or {}).get("state") for e in console.entries() if e.step_id == "s3:stop-s3"]
    assert "failed" in told, told
    assert "acting" not in told, told
    haproxy.assert_all_up()
    assert _pids(steer) == before
    whole.assert_as_before()


@pytest.mark.long
def test_that_a_session_that_stays_open_is_closed_only_by_a_run_that_may(
    steer: Estate, console: Console, whole: Whole, haproxy: Balancer
) -> None:
    inputs: dict[str, object] = {**QUICK, "nodes": "s3", "drain_limit": "3 s"}
    others = [connect(steer) for _ in members(steer)]  # one session a node, as HAProxy takes turns
    try:
        stopped = console.run("rolling-restart", **inputs)
        assert stopped.code != 0, stopped
        console.assert_ended(RunState.UNDONE, stopped)
        assert [_node_of(one) for one in others].count("") == 0
        ran = console.run("rolling-restart", **inputs, cut="yes")
        assert ran.code == 0, ran
        console.assert_ended(RunState.DONE, ran)
        assert [_node_of(one) for one in others].count("") == 1
    finally:
        for one in others:
            if one.open:
                one.close()
    haproxy.assert_all_up()
    whole.assert_as_before()


def _node_of(talk: pymysql.Connection[pymysql.cursors.Cursor]) -> str:
    """Return the node behind a session, '' when it was closed."""
    try:
        with talk.cursor() as cursor:
            cursor.execute("SELECT @@wsrep_node_name")
            return str((cursor.fetchone() or ("",))[0])
    except (pymysql.err.Error, OSError):
        return ""


@pytest.mark.parametrize(
    ("code", "names", "level"),
    [
        pytest.param("HAPROXY-NODES", ("s1", "s2"), "admin", marks=pytest.mark.long),
        pytest.param("HAPROXY-OTHERS", ("s3",), "admin", marks=pytest.mark.long),
        pytest.param("HAPROXY-LEVEL", ("s1", "s2", "s3"), "operator", marks=pytest.mark.long),
    ],
)
def test_that_a_haproxy_that_can_not_drain_the_node_stands_in_the_way(
    steer: Estate, console: Console, whole: Whole, haproxy: Balancer, code: str, names: tuple[str, ...], level: str
) -> None:
    haproxy.configure(*names, level=level)
    try:
        ran = console.run("rolling-restart", "--json", **QUICK, nodes="s3", drain="haproxy")
        assert ran.code == 1, ran
        assert [c["code"] for c in ran.document()["checks"] if c["verdict"] == "block"] == [code], ran
        assert console.runs() == ()
    finally:
        haproxy.configure(*members(steer))
    whole.assert_as_before()
