"""The poll of a host's server, whatever its kind: what it gave, how it becomes facts, and which numbers it holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from services.clock import Clock
from services.connections.ports import ObserverSession
from services.discovery.looks.probe_sql import facts_from_poll
from services.facts.model import NodeFacts
from services.facts.numeric import numeric_status, numeric_variables, replication_values
from services.facts.replication.heartbeat import heartbeat_problems
from services.inventory.kinds import MONGODB, MYSQL
from services.inventory.model import HostEntry
from services.sampling.polled import Polled, ServerPoll
from services.sampling.settings import WatchSettings
from services.sampling.sql_poll import SqlPoll, SqlResult, poll_sql


def server_poll(entry: HostEntry, session: ObserverSession, clock: Clock, settings: WatchSettings) -> ServerPoll:
    """Return what polls the server of this entry."""
    return SERVER_POLLS[entry.kind](entry, session, clock, settings)


def _mongodb(entry: HostEntry, session: ObserverSession, clock: Clock, settings: WatchSettings) -> ServerPoll:
    # Late: what reads MongoDB is loaded where one of its servers is watched, and nowhere else.
    from services.sampling.mongo_server_poll import MongoServerPoll

    del entry
    return MongoServerPoll(session, clock, settings)


def _sql(entry: HostEntry, session: ObserverSession, clock: Clock, settings: WatchSettings) -> ServerPoll:
    table = entry.sql.heartbeat_table if entry.sql is not None else None
    return _Sql(session, clock, settings, table)


SERVER_POLLS: Mapping[str, Callable[[HostEntry, ObserverSession, Clock, WatchSettings], ServerPoll]] = {
    MYSQL.code: _sql,
    MONGODB.code: _mongodb,
}
"""What makes the poll of a server, by the code of its kind: one entry a kind that is read."""


class _Sql:
    def __init__(self, session: ObserverSession, clock: Clock, settings: WatchSettings, table: str | None) -> None:
        self._session = session
        self._clock = clock
        self._settings = settings
        self._table = table
        self._poll = SqlPoll(heartbeat_table=table)

    def poll(self) -> Polled:
        return polled_sql(poll_sql(self._session, self._poll, self._clock, self._settings))

    def forget(self) -> None:
        self._poll = SqlPoll(heartbeat_table=self._table)


def polled_sql(result: SqlResult) -> Polled:
    """Return what a poll over SQL gave."""
    return Polled(
        result.at,
        result.mono,
        lambda previous: _sql_facts(previous, result),
        lambda facts: _sql_values(facts, result),
        result.variables,
    )


def _sql_facts(previous: NodeFacts, result: SqlResult) -> NodeFacts:
    fresh = facts_from_poll(
        previous,
        result.status,
        result.variables,
        result.at,
        replication=result.replication,
        replicas=result.replicas,
        appliers=result.appliers,
        members=result.members,
        processes=result.processes,
        group=result.group,
        recovery=result.recovery,
        variables_at=result.variables_at,
        problems=result.problems,
        round_trip_s=result.round_trip_s,
    )
    if fresh.replication is None:
        return fresh
    # The last beat's lag is no lag of now: without a fresh one there is none.
    return replace(
        fresh,
        replication=replace(fresh.replication, heartbeat_lag_s=result.heartbeat.seconds),
        problems=(*fresh.problems, *heartbeat_problems(result.heartbeat)),
    )


def _sql_values(facts: NodeFacts, result: SqlResult) -> dict[str, float]:
    values = numeric_status(result.status)
    values.update(numeric_variables(result.variables))
    if facts.replication is not None:
        # What was kept of an earlier second is no sample of this one.
        fresh = facts.replication if result.replication is not None else replace(facts.replication, channels=())
        values.update(replication_values(fresh))
    values.update(result.console)
    return values
