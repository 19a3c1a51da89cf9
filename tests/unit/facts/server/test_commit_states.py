"""Threads in their commit, told by the whole names of states and never by a word in them."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.connections.ports import Rows
from services.facts.server.sessions import Commits, commits_of, in_commit
from tests.examples import examples


def row(state: str, info: str = "UPDATE stock SET n = n - 1", command: str = "Query") -> dict[str, str]:
    return {"Id": "812", "User": "shop", "Command": command, "Time": "3", "State": state, "Info": info}


@pytest.mark.parametrize(
    "state",
    [
        "waiting for handler commit",  # MySQL 8.0 and newer, Percona Server
        "Waiting for semi-sync ACK from replica",  # 8.0.26 and newer
        "Waiting for semi-sync ACK from slave",  # before; MariaDB
        "Waiting for commit lock",
        "Commit",  # MariaDB 10.11
        "Commit implicit",
        "wsrep: replicating and certifying write set(-1)",  # PXC 8.0
        "wsrep: preparing to commit write set(38812)",
        "wsrep: write set replicated and certified (38812)",
        "wsrep: committing write set (38812)",
        "wsrep: initiating pre-commit for write set (38812)",  # PXC 5.7
        "wsrep: pre-commit/certification passed (38812)",
        "wsrep: replicating commit (-1)",
        "wsrep in pre-commit stage",  # Galera 3
    ],
)
def test_that_a_thread_in_a_state_of_its_commit_counts(state: str) -> None:
    assert in_commit(row(state))
    assert not in_commit(row(state, command="Sleep"))
    assert in_commit({**row(state, command="Sleep"), "User": "system user"})
    assert in_commit({**row(state, command="Slave_worker"), "User": "system user"})


@pytest.mark.parametrize(
    "state",
    [
        "Waiting for table flush",  # FLUSH TABLES and ANALYZE TABLE beside a long SELECT
        "Flushing tables",
        "Waiting for GTID to be committed",  # WAIT_FOR_EXECUTED_GTID_SET
        "committing alter table to storage engine",
        "Committing alter table to storage engine",
        "Flushing relay log and source info repository.",
        "Flushing relay-log info file.",
        "Waiting for preceding transaction to commit",  # an applier behind a long transaction
        "Waiting for prior transaction to commit",
        "Waiting for prior transaction to start commit",
        "Waiting for dependent transaction to commit",
        "Waiting for semi-sync replica connection",
        "Reading semi-sync ACK from replica",
        "Committing events to binlog",  # NDB's own thread
        "wsrep applier committed",  # an applier that waits for work
        "wsrep: committed write set (38812)",
        "wsrep: applied write set (38812)",
        "wsrep applier idle",
        "Waiting for certification committee",
        "Waiting for query cache lock",
        "",
    ],
)
def test_that_a_word_in_a_state_makes_no_commit_of_it(state: str) -> None:
    assert not in_commit(row(state))


@pytest.mark.parametrize(
    "statement",
    [
        "COMMIT", " commit", "COMMIT;", "COMMIT WORK", "commit and chain", "/* app:cart */ COMMIT",
        "/* a */ /* b */commit",
        "-- of the pool\nCOMMIT", "# of the pool\nCOMMIT /* x */", "XA COMMIT 'gtrid-1'", "/* C*mm */\n\tCOMMIT",
    ],
)  # fmt: skip
def test_that_the_statement_itself_counts_behind_comments_too(statement: str) -> None:
    assert in_commit(row("init", statement))
    assert in_commit(row("starting", statement, "Execute"))


@pytest.mark.parametrize(
    "statement",
    [
        "",
        "SELECT 'COMMIT'",
        "/* COMMIT */ SELECT 1",
        "COMMITMENTS",
        "committed_orders",
        "-- COMMIT",
        "/* COMMIT",
        "NULL",
    ],
)
def test_that_the_word_elsewhere_does_not(statement: str) -> None:
    assert not in_commit(row("executing", statement))


@given(st.text(max_size=20), st.sampled_from(["commit", "flush", "semi-sync", "wsrep certif"]), st.text(max_size=20))
@settings(max_examples=examples(300), deadline=None)
def test_that_no_unknown_state_becomes_a_commit(before: str, word: str, after: str) -> None:
    """A name that a newer server brings is no commit until somebody has read what it means."""
    state = f"{before}{word}{after}"
    if state.strip().lower() != "commit" and not state.strip().endswith(")"):
        assert not in_commit(row(state))


def test_that_a_statement_of_open_comments_takes_no_time() -> None:
    assert not in_commit(row("executing", "/*" * 50_000))
    assert not in_commit(row("executing", "/* a */" * 20_000 + "x"))


Thread = Mapping[str, str | None]
LISTS: dict[str, list[Thread]] = {
    # MySQL 8.0, a replica whose four workers commit while one client reads: Threads_running is 2 (it counts no worker).
    "MySQL": [
        *({"User": "system user", "Command": "Query", "State": "waiting for handler commit", "Info": None},) * 4,
        {"User": "shop", "Command": "Query", "State": "executing", "Info": "SELECT 1"},
        {"User": "repl", "Command": "Binlog Dump GTID", "State": "Source has sent all binlog to replica", "Info": None},
    ],
    # MariaDB 10.11, the same: Threads_running is 7 and more (it counts every thread that does not sleep).
    "MariaDB": [
        *({"User": "system user", "Command": "Slave_worker", "State": "Commit", "Info": None},) * 4,
        {"User": "system user", "Command": "Slave_SQL", "State": "Slave has read all relay log", "Info": None},
        {"User": "shop", "Command": "Query", "State": "Sending data", "Info": "SELECT 1"},
    ],
}
ASKING: Thread = {"User": "observer", "Command": "Query", "State": "starting", "Info": "SHOW FULL PROCESSLIST"}


def listed(*threads: Thread) -> Rows:
    columns = ("User", "Command", "State", "Info")
    return Rows(columns, tuple(tuple(one[name] for name in columns) for one in threads))


@pytest.mark.parametrize("product", LISTS)
def test_that_appliers_in_their_commit_are_no_share_of_the_clients_that_run(product: str) -> None:
    """It was 100 %, red, by appliers over Threads_running on MySQL, and diluted by them on MariaDB."""
    assert commits_of(listed(*LISTS[product], ASKING)) == Commits(threads=4, clients=0, running=1)


def test_that_clients_in_their_commit_are_a_share_of_those_that_run() -> None:
    sleeping: Thread = {"User": "shop", "Command": "Sleep", "State": "", "Info": None}
    clients: list[Thread] = [row("waiting for handler commit"), row("executing"), sleeping]
    assert commits_of(listed(*LISTS["MySQL"], *clients, ASKING)) == Commits(threads=5, clients=1, running=3)
    assert commits_of(listed(ASKING)) == Commits()
    assert commits_of(listed()) == Commits()
