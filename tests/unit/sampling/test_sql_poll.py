"""What one second reads over SQL, on a scripted session: which statements are sent, never what a server answers."""

from __future__ import annotations

from typing import Any, cast

import pytest

from services.connections.ports import ObserverSession, Rows
from services.connections.reads import statements
from services.errors import QueryFailed
from services.facts.dialect import PROCESSES, VARIABLES
from services.sampling.settings import WatchSettings
from services.sampling.sql_poll import SqlPoll, SqlResult, poll_sql


class ScriptedClock:
    """Stands still until the test moves it."""

    def __init__(self) -> None:
        self.at = 1000.0

    def wall(self) -> float:
        return self.at

    def monotonic(self) -> float:
        return self.at


class ScriptedSession:
    """A standalone server; counts how often its process list was read."""

    def __init__(self) -> None:
        self.running = "1"
        self.lists = 0
        self.refuses = False
        self.variables = (("version", "10.11.6-MariaDB"), ("log_bin", "OFF"))
        self.channels = Rows((), ())
        self.asked: list[Any] = []

    def status(self, *, limit_s: float) -> dict[str, str]:
        del limit_s
        return {"Uptime": "100", "Threads_running": self.running, "Threads_connected": "40"}

    def query(self, read: Any, *, limit_s: float) -> Rows:
        del limit_s
        self.asked.append(read)
        if read is VARIABLES:
            return Rows(("Variable_name", "Value"), self.variables)
        if read is PROCESSES:
            self.lists += 1
            if self.refuses:
                raise QueryFailed("Access denied; you need the PROCESS privilege")
            return Rows(("Command", "State", "Info"), (("Query", "Commit", "COMMIT"), ("Sleep", "", None)))
        return self.channels if read in {statements.REPLICA, statements.ALL_SLAVES} else Rows((), ())


class Server:
    """Polls a scripted session once a second."""

    def __init__(self) -> None:
        self.session, self.clock, self.poll = ScriptedSession(), ScriptedClock(), SqlPoll()

    def second(self) -> SqlResult:
        self.clock.at += 1.0
        session = cast("ObserverSession", self.session)
        return poll_sql(session, self.poll, cast("Any", self.clock), WatchSettings())


@pytest.fixture
def server() -> Server:
    made = Server()
    made.second()  # the first one lists who is connected
    return made


def test_that_no_process_list_is_read_while_no_thread_but_ours_runs(server: Server) -> None:
    read = server.session.lists
    found = [server.second() for _ in range(5)]
    assert server.session.lists == read
    assert [one.console["console.threads_in_commit"] for one in found] == [0.0] * 5


def test_that_threads_in_their_commit_are_counted_as_soon_as_another_thread_runs(server: Server) -> None:
    read, server.session.running = server.session.lists, "2"
    assert server.second().console["console.threads_in_commit"] == 1.0
    assert server.session.lists == read + 1


def test_that_the_list_is_read_for_itself_all_the_same(server: Server) -> None:
    found = [server.second() for _ in range(12)]
    assert [one for one in found if one.processes is not None]


def test_that_nothing_is_said_of_commits_where_the_list_may_not_be_seen() -> None:
    server = Server()
    server.session.refuses = True
    found = [server.second() for _ in range(70)]
    assert all("console.threads_in_commit" not in one.console for one in found)
    assert server.session.lists == 2


@pytest.mark.parametrize(
    ("version", "errno", "asked"), [("8.4.3", 1062, True), ("8.4.3", 0, False), ("10.11.6-MariaDB", 1062, False)]
)
def test_that_the_workers_are_asked_why_only_where_an_applier_stopped_on_an_error(
    version: str, errno: int, asked: bool
) -> None:
    made = Server()
    made.session.variables = (("version", version), ("server_uuid", "x"))
    columns = ("Source_Host", "Replica_IO_Running", "Replica_SQL_Running", "Last_SQL_Errno")
    made.session.channels = Rows(columns, (("db1", "Yes", "No", errno),))
    made.second()
    assert (statements.APPLIER_ERRORS in made.session.asked) is asked


def test_that_the_tables_of_a_group_are_read_each_second_and_only_where_one_is_configured() -> None:
    reads = {statements.GROUP_MEMBERS, statements.GROUP_STATS}
    made = Server()
    made.second()
    assert not reads & set(made.session.asked)
    made = Server()
    made.session.variables = (("version", "8.4.3"), ("log_bin", "OFF"), ("group_replication_group_name", "a"))
    for _ in range(3):
        made.session.asked.clear()
        assert made.second().group == (Rows((), ()), Rows((), ()))
        assert reads <= set(made.session.asked)
