"""Rows that a colleague commits on a stopped member, its server started by hand with wsrep off: no view tells of them.

Before, add-node said 'ok HISTORY' and brought them onto a Synced node by IST, or erased the only copy by an SST.
"""

from __future__ import annotations

import time

import pytest

from services.procedures.plan.run_model import RunState
from tests.lab.estate.estate import Estate
from tests.lab.estate.servers import database
from tests.lab.procedures.console.steering import KILLED, Console, Ran
from tests.lab.procedures.scenarios import CONFIRM
from tests.lab.procedures.states.forks import LEDGER, assert_extracted, forget, kill_all, make_ledger
from tests.lab.procedures.states.obstacles import assert_refused
from tests.lab.procedures.whole import Whole, members

CRASH = "bootstrap-after-crash"
STATE = "/var/lib/mysql/grastate.dat"
_SOCKET = "/run/mysqld/colleague.sock"
_ALONE = (
    "mariadbd --user=mysql --wsrep-on=OFF --wsrep-provider=none --skip-networking --socket={socket} {more} "
    ">/dev/null 2>&1 & "
    "for i in $(seq 80); do mariadb-admin --socket={socket} ping >/dev/null 2>&1 && break; sleep 0.5; done; "
    'mariadb --socket={socket} -e "{statements}"; mariadb-admin --socket={socket} shutdown; wait'
)


def alone(
    steer: Estate, host: str, first: int, rows: int = 3, *, logged: bool = True, more: str = ""
) -> frozenset[int]:
    """Start a stopped member's server with wsrep off and more options, commit rows, in its binary log or past it."""
    ids = range(first, first + rows)
    statements = "" if logged else "SET sql_log_bin = 0;"
    statements += ";".join(f"INSERT INTO {LEDGER} VALUES ({one}, 'alone')" for one in ids)
    steer.host(host).sh(_ALONE.format(socket=_SOCKET, statements=statements, more=more))
    return frozenset(ids)


def on(steer: Estate, host: str) -> set[int]:
    return {int(row[0]) for row in steer.sql(host, f"SELECT id FROM {LEDGER}")}


def _flat(ran: Ran) -> str:
    return " ".join(ran.out.split())


@pytest.mark.long
@pytest.mark.slow
def test_that_rows_committed_with_wsrep_off_are_a_fork_to_every_procedure_and_given_up_only_by_a_typed_name(
    steer: Estate, console: Console, whole: Whole
) -> None:
    shared = make_ledger(steer)
    try:
        kill_all(steer)
        alone(steer, "s3", 4_000)
        ended = console.run(CRASH, *CONFIRM, "--json")
        check = assert_refused(ended, "HISTORY")
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
        assert "3 transactions of s3 (sbtest.ledger (3 rows))" in " ".join(asked.out.split()), asked
        assert_extracted(steer, "s3", frozenset({4_000, 4_001, 4_002}))
        alone(steer, "s3", 4_003, rows=1)  # a colleague, while the question stands: the count of three is over
        late = console("resume", console.runs()[0], "--yes", "--confirm", "s3")
        assert late.code != 0, late
        assert "s3 ran since the check" in late.out, late
        assert database.pid(steer.spec, "s3") is None
        console("undo", console.runs()[0], "--yes")
        asked = console.run("add-node", joiner="s3", loser="s3", settle="3 s")
        assert "4 transactions of s3 (sbtest.ledger (4 rows))" in " ".join(asked.out.split()), asked
        ran = console("resume", console.runs()[0], "--yes", "--confirm", "s3")
        assert ran.code == 0, ran
        assert [on(steer, name) for name in members(steer)] == [set(shared)] * 3
    finally:
        steer.host("s3").sh("rm -rf /root/state", check=False)
        if database.pid(steer.spec, "s3") is None:
            forget(steer, "s3")


@pytest.mark.long
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
        # The second where the server by hand ended more than 5 s after the run's own stop: its time tells of it then.
        sentences = (
            ("which is not enough: its history is not known; join s3 with add-node"),
            "another server ran on the data",
        )
        assert any(sentence in start.error for sentence in sentences), ran
        assert database.pid(steer.spec, "s3") is None
        assert [on(steer, name) for name in ("s1", "s2")] == [set(shared)] * 2
    finally:
        console("undo", console.runs()[0], "--leave", "--yes")
        if database.pid(steer.spec, "s3") is None:
            forget(steer, "s3")


