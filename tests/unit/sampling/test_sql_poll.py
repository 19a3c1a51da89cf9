"""What one second reads over SQL, on a scripted session: which statements are sent, never what a server answers."""

from __future__ import annotations

import itertools
from typing import Any, cast

import pytest

from services.connections.ports import ObserverSession, Rows
from services.connections.reads import statements
from services.discovery.model import NodeView
from services.discovery.snapshot import updated_estate
from services.errors import Dropped, QueryFailed, TimedOut, UserError
from services.facts.model import KEPT_S, NodeFacts
from services.facts.server.dialect import PROCESSES, VARIABLES
from services.sampling.server_poll import polled_sql
from services.sampling.settings import WatchSettings
from services.sampling.sql_poll import SqlPoll, SqlResult, poll_sql
from services.types import Health, Reach
from services.workstation.preferences import INTERVALS_S


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
        self.fails: dict[Any, UserError] = {}

    def status(self, *, limit_s: float) -> dict[str, str]:
        del limit_s
        return {"Uptime": "100", "Threads_running": self.running, "Threads_connected": "40"}

    def query(self, read: Any, *, limit_s: float) -> Rows:
        del limit_s
        self.asked.append(read)
        if read in self.fails:
            raise self.fails[read]
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


@pytest.mark.parametrize(
    "variables",
    [
        (("version", "8.0.36-28.1"), ("pxc_strict_mode", "ENFORCING"), ("wsrep_provider", "libgalera_smm.so")),
        (("version", "10.11.6-MariaDB"), ("wsrep_provider", "/usr/lib/galera/libgalera_smm.so")),
        (("version", "8.4.3"), ("group_replication_group_name", "6f0c7b9e-3b1c-11ef-9d5c-0242ac120002")),
    ],
)
def test_that_members_whose_appliers_commit_are_asked_though_no_client_is_busy(
    variables: tuple[tuple[str, str], ...],
) -> None:
    """Threads_running counts clients' threads: an applier in its commit is none of them."""
    server = Server()
    server.session.variables = variables
    server.second()
    assert server.second().console["console.threads_in_commit"] == 1.0


def test_that_a_replica_and_one_whose_channels_are_not_read_are_asked_though_no_client_is_busy() -> None:
    replica, unread = Server(), Server()
    replica.session.channels = Rows(("Slave_IO_Running", "Slave_SQL_Running"), (("Yes", "Yes"),))
    unread.session.fails = {statements.ALL_SLAVES: QueryFailed("Access denied", errno=1227)}
    for server in (replica, unread):
        server.second()
        assert server.second().console["console.threads_in_commit"] == 1.0


def test_that_the_switches_of_a_server_are_read_again_as_soon_as_its_channels_or_its_group_change() -> None:
    """A failover takes the channels first and read_only then: what was read half a minute ago says neither."""
    made = Server()
    made.session.channels = Rows(("Slave_IO_Running", "Slave_SQL_Running"), (("Yes", "Yes"),))
    for _ in range(20):
        made.second()
    made.session.asked.clear()
    made.second()
    assert VARIABLES not in made.session.asked
    made.session.channels = Rows((), ())
    for _ in range(10):
        made.second()
    assert made.session.asked.count(VARIABLES) == 5
    for _ in range(40):
        made.second()
    made.session.asked.clear()
    for _ in range(29):
        made.second()
    assert made.session.asked.count(VARIABLES) <= 1


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


