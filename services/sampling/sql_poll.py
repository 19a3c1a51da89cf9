"""One second's reads over SQL: the status always, the rest when it is due. The fewest statements that tell the truth.

Budget 6: what the monitor costs a server is SHOW GLOBAL STATUS and next to nothing else, no temporary table on disk;
therefore the process list is SHOW PROCESSLIST (no table is made) and is read rarely on crowded servers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from services.clock import Clock
from services.connections.ports import ObserverSession, Rows
from services.errors import QueryFailed
from services.facts.model import CHANNELS, GroupRecovery, Problem, ReplicationChannel
from services.facts.optional_reads import Failed, OptionalReads, attempt
from services.facts.reading import count
from services.facts.replication.group_replication import read_recovery
from services.facts.replication.heartbeat import Heartbeats, Lag, heartbeat_statement
from services.facts.replication.replication import applier_stopped, parse_channels
from services.facts.server.cut_texts import read_variables
from services.facts.server.dialect import PROCESSES, Dialect, dialect_of, keeps_binlog
from services.facts.server.server import is_sealed
from services.facts.server.sessions import Commits, commits_of
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
    part: object = None
    unsettled_until: float = 0.0
    replication_due: float = 0.0
    last_uptime: float = -1.0
    heartbeat_table: str | None = None
    heartbeats: Heartbeats = field(default_factory=Heartbeats)
    failed: Failed = field(default_factory=dict)


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
    problems: tuple[Problem, ...] = ()


def poll_sql(session: ObserverSession, poll: SqlPoll, clock: Clock, settings: WatchSettings) -> SqlResult:
    """Read what is due; raise UserError only when the server gives no status, or never gave its variables."""
    limit = settings.answer_limit_s
    wall, started = clock.wall(), clock.monotonic()
    status = session.status(limit_s=limit)
    round_trip = clock.monotonic() - started
    _notice_restart(poll, status)
    optional = OptionalReads(session, limit, poll.failed)
    now = clock.monotonic()
    if now >= poll.variables_due:
        _read_variables(session, poll, optional, clock, settings, now)
    dialect = dialect_of(poll.variables)
    replication = replicas = members = appliers = None
    if poll.replicates or now >= poll.replication_due:
        replication = optional.ask(dialect.replication_status, CHANNELS, dialect.channels_right)
        # What hangs, or is refused, is not asked for each second.
        poll.replicates = bool(replication and replication.rows)
        if applier_stopped(replication, grouped=dialect.identity.group_replication):
            appliers = optional.ask(dialect.applier_errors, "appliers")
        poll.replication_due = now + settings.members_s
    listing = now >= poll.members_due
    if listing:
        poll.members_due = now + settings.members_s
        replicas = _replicas(session, poll, dialect, limit)
        if dialect.galera_members:
            members = optional.ask(dialect.galera_members, "members")
    # The tables of a group are the performance schema's, read each second: that a member is gone is told there, and
    # nothing is locked or written for them.
    group = (optional.ask(dialect.group_members, "group"), optional.ask(dialect.group_stats, "group"))
    _notice_part(poll, (poll.replicates, group[0] and group[0].rows), now, settings)
    recovery = read_recovery(dialect.group_recovery, group[0], poll.variables, lambda read: optional.ask(read, "group"))
    quiet = not listing and status.get("Threads_running") == "1" and _counts_all(poll, optional, dialect)
    processes, in_commit = _processes(poll, optional, status, now, settings, quiet=quiet)
    heartbeat = _heartbeat(poll, optional, parse_channels(replication))
    poll.failed = optional.failed
    console = {"console.poll_ms": round_trip * 1000.0}
    console.update(in_commit)
    return SqlResult(
        wall + round_trip / 2, started + round_trip / 2, round_trip, status, poll.variables, dialect,
        replication, replicas, appliers, members, group, recovery,
        heartbeat, processes if listing else None, poll.variables_at, console, optional.problems,
    )  # fmt: skip


def _read_variables(
    session: ObserverSession,
    poll: SqlPoll,
    optional: OptionalReads,
    clock: Clock,
    settings: WatchSettings,
    now: float,
) -> None:
    """Read the variables; those that were read stay, as old as they are, where this time it fails."""

    def read(session: ObserverSession) -> dict[str, str]:
        return read_variables(lambda one: session.query(one, limit_s=max(settings.answer_limit_s, 2.0)))

    found = optional.of("variables", "variables", read) if poll.variables else read(session)
    poll.variables_due = now + (settings.members_s if found is None else settings.variables_s)
    if now < poll.unsettled_until:
        poll.variables_due = now + settings.unsettled_s
    if found is not None:
        poll.variables, poll.variables_at = found, clock.wall()


def _heartbeat(poll: SqlPoll, optional: OptionalReads, channels: Sequence[ReplicationChannel]) -> Lag:
    """Return the lag by heartbeat of a replica whose inventory entry names the table."""
    if poll.heartbeat_table is None or not poll.replicates:
        return Lag()
    rows = optional.ask(heartbeat_statement(poll.heartbeat_table), "heartbeat")
    return poll.heartbeats.lag(rows, channels, sealed=is_sealed(poll.variables))


def _notice_part(poll: SqlPoll, part: object, now: float, settings: WatchSettings) -> None:
    """Have the variables read soon, and often for a while, once a server's part changes: a failover sets switches."""
    if poll.part is not None and part != poll.part:
        poll.variables_due, poll.unsettled_until = now, now + settings.variables_s
    poll.part = part


