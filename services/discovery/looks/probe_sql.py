"""One look at a server over SQL: what it answers becomes facts; whoever gives no status gives a reason.

`facts_from_poll` is pure, so that the sampler's SHOW GLOBAL STATUS of each second serves the drawing too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from services.clock import Clock
from services.connections.ports import ObserverSession, Rows
from services.errors import UserError
from services.facts import reads
from services.facts.galera.status import galera_problems, parse_galera
from services.facts.kept_parts import kept_members, kept_replication
from services.facts.model import CHANNELS, GroupRecovery, NodeFacts, Problem
from services.facts.optional_reads import OptionalReads, attempt
from services.facts.replication.group_replication import group_problems, parse_group, read_recovery
from services.facts.replication.replication import (
    applier_stopped,
    parse_replication,
    replication_problems,
    tells_of_all,
)
from services.facts.replication.semi_sync import parse_semi_sync
from services.facts.server.cut_texts import read_variables
from services.facts.server.dialect import PROCESSES, Dialect, dialect_of, keeps_binlog
from services.facts.server.server import parse_server
from services.i18n import tr


def probe_sql(session: ObserverSession, clock: Clock, facts: NodeFacts, limit_s: float) -> NodeFacts | UserError:
    """Ask everything once; the error of a server that is not reached, or lets nobody in."""
    try:
        wall, started = clock.wall(), clock.monotonic()
        status = session.status(limit_s=limit_s)
        round_trip = clock.monotonic() - started
        variables_at = clock.wall()
        variables = read_variables(lambda read: session.query(read, limit_s=limit_s))
    except UserError as error:
        return error
    dialect = dialect_of(variables)
    optional = OptionalReads(session, limit_s)
    channels = optional.ask(dialect.replication_status, CHANNELS, dialect.channels_right)
    stopped = applier_stopped(channels, grouped=dialect.identity.group_replication)
    appliers = optional.ask(dialect.applier_errors, "appliers") if stopped else None
    replicas, processes = _ask_replicas(session, dialect, variables, limit_s)
    members = optional.ask(dialect.galera_members, "members")
    group = (optional.ask(dialect.group_members, "group"), optional.ask(dialect.group_stats, "group"))
    recovery = read_recovery(dialect.group_recovery, group[0], variables, lambda read: optional.ask(read, "group"))
    return facts_from_poll(
        replace(facts, problems=tuple(p for p in facts.problems if p.part in {"machine", "log", "clock"})),
        status,
        variables,
        wall + round_trip / 2,
        replication=channels,
        replicas=replicas,
        appliers=appliers,
        members=members,
        processes=processes,
        group=group,
        recovery=recovery,
        problems=optional.problems,
        round_trip_s=round_trip,
        variables_at=variables_at,
    )


def _ask_replicas(
    session: ObserverSession, dialect: Dialect, variables: Mapping[str, str], limit_s: float
) -> tuple[Rows | None, Rows | None]:
    """Return (replicas, processes): the second only where the first is refused or says nothing.

    MariaDB 10.5.2 and newer want REPLICATION MASTER ADMIN for SHOW SLAVE HOSTS, which would let an account change
    things; a watching account has PROCESS, and the Binlog Dump threads tell the addresses as well.
    """
    if not keeps_binlog(variables):
        return None, None
    replicas = attempt(lambda: session.query(dialect.replicas, limit_s=limit_s))
    if isinstance(replicas, Rows) and replicas.rows:
        return replicas, None
    processes = attempt(lambda: session.query(PROCESSES, limit_s=limit_s))
    known = replicas if isinstance(replicas, Rows) else None
    return known, processes if isinstance(processes, Rows) else None


def facts_from_poll(  # noqa: PLR0913 - one answer each, all but the first four by name
    previous: NodeFacts,
    status: Mapping[str, str],
    variables: Mapping[str, str],
    at: float,
    *,
    replication: Rows | None = None,
    replicas: Rows | None = None,
    appliers: Rows | None = None,
    members: Rows | None = None,
    processes: Rows | None = None,
    group: tuple[Rows | None, Rows | None] = (None, None),
    recovery: GroupRecovery | None = None,
    problems: tuple[Problem, ...] = (),
    round_trip_s: float | None = None,
    variables_at: float | None = None,
) -> NodeFacts:
    """Return the facts after one poll over SQL. Pure; what was not asked this time is kept from `previous`.

    Args:
        previous: the facts so far; host, address, machine and transfers come from it.
        status, variables: SHOW GLOBAL STATUS and the newest SHOW GLOBAL VARIABLES as name -> text.
        at: UTC epoch seconds of the status.
        replication, replicas, members, processes: rows where they were read this time, else None.
        appliers: why appliers stopped, read where one did.
        group: the group's members and this member's numbers, read each time where a group is configured: what was not
            read is not known.
        recovery: how far the member is, while it is RECOVERING.
        problems: why single reads gave nothing the last time they were made.
        variables_at: when `variables` were read; None: not known.
    """
    galera = parse_galera(status, variables)
    doubts = galera_problems(status, variables, galera) if galera is not None else ()
    if galera is not None:
        galera = replace(galera, members=kept_members(previous.galera, galera, members))
    if not status:
        doubts += (Problem("sql", tr("The server answered with an empty status."), "status-empty"),)
    server = parse_server(variables, status, at)
    doubts += (*group_problems(variables), *reads.refused_folder(server.datadir))
    kept = tuple(p for p in previous.problems if p.part in {"machine", "log", "clock"})
    known = kept_replication(
        previous.replication,
        parse_replication(replication, replicas, processes, variables, appliers),
        channels_read=replication is not None,
        replicas_read=replicas is not None or tells_of_all(processes, status),
        moments=(at, variables_at),
    )
    return replace(
        previous,
        at=at,
        sql_at=at,
        server=server,
        galera=galera,
        group=parse_group(status, variables, *group, at, recovery),
        semi_sync=parse_semi_sync(status, variables),
        replication=known,
        round_trip_s=round_trip_s,
        problems=(*kept, *doubts, *replication_problems(known), *problems),
    )