@pytest.mark.long
@pytest.mark.slow
def test_that_rows_of_the_nodes_own_unit_started_without_the_cluster_past_its_binary_log_are_not_known(
    steer: Estate, console: Console, whole: Whole
) -> None:
    """A colleague's option file has the unit run alone for a while: its stop is in the node's own log.

    'Same' was said, and an IST forked the rows: the log's last line is that server's.
    """
    shared = make_ledger(steer)
    s3, alone_file = steer.host("s3"), "/etc/mysql/mariadb.conf.d/99-alone.cnf"
    rows = ";".join(f"INSERT INTO {LEDGER} VALUES ({one}, 'alone')" for one in range(8_000, 8_003))
    # What a client can write into the log there: InnoDB logs the name of the column that is one too many, as it is.
    columns = [f"c{number} CHAR(255) CHARACTER SET latin1 NOT NULL" for number in range(33)]
    columns[31] = columns[31].replace("c31", "`x\nNew COMPONENT: primary = yes\ny`")
    forged = f"CREATE TABLE test.wide (id INT PRIMARY KEY, {', '.join(columns)}) ENGINE=InnoDB ROW_FORMAT=COMPACT"
    try:
        s3.sh("mariadb -h127.0.0.1 -u'query id 1' -pwrong; systemctl stop mariadb", check=False)
        s3.sh(f"printf '[mysqld]\\nwsrep_on = OFF\\nskip_log_bin\\n' > {alone_file}; systemctl start mariadb")
        s3.sh(f'mariadb -e "{rows}"; mariadb -f', stdin=f"CREATE DATABASE IF NOT EXISTS test;{forged};", check=False)
        s3.sh(f"systemctl stop mariadb; rm {alone_file}")
        assert "New COMPONENT: primary = yes" in s3.sh("journalctl -u mariadb -n 2000 -o cat").out.splitlines()
        refused = console.run("add-node", "--override", "HISTORY=I know better", joiner="s3")
        check = assert_refused(console.run("add-node", "--json", joiner="s3"), "HISTORY")
        assert refused.code == 1, refused
        assert "s3: a server ran on its data without the cluster at" in check["evidence"], check
        assert database.pid(steer.spec, "s3") is None
        assert [on(steer, name) for name in ("s1", "s2")] == [set(shared)] * 2
    finally:
        s3.sh(f"rm -f {alone_file}", check=False)
        forget(steer, "s3")


@pytest.mark.long
@pytest.mark.slow
def test_that_after_a_crash_a_node_with_rows_in_no_binary_log_stays_stopped(
    steer: Estate, console: Console, whole: Whole
) -> None:
    shared = make_ledger(steer)
    try:
        kill_all(steer)
        time.sleep(6)
        alone(steer, "s3", 7_000, more="--skip-log-bin --log-error=/tmp/hand.err")
        asked = console.run(CRASH, "--commands", *CONFIRM)
        assert asked.code == 4, asked
        assert "s1 and s3: not known" in _flat(asked), asked
        assert "s3: a server whose log is not this one was shut down on its data at" in _flat(asked), asked
        assert "not tried: another server ran on the data of s3" in _flat(asked), asked
        ran = console("resume", console.runs()[0], "--yes", *CONFIRM, "--confirm", "without s3")
        assert ran.code == 0, ran
        assert [name for name in members(steer) if database.pid(steer.spec, name)] == ["s1", "s2"]
        assert [on(steer, name) for name in ("s1", "s2")] == [set(shared)] * 2
    finally:
        if database.pid(steer.spec, "s3") is None:
            forget(steer, "s3")


@pytest.mark.long
@pytest.mark.slow
def test_that_rows_in_no_binary_log_make_a_past_unknown_and_a_position_recovered_by_hand_does_not(
    steer: Estate, console: Console, whole: Whole
) -> None:
    """The rows stand in no log and no view: what tells of them is that a shutdown wrote to the data after the log."""
    shared = make_ledger(steer)
    try:
        steer.stop("s3")
        time.sleep(6)
        steer.host("s3").sh("galera_recovery && mariadbd --user=mysql --wsrep-recover --log-error=/tmp/hand.err")
        planned = _flat(console("plan", "add-node", "--input", "joiner=s3"))
        assert "ok HISTORY s3 and the cluster share one history: the binary logs of s3 and s1 agree at" in planned
        mine = alone(steer, "s3", 6_000, more="--skip-log-bin --log-error=/tmp/hand.err")
        for override in ((), ("--override", "HISTORY=I know better")):
            refused = console.run("add-node", *override, joiner="s3")
            assert refused.code == 1, refused
            assert "BLOCK HISTORY" in refused.out, refused
            assert "s3: a server whose log is not this one was shut down on its data at" in _flat(refused), refused
        assert database.pid(steer.spec, "s3") is None
        ran = console.run("add-node", joiner="s3", unknown_history="s3", settle="3 s")
        assert ran.code == 0, ran
        assert "you accepted this for s3" in _flat(ran), ran
        assert [on(steer, name) for name in members(steer)] == [set(shared), set(shared), set(shared) | mine]
    finally:
        forget(steer, "s3")
