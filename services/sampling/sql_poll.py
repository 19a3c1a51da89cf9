"""One second's reads over SQL: the status always, the rest when it is due. The fewest statements that tell the truth.

Budget 6: what the monitor costs a server is SHOW GLOBAL STATUS and next to nothing else, no temporary table on disk;
therefore the process list is SHOW PROCESSLIST (no table is made) and is read rarely on crowded servers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from services.clock import Clock
from services.connections.ports import ObserverSession, Rows
from services.connections.reads.read import SqlRead
from services.errors import QueryFailed, UserError
from services.facts.cut_texts import read_variables
from services.facts.dialect import PROCESSES, Dialect, dialect_of, keeps_binlog
from services.facts.group_replication import read_recovery
from services.facts.heartbeat import Heartbeats, Lag, heartbeat_statement
from services.facts.model import GroupRecovery, ReplicationChannel
from services.facts.reading import count
from services.facts.replication import applier_stopped, parse_channels
from services.facts.sessions import in_commit
from services.sampling.settings import WatchSettings


@dataclass(slots=True)
class SqlPoll:
    """What a connection's polls remember between seconds; a new one after every loss of the connection."""

    variables: Mapping[str, str] = field(default_factory=dict)
    variables_due: float = 0.0
    members_due: float = 0.0
    process_due: float = 0.0
    sees_processes: bool = False
    replicates: bool = True
    replicas_refused: bool = False
    variables_at: float = 0.0
    replication_due: float = 0.0
    last_uptime: float = -1.0
    heartbeat_table: str | None = None
    heartbeats: Heartbeats = field(default_factory=Heartbeats)


@dataclass(frozen=True, slots=True)
class SqlResult:
    """What one poll gave. `at`, `mono`: middle of the status statement's round trip."""

    at: float
    mono: float
    round_trip_s: float
    status: Mapping[str, str]
    variables: Mapping[str, str]
    dialect: Dialect
    replication: Rows | None = None
    replicas: Rows | None = None
    appliers: Rows | None = None
    members: Rows | None = None
    group: tuple[Rows | None, Rows | None] = (None, None)
    recovery: GroupRecovery | None = None
    heartbeat: Lag = field(default_factory=Lag)
    processes: Rows | None = None
    variables_at: float | None = None
    console: Mapping[str, float] = field(default_factory=dict)
    problems: tuple[UserError, ...] = ()


def poll_sql(session: ObserverSession, poll: SqlPoll, clock: Clock, settings: WatchSettings) -> SqlResult:
    """Read what is due; raise UserError only when the server gives no status."""
    limit = settings.answer_limit_s
    wall, started = clock.wall(), clock.monotonic()
    status = session.status(limit_s=limit)
    round_trip = clock.monotonic() - started
    _notice_restart(poll, status)
    problems: list[UserError] = []
    now = clock.monotonic()
    if now >= poll.variables_due:
        poll.variables = read_variables(lambda read: session.query(read, limit_s=max(limit, 2.0)))
        poll.variables_due = now + settings.variables_s
        poll.variables_at = clock.wall()
    dialect = dialect_of(poll.variables)
    replication = replicas = members = appliers = None
    if poll.replicates or now >= poll.replication_due:
        replication = _optional(session, dialect.replication_status, limit, problems)
        poll.replicates = bool(replication and replication.rows)
        if dialect.applier_errors and applier_stopped(replication, grouped=dialect.identity.group_replication):
            appliers = _optional(session, dialect.applier_errors, limit, problems)
        poll.replication_due = now + settings.members_s
    listing = now >= poll.members_due
    if listing:
        poll.members_due = now + settings.members_s
        replicas = _replicas(session, poll, dialect, limit)
        if dialect.galera_members:
            members = _optional(session, dialect.galera_members, limit, problems)
    group = _group(session, dialect, limit, problems)
    recovery = read_recovery(
        dialect.group_recovery, group[0], poll.variables, lambda read: _optional(session, read, limit, problems)
    )
    processes, in_commit = _processes(session, poll, status, now, settings, problems, listing=listing)
    console = {"console.poll_ms": round_trip * 1000.0}
    console.update(in_commit)
    return SqlResult(
        wall + round_trip / 2, started + round_trip / 2, round_trip, status, poll.variables, dialect,
        replication, replicas, appliers, members, group, recovery,
        _heartbeat(session, poll, parse_channels(replication), problems, limit),
        processes if listing else None, poll.variables_at, console, tuple(problems),
    )  # fmt: skip


