"""The checks of filters: do the binary logs hold all that was written, and is that known for the time that they cover?

A binlog filter changes only with a restart: where the server that wrote the files runs since before they begin, what it
says now held for all of them. Of any other time nothing tells: neither a file nor a log says what was left out of it.
"""

from __future__ import annotations

from datetime import UTC, datetime

from services.facts.server.values import OFF_WORDS
from services.procedures.catalogue.checks.parts import known, server_of, unread, unread_options, verdict
from services.procedures.catalogue.galera.rejoin_from_binlogs.survey import Survey
from services.procedures.plan.checks import Check
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.parts.server.log_filters import LogFilters, filters_of
from services.procedures.plan.parts.server.options import Options
from services.procedures.plan.parts.server.starting import Starting
from services.procedures.plan.parts.server.variables import Variables

_REWRITE = "replicate_rewrite_db"
_SST = "Bring the node back with add-node, by an SST."
_UNSEEN = (
    "What a session wrote with sql_log_bin = 0, and a replicate_* filter that was set for a while as the server ran, "
    "no server tells afterwards: only the holes (HOLES) and the comparison at the end show it."
)


def filters(facts: Facts, hosts: tuple[str, ...]) -> Check:
    """Nobody filters what is logged or what is applied, or lets it pass over rows, as servers, files and units say.

    Of the first host, which replays, none may send rows into another schema either: a BINLOG statement minds that.
    """
    party = known(facts, hosts)
    found = [told for host in party for told in filters_of(host)]
    unlogged = [host.host for host in party if not _logs_others(host)]
    blind = [told for host in party for told in _blind(host)]
    moved = any(host.host == hosts[0] and _moves(host) for host in party)
    less = [f"log_slave_updates is not on: {', '.join(unlogged)}"] if unlogged else []
    return Check(
        code="FILTERS",
        title="The binary logs hold all that was written",
        verdict=verdict(found, [*less, *blind]),
        not_known=bool(blind) and not found and not less,
        evidence="; ".join([*found, *less, *blind]) or "neither servers, option files nor units name a filter",
        why="What a filter left out is in no file: the replay would end well, and rows would be missing; also from a "
        f"transaction of which other rows are there. {_UNSEEN}",
        try_=(_SST,) if found else ("Take the binary logs of a node with log_slave_updates.",) if unlogged else (),
        absolute=moved,
    )


def filters_then(facts: Facts, joiner: str, found: Survey) -> Check:
    """The server that wrote the files left nothing out of them, for all the time that they cover."""
    hosts = writers_of(facts, joiner, found)
    told = [one for host in hosts for one in filters_of(host)]
    unknown = [] if told else _unknown_then(hosts, found)
    names = ", ".join(host.host for host in hosts)
    return Check(
        code="FILTERED" if told else "FILTERS-THEN",
        title="No filter left rows out of the binary logs while they were written",
        verdict=verdict([*told, *unknown]),
        not_known=bool(unknown),
        evidence="; ".join([*told, *unknown])
        or f"{names} runs since before they begin, and its server names no filter",
        why="A filter of a server's command line, its environment or its files stands in no binary log. It changes "
        f"only with a restart, so a server that runs since before the files begin tells of all of them. {_UNSEEN}",
        try_=(_SST,)
        if told
        else (
            f"Take the binary logs of a member that runs since before {_begun(found) or 'the backup'} instead.",
            "Override this where you know that no filter was set then, and say why.",
            _SST,
        )
        if unknown
        else (),
        absolute=bool(told),
    )


def writers_of(facts: Facts, joiner: str, found: Survey) -> tuple[HostFacts, ...]:
    """Return the hosts whose servers have the ids that the files name; the joiner by its option files, 1 the default.

    One that answers comes before one of the same id that does not: which of them wrote is not known then.
    """

    def number(host: HostFacts) -> int | None:
        server = server_of(host)
        if server is not None:
            return server.server_id
        told = host[Options].option("mysqld", "server_id") or "1"
        return int(told) if host.host == joiner and told.isascii() and told.isdecimal() else None

    return tuple(host for host in facts.hosts if number(host) in found.chain.writers)


def _unknown_then(hosts: tuple[HostFacts, ...], found: Survey) -> list[str]:
    """Return why it is not known what was left out of the files, nothing where it is."""
    if len(hosts) != 1:
        ids = ", ".join(map(str, found.chain.writers)) or "not known"
        return [f"which server wrote them is not known (server id {ids})"]
    host, begun = hosts[0], found.chain.begun
    own = host[LogFilters]
    if own.said is None:
        return [
            unread(host, "which filters its server has", "log-filters", "sql")
            if server_of(host) is not None
            else f"the server of {host.host}, which wrote them, does not run: what it was started with is not known"
        ]
    if own.since is None or begun is None:
        return [f"whether {host.host} runs since before they begin is not known"]
    if own.since <= begun:
        return []
    starts = f" ({found.chain.starts} starts in them)" if found.chain.starts else ""
    told = f"{host.host}, which wrote them, was started at {_moment(own.since)}, after they begin at {_moment(begun)}"
    return [f"{told}{starts}: what it left out before is not known"]


def _logs_others(host: HostFacts) -> bool:
    """Return whether a node logs what it applies of others: as its server says, else its files."""
    said = host[Variables].value("log_slave_updates")
    if said is None:
        said = host[Options].option("mysqld", "log_slave_updates")
    return said is not None and said.strip().lower() not in OFF_WORDS


def _blind(host: HostFacts) -> list[str]:
    """Return what of the filters could not be read: of a server that runs its own words, else its unit's; its files."""
    if server_of(host) is not None:
        unsaid = host[LogFilters].said is None
        said = [unread(host, "which filters its server has", "log-filters", "sql")] if unsaid else []
    else:
        unit = host[Starting].line is None
        said = [unread(host, "what its unit gives the server", "start-line", "ssh")] if unit else []
    return [*said, *unread_options(host)]


def _moves(host: HostFacts) -> bool:
    return any(_REWRITE in told for told in filters_of(host))


def _begun(found: Survey) -> str:
    return _moment(found.chain.begun) if found.chain.begun is not None else ""


def _moment(at: int) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S} UTC"