def _notice_restart(poll: SqlPoll, status: Mapping[str, str]) -> None:
    try:
        uptime = float(status.get("Uptime", ""))
    except ValueError:
        return
    if uptime < poll.last_uptime:
        poll.variables_due = poll.members_due = poll.replication_due = 0.0
    poll.last_uptime = uptime


def _replicas(session: ObserverSession, poll: SqlPoll, dialect: Dialect, limit: float) -> Rows | None:
    """Ask who replicates from here, once: a refusal is answered by the process list from then on.

    MariaDB 10.5.2 and newer want REPLICATION MASTER ADMIN for it, which a watching account should not have.
    """
    if poll.replicas_refused or not keeps_binlog(poll.variables):
        return None
    found = attempt(lambda: session.query(dialect.replicas, limit_s=limit))
    poll.replicas_refused = isinstance(found, QueryFailed)
    return found if isinstance(found, Rows) else None


def _counts_all(poll: SqlPoll, optional: OptionalReads, dialect: Dialect) -> bool:
    """Return whether Threads_running counts every thread that may be in its commit.

    It counts those that run a client's command (MySQL source, sql_parse.cc, dispatch_command()): no thread that applies
    what a group or a source sent. They wait in their commits too.
    """
    identity = dialect.identity
    grouped = identity.galera or identity.group_replication
    unread = any(problem.part == CHANNELS for problem in optional.failed.values())
    return not (grouped or poll.replicates or unread)


def _processes(
    poll: SqlPoll,
    optional: OptionalReads,
    status: Mapping[str, str],
    now: float,
    settings: WatchSettings,
    *,
    quiet: bool,
) -> tuple[Rows | None, dict[str, float]]:
    """Return the process list, and how many threads wait in their commit.

    Args:
        quiet: nobody's thread runs but ours, which asked for it: none is in its commit, and no list is read.
    """
    if now < poll.process_due:
        return None, {}
    if poll.sees_processes and quiet:
        return None, _counted(Commits())
    rows = optional.ask(PROCESSES, "processes", "PROCESS")
    crowded = (count(status.get("Threads_connected")) or 0) > settings.crowded
    poll.process_due = now + (settings.crowded_s if crowded else 0.0)
    poll.sees_processes = rows is not None
    if rows is None:
        poll.process_due = now + 60.0  # no right to see it: asking each second would only fill the server's log
        return None, {}
    return rows, _counted(commits_of(rows))


def _counted(found: Commits) -> dict[str, float]:
    return {
        "console.threads_in_commit": float(found.threads),
        "console.clients_in_commit": float(found.clients),
        "console.clients_running": float(found.running),
    }