CHANNEL = Rows(
    ("Master_Host", "Slave_IO_Running", "Slave_SQL_Running", "Seconds_Behind_Master"), (("db1", "Yes", "Yes", "0"),)
)
FAILURES = [
    QueryFailed("Access denied; you need the SLAVE MONITOR privilege", errno=1227),
    TimedOut("The statement did not end within 1 s and was stopped by the server."),
    Dropped("The server closed the connection."),
]


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: type(failure).__name__)
def test_that_an_optional_read_that_fails_costs_itself_alone_and_is_told_until_it_succeeds(failure: UserError) -> None:
    made = Server()
    made.session.channels = CHANNEL
    base = NodeFacts("r1", made.clock.at, address="10.20.0.12", reach=Reach.SQL_ONLY)
    seen = [base]

    def second() -> NodeView:
        result = polled_sql(made.second())
        seen.append(result.merged(seen[-1]))
        values.append(result.values(seen[-1]))
        estate = updated_estate(None, {"r1": seen[-1]}, made.clock.at)
        return next(node for cluster in estate.clusters for node in cluster.nodes if node.host)

    values: list[dict[str, float]] = []
    assert second().health is Health.GOOD
    made.session.fails[statements.ALL_SLAVES] = failure
    for _ in range(39):
        judged = second()
        assert judged.health is Health.UNKNOWN
        assert failure.sentence.rstrip(".") in judged.reason
        assert judged.numbers[0] == ("lag", "not known", Health.UNKNOWN)
        assert [p.part for p in seen[-1].problems] == ["replication"]
        assert seen[-1].sql_at == made.clock.at
        assert not [key for key in values[-1] if key.startswith("repl.")]
    made.session.fails.clear()
    assert [second() for _ in range(10)][-1].health is Health.GOOD
    assert not seen[-1].problems
    assert values[-1]["repl.default.seconds_behind"] == 0.0


def test_that_what_fails_is_not_asked_for_each_second() -> None:
    made = Server()
    made.session.fails[statements.ALL_SLAVES] = FAILURES[1]
    for _ in range(40):
        made.second()
    assert made.session.asked.count(statements.ALL_SLAVES) == 4


def test_that_variables_that_fail_once_they_were_read_cost_themselves_alone() -> None:
    made = Server()
    first = made.second()
    made.session.fails[VARIABLES] = FAILURES[1]
    found = [made.second() for _ in range(40)][-1]
    assert (found.variables, found.variables_at) == (first.variables, first.variables_at)
    assert [p.part for p in found.problems] == ["variables"]
    made.session.fails.clear()
    assert not [made.second() for _ in range(11)][-1].problems


def test_that_a_server_that_never_gave_its_variables_is_not_polled_by_guess() -> None:
    made = Server()
    made.session.fails[VARIABLES] = FAILURES[1]
    with pytest.raises(TimedOut):
        made.second()


@pytest.mark.parametrize(("failure", "once"), [(FAILURES[0], True), (FAILURES[1], False)])
def test_that_replicas_are_asked_for_again_unless_the_server_refuses(failure: UserError, once: bool) -> None:
    made = Server()
    made.session.variables = (("version", "10.11.6-MariaDB"), ("log_bin", "ON"))
    made.session.fails[statements.SLAVE_HOSTS] = failure
    for _ in range(40):
        made.second()
    assert (made.session.asked.count(statements.SLAVE_HOSTS) == 1) is once


@pytest.mark.parametrize("interval_s", INTERVALS_S)
def test_that_what_a_replica_tells_outlives_one_read_that_gave_nothing_at_each_pace_one_can_choose(
    interval_s: int,
) -> None:
    """KEPT_S stands beside the paces that can be chosen: a slower one makes this fail, not a healthy estate grey."""
    settings = WatchSettings(interval_s=float(interval_s))
    assert 2 * (settings.members_s + interval_s) < KEPT_S
    made = Server()
    made.session.variables = (("version", "8.4.3"), ("server_uuid", "x"), ("log_bin", "ON"))
    replicas = 0
    reads: list[float] = []
    for second in range(0, 120, interval_s):
        made.clock.at = 1000.0 + second + (second % 3) * 0.3
        result = poll_sql(cast("ObserverSession", made.session), made.poll, cast("Any", made.clock), settings)
        replicas += result.replicas is not None
        if result.replicas is not None and replicas % 2:  # each second read is taken for one that gave nothing
            reads.append(result.at)
    assert max(later - before for before, later in itertools.pairwise(reads)) <= KEPT_S