def _group(
    session: ObserverSession, dialect: Dialect, limit: float, problems: list[UserError]
) -> tuple[Rows | None, Rows | None]:
    """Return the members of the server's group and its own numbers, each second: that a member is gone is told there.

    Both are tables of the performance schema: nothing is locked or written for them.
    """
    reads = (dialect.group_members, dialect.group_stats)
    members, stats = (None if read is None else _optional(session, read, limit, problems) for read in reads)
    return members, stats


def _heartbeat(
    session: ObserverSession,
    poll: SqlPoll,
    channels: Sequence[ReplicationChannel],
    problems: list[UserError],
    limit: float,
) -> Lag:
    """Return the lag by heartbeat of a replica whose inventory entry names the table."""
    if poll.heartbeat_table is None or not poll.replicates:
        return Lag()
    rows = _optional(session, heartbeat_statement(poll.heartbeat_table), limit, problems)
    return poll.heartbeats.lag(rows, channels)


def _notice_restart(poll: SqlPoll, status: Mapping[str, str]) -> None:
    try:
        uptime = float(status.get("Uptime", ""))
    except ValueError:
        return
    if uptime < poll.last_uptime:
        poll.variables_due = poll.members_due = poll.replication_due = 0.0
    poll.last_uptime = uptime


def _optional(session: ObserverSession, read: SqlRead, limit: float, problems: list[UserError]) -> Rows | None:
    """Run a read whose refusal (a missing right, say) must not cost the rest of the poll."""
    try:
        return session.query(read, limit_s=limit)
    except QueryFailed as problem:
        problems.append(problem)
        return None


def _replicas(session: ObserverSession, poll: SqlPoll, dialect: Dialect, limit: float) -> Rows | None:
    """Ask who replicates from here, once: a refusal is answered by the process list from then on.

    MariaDB 10.5.2 and newer want REPLICATION MASTER ADMIN for it, which a watching account should not have.
    """
    if poll.replicas_refused or not keeps_binlog(poll.variables):
        return None
    refusals: list[UserError] = []
    rows = _optional(session, dialect.replicas, limit, refusals)
    poll.replicas_refused = bool(refusals)
    return rows


def _processes(
    session: ObserverSession,
    poll: SqlPoll,
    status: Mapping[str, str],
    now: float,
    settings: WatchSettings,
    problems: list[UserError],
    *,
    listing: bool,
) -> tuple[Rows | None, dict[str, float]]:
    """Return the process list, and how many threads wait in their commit.

    Unless the list is wanted for itself (`listing`), it is not read while the status says that nobody's thread runs but
    ours, which asked for it: a thread in its commit runs.
    """
    if now < poll.process_due:
        return None, {}
    if poll.sees_processes and not listing and status.get("Threads_running") == "1":
        return None, {"console.threads_in_commit": 0.0}
    rows = _optional(session, PROCESSES, settings.answer_limit_s, problems)
    crowded = (count(status.get("Threads_connected")) or 0) > settings.crowded
    poll.process_due = now + (settings.crowded_s if crowded else 0.0)
    poll.sees_processes = rows is not None
    if rows is None:
        poll.process_due = now + 60.0  # no right to see it: asking each second would only fill the server's log
        return None, {}
    return rows, {"console.threads_in_commit": float(sum(in_commit(row) for row in rows.dicts()))}
