"""Channels and replicas that could not be read: neither 'single server' nor good, and no last word holds for ever."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from app.cli.commands.topology import all_good
from app.cli.terminal import estate_text
from services.connections.ports import Rows
from services.discovery.families.replication.kind import ASYNC
from services.discovery.families.single.kind import SINGLE, UNKNOWN
from services.discovery.looks.probe_sql import facts_from_poll
from services.errors import QueryFailed, TimedOut
from services.facts.model import CHANNELS, NodeFacts, Problem, ReplicationFacts
from services.facts.numeric import replication_values
from services.facts.optional_reads import RIGHT_MISSING, not_read
from services.facts.replication.gtid import gap
from services.facts.server.dialect import dialect_of
from services.types import Health, Reach
from tests.unit.discovery.scenes import AT, channel, estate, facts, member, node, only, plain

MARIADB = {"version": "10.6.12-MariaDB", "port": "3306", "log_bin": "OFF"}
MYSQL = {"version": "8.0.36", "server_uuid": "a", "port": "3306", "log_bin": "OFF"}
DENIED = QueryFailed(
    "The server answered with error 1227: Access denied; you need (at least one of) the SUPER privilege(s)", errno=1227
)
NO_CHANNELS = Rows(("x",), ())
PROCESSES = ("Id", "User", "Host", "Command", "Info")


def _refused(variables: dict[str, str]) -> Problem:
    return not_read(CHANNELS, DENIED, dialect_of(variables).channels_right)


def _polled(variables: dict[str, str], status: dict[str, str] | None = None, **more: Any) -> NodeFacts:
    base = NodeFacts("db1", AT, address="10.20.0.11", reach=Reach.SQL_ONLY)
    return facts_from_poll(base, {"Uptime": "5000", **(status or {})}, variables, AT, **more)


@pytest.mark.parametrize(
    ("variables", "right"),
    [
        (MARIADB, "SLAVE MONITOR (REPLICA MONITOR)"),
        ({**MARIADB, "version": "10.4.33-MariaDB"}, "REPLICATION CLIENT"),
        ({**MARIADB, "version": "10.5.4-MariaDB"}, "REPLICATION SLAVE ADMIN"),
        (MYSQL, "REPLICATION CLIENT"),
    ],
)
def test_that_a_server_that_refuses_its_channels_is_no_single_server_and_names_the_right(
    variables: dict[str, str], right: str
) -> None:
    snapshot = estate(_polled(variables, problems=(_refused(variables),)))
    cluster = only(snapshot)
    assert (cluster.kind, cluster.health, all_good(snapshot)) == (UNKNOWN, Health.UNKNOWN, False)
    text = estate_text(snapshot)
    assert "replication not known" in text
    assert right in text
    assert "error 1227" in text
    assert cluster.nodes[0].facts is not None
    assert [p.code for p in cluster.nodes[0].facts.problems] == [RIGHT_MISSING]


def test_that_a_server_whose_channels_were_read_and_are_none_is_a_single_server() -> None:
    snapshot = estate(_polled(MYSQL, replication=NO_CHANNELS))
    assert (only(snapshot).kind, all_good(snapshot)) == (SINGLE, True)


def test_that_channels_that_nobody_read_are_not_known() -> None:
    assert only(estate(facts(1))).kind == UNKNOWN
    assert only(estate(_polled(MYSQL, processes=Rows(PROCESSES, ())))).kind == UNKNOWN


def test_that_a_member_of_a_group_whose_channels_are_refused_is_not_good_either() -> None:
    refused = replace(member(1, size=1), problems=(_refused(MARIADB),))
    (shown,) = only(estate(refused)).nodes
    assert (shown.state, shown.health) == ("Synced", Health.UNKNOWN)
    assert "SLAVE MONITOR" in shown.reason


def _row(number: int, user: str, command: str = "Sleep") -> tuple[Any, ...]:
    return (number, user, "10.20.0.19:4711", command, None)


@pytest.mark.parametrize(
    ("rows", "connected", "kind"),
    [
        ((_row(1, "observer"),), "14", UNKNOWN),  # without PROCESS: its own sessions alone
        ((_row(1, "observer"), _row(2, "app")), "14", SINGLE),
        ((_row(1, "observer"),), "1", SINGLE),  # there is nobody else
        (None, "14", UNKNOWN),
    ],
)
def test_that_a_server_with_a_binary_log_is_alone_only_where_its_replicas_would_be_seen(
    rows: tuple[Any, ...] | None, connected: str, kind: Any
) -> None:
    listed = None if rows is None else Rows(PROCESSES, rows)
    told = _polled(
        {**MYSQL, "log_bin": "ON"}, {"Threads_connected": connected}, replication=NO_CHANNELS, processes=listed
    )
    cluster = only(estate(told))
    assert (cluster.kind, cluster.health is Health.GOOD) == (kind, kind == SINGLE)
    if kind == UNKNOWN:
        assert "PROCESS" in cluster.nodes[0].reason


def test_that_kept_channels_are_not_known_as_soon_as_their_read_fails_and_the_drawing_stays() -> None:
    lost = replace(plain(2, channel(1)), problems=(not_read(CHANNELS, TimedOut("No answer within 1 s.")),))
    cluster = only(estate(plain(1), lost))
    (edge,) = cluster.replication
    assert (cluster.kind, edge.health, edge.lag_s, edge.gtid_gap) == (ASYNC, Health.UNKNOWN, None, None)
    shown = node(estate(plain(1), lost), "db2")
    assert (shown.health, shown.numbers[0]) == (Health.UNKNOWN, ("lag", "not known", Health.UNKNOWN))
    assert shown.reason.count("No answer within 1 s") == 1


def test_that_what_was_last_read_too_long_ago_is_not_known_whatever_the_reason() -> None:
    old = plain(2, channel(1))
    later = replace(old, at=AT + 40, sql_at=AT + 40)
    shown = node(estate(plain(1, at=AT + 40), later, at=AT + 40.5), "db2")
    assert shown.health is Health.UNKNOWN
    assert "not known since" in shown.reason
    variables = {**MYSQL, "log_bin": "ON"}
    first = _polled(variables, replication=NO_CHANNELS, replicas=Rows(("Server_id", "Host"), ((2, "db2"),)))
    assert first.replication is not None
    assert first.replication.replicas
    again = facts_from_poll(first, {"Uptime": "5040"}, variables, AT + 40, replication=NO_CHANNELS)
    assert again.replication is not None
    assert (again.replication.replicas, again.replication.replicas_at) == ((), None)


def test_that_the_numbers_of_a_server_that_does_not_answer_are_not_green() -> None:
    silent = replace(plain(2, channel(1)), at=AT + 20, reach=Reach.NONE)
    shown = node(estate(plain(1, at=AT + 20), silent, at=AT + 20.5), "db2")
    assert shown.numbers
    assert {health for _, _, health in shown.numbers} == {Health.UNKNOWN}


@pytest.mark.parametrize("thread", ["sql", "io"])
def test_that_an_error_that_a_channel_names_while_it_runs_is_a_warning_with_its_words(thread: str) -> None:
    named = channel(1, **{f"{thread}_errno": 1105, f"{thread}_error": "received unknown event"})
    (edge,) = only(estate(plain(1), plain(2, named))).replication
    assert edge.health is Health.WARN
    assert "reports an error although it is running: error 1105: received unknown event" in edge.reason
    (fine,) = only(estate(plain(1), plain(2, channel(1, **{f"{thread}_error": "old words"})))).replication
    assert fine.health is Health.GOOD  # without a number they are no error


@pytest.mark.parametrize("told", ["4294967295", "18446744073709551615", "18446744073709551613", "1287432988", "-1"])
def test_that_a_lag_that_no_replica_can_have_is_not_known(told: str) -> None:
    columns = ("Master_Host", "Master_Port", "Slave_IO_Running", "Slave_SQL_Running", "Seconds_Behind_Master")
    rows = Rows(columns, (("10.20.0.19", "3306", "Yes", "Yes", told),))
    (edge,) = only(estate(_polled(MYSQL, replication=rows))).replication
    assert (edge.lag_s, edge.health) == (None, Health.UNKNOWN)


@pytest.mark.parametrize(
    ("received", "executed", "missing"),
    [("0-1-100,5-2-900", "0-1-100", 900), ("0-1-100", "", 100), ("0-1-7", "0-1-5", 2), ("", "0-1-5", None)],
)
def test_that_card_and_chart_reckon_one_gap(received: str, executed: str, missing: int | None) -> None:
    told = channel(1, gtid_received=received, gtid_executed=executed)
    (edge,) = only(estate(plain(1), plain(2, told))).replication
    values = replication_values(ReplicationFacts(channels=(told,)))
    assert gap(received, executed) == missing
    assert values.get("repl.default.gtid_gap") == missing
    assert missing is None or edge.gtid_gap == missing


def test_that_a_gap_of_nothing_is_not_charted_while_the_io_thread_does_not_run() -> None:
    stopped = ReplicationFacts(channels=(channel(1, io_running="Connecting"),))
    assert "repl.default.gtid_gap" not in replication_values(stopped)


def test_that_the_old_position_of_a_silent_source_says_nothing_of_a_gap() -> None:
    gone = replace(plain(1), at=AT + 20, reach=Reach.NONE)
    stopped = plain(2, channel(1, io_running="Connecting"), at=AT + 20)
    (edge,) = only(estate(gone, stopped, at=AT + 20.5)).replication
    assert edge.gtid_gap is None


def test_that_a_mariadb_of_before_several_sources_is_asked_in_its_own_words() -> None:
    asked = {v: dialect_of({"version": v}).replication_status.name for v in ("5.5.68-MariaDB", "10.0.38-MariaDB")}
    assert asked == {"5.5.68-MariaDB": "slave", "10.0.38-MariaDB": "all-slaves"}
    assert dialect_of({"version": "5.5.5-10.6.12-MariaDB"}).replication_status.name == "all-slaves"
