"""Rows that a colleague commits on a stopped member, its server started by hand with wsrep off: no view tells of them.

Before, add-node said 'ok HISTORY' and brought them onto a Synced node by IST, or erased the only copy by an SST.
"""

from __future__ import annotations

import pytest

from services.procedures.run_model import RunState
from tests.lab.estate import database
from tests.lab.estate.estate import Estate
from tests.lab.procedures.forks import LEDGER, assert_extracted, forget, kill_all, make_ledger
from tests.lab.procedures.obstacles import assert_refused
from tests.lab.procedures.scenarios import CONFIRM
from tests.lab.procedures.steering import KILLED, Console
from tests.lab.procedures.whole import Whole, members

CRASH = "bootstrap-after-crash"
STATE = "/var/lib/mysql/grastate.dat"
_SOCKET = "/run/mysqld/colleague.sock"
_ALONE = (
    "mariadbd --user=mysql --wsrep-on=OFF --wsrep-provider=none --skip-networking --socket={socket} >/dev/null 2>&1 & "
    "for i in $(seq 80); do mariadb-admin --socket={socket} ping >/dev/null 2>&1 && break; sleep 0.5; done; "
    'mariadb --socket={socket} -e "{statements}"; mariadb-admin --socket={socket} shutdown; wait'
)


def alone(steer: Estate, host: str, first: int, rows: int = 3, *, logged: bool = True) -> frozenset[int]:
    """Start a stopped member's server with wsrep off, commit rows, in its binary log or past it, shut it down."""
    ids = range(first, first + rows)
    statements = "" if logged else "SET sql_log_bin = 0;"
    statements += ";".join(f"INSERT INTO {LEDGER} VALUES ({one}, 'alone')" for one in ids)
    steer.host(host).sh(_ALONE.format(socket=_SOCKET, statements=statements))
    return frozenset(ids)


def on(steer: Estate, host: str) -> set[int]:
    return {int(row[0]) for row in steer.sql(host, f"SELECT id FROM {LEDGER}")}


@pytest.mark.slow
def test_that_rows_committed_with_wsrep_off_are_a_fork_to_every_procedure_and_given_up_only_by_a_typed_name(
    steer: Estate, console: Console, whole: Whole
) -> None:
    shared = make_ledger(steer)
    try:
        kill_all(steer)
        alone(steer, "s3", 4_000)
        told = console.run(CRASH, *CONFIRM, "--json")
        check = assert_refused(told, "HISTORY")
        assert "3 transactions or more written with wsrep off" in check["evidence"], check
        ran = console.run(CRASH, *CONFIRM, "--confirm", "lose 3 of s3", bootstrap="s1")
        console.assert_ended(RunState.DONE, ran)
        assert [name for name in members(steer) if database.pid(steer.spec, name)] == ["s1", "s2"]

        steer.host("s3").sh(f"cp -a {STATE} /root/state")
        for break_it in (f"rm {STATE}", f"cp -a /root/state {STATE}"):
            steer.host("s3").sh(break_it)
            refused = console.run("add-node", "--override", "HISTORY=I know better", joiner="s3")
            assert refused.code == 1, refused
            assert "BLOCK HISTORY" in refused.out, refused
        asked = console.run("add-node", joiner="s3", loser="s3", settle="3 s")
        assert asked.code == 4, asked
        assert "3 transactions of s3 (sbtest.ledger (3 rows))" in asked.out, asked
        assert_extracted(steer, "s3", frozenset({4_000, 4_001, 4_002}))
        alone(steer, "s3", 4_003, rows=1)  # a colleague, while the question stands: the count of three is over
        late = console("resume", console.runs()[0], "--yes", "--confirm", "s3")
        assert late.code != 0, late
        assert "s3 ran since it was looked at" in late.out, late
        assert database.pid(steer.spec, "s3") is None
        console("undo", console.runs()[0], "--yes")
        asked = console.run("add-node", joiner="s3", loser="s3", settle="3 s")
        assert "4 transactions of s3 (sbtest.ledger (4 rows))" in asked.out, asked
        ran = console("resume", console.runs()[0], "--yes", "--confirm", "s3")
        assert ran.code == 0, ran
        assert [on(steer, name) for name in members(steer)] == [set(shared)] * 3
    finally:
        steer.host("s3").sh("rm -rf /var/lib/pilothouse/forks /root/state", check=False)
        if database.pid(steer.spec, "s3") is None:
            forget(steer, "s3")


@pytest.mark.slow
def test_that_a_node_on_which_a_colleague_ran_a_server_while_it_was_down_is_not_started(
    steer: Estate, console: Console, whole: Whole
) -> None:
    """grastate.dat stays as it was, and no log has the rows: 'done' was said, and they stood on s3 alone, Synced."""
    shared = make_ledger(steer)
    try:
        killed = console.killed_run(
            "s3:work=acting", "rolling-restart", nodes="s3", work="yes", pause="1 s", soak="3 s", downtime="20 s"
        )
        assert killed.code == KILLED, killed
        alone(steer, "s3", 5_000, logged=False)
        ran = console("resume", console.runs()[0], "--yes", "--answer", "yes")
        assert ran.code != 0, ran
        start = next(s for s in console.view().steps if s.step.step_id.endswith("start-s3"))
        assert "a server ran on s3 since" in start.error, ran
        assert "which is not enough: its past is not known; join s3 with add-node" in start.error, ran
        assert database.pid(steer.spec, "s3") is None
        assert [on(steer, name) for name in ("s1", "s2")] == [set(shared)] * 2
    finally:
        console("undo", console.runs()[0], "--leave", "--yes")
        if database.pid(steer.spec, "s3") is None:
            forget(steer, "s3")
