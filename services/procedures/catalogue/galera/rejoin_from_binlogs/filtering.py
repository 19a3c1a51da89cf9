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
_SST = "Bring the node back by SST with add-node."
_UNSEEN = (
    "Writes with sql_log_bin = 0, and a replicate_* filter that was set temporarily at runtime, "
    "cannot be read afterwards: only gaps (HOLES) and the comparison at the end reveal them."
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
        title="The binary logs contain all writes",
        verdict=verdict(found, [*less, *blind]),
        not_known=bool(blind) and not found and not less,
        evidence="; ".join([*found, *less, *blind]) or "neither servers, option files nor units set a filter",
        why="Excluded rows are in no file: the replay would succeed with rows missing, even from a "
        f"transaction whose other rows exist. {_UNSEEN}",
        try_=(_SST,) if found else ("Use the binary logs of a node with log_slave_updates.",) if unlogged else (),
        absolute=moved,
    )


def filters_then(facts: Facts, joiner: str, found: Survey) -> Check:
    """The server that wrote the files left nothing out of them, for all the time that they cover."""
    hosts = writers_of(facts, joiner, found)
    filters_set = [one for host in hosts for one in filters_of(host)]
    unknown = [] if filters_set else _unknown_then(hosts, found)
    names = ", ".join(host.host for host in hosts)
    return Check(
        code="FILTERED" if filters_set else "FILTERS-THEN",
        title="No filter was active while the binary logs were written",
        verdict=verdict([*filters_set, *unknown]),
        not_known=bool(unknown),
        evidence="; ".join([*filters_set, *unknown])
        or f"{names} has run since before they begin, and its server has no filter",
        why="A filter from a server's command line, environment or files is recorded in no binary log. It changes "
        "only with a restart, so a server that has run since before the files begin reports it for all of them. "
        f"{_UNSEEN}",
        try_=(_SST,)
        if filters_set
        else (
            f"Use the binary logs of a member that has run since before {_begun(found) or 'the backup'} instead.",
            "Override this check if you know that no filter was set then, and give the reason.",
            _SST,
        )
        if unknown
        else (),
        absolute=bool(filters_set),
    )


def writers_of(facts: Facts, joiner: str, found: Survey) -> tuple[HostFacts, ...]:
    """Return the hosts whose servers have the ids that the files name; the joiner by its option files, 1 the default.

    One that answers comes before one of the same id that does not: which of them wrote is not known then.
    """

    def number(host: HostFacts) -> int | None:
        server = server_of(host)
        if server is not None:
            return server.server_id
        server_id = host[Options].option("mysqld", "server_id") or "1"
        return int(server_id) if host.host == joiner and server_id.isascii() and server_id.isdecimal() else None

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
            unread(host, "the filters of its server", "log-filters", "sql")
            if server_of(host) is not None
            else f"the server of {host.host}, which wrote them, is not running: its start options are not known"
        ]
    if own.since is None or begun is None:
        return [f"whether {host.host} has run since before they begin is not known"]
    if own.since <= begun:
        return []
    starts = f" ({found.chain.starts} server starts in them)" if found.chain.starts else ""
    started = (
        f"{host.host}, which wrote them, was started at {_moment(own.since)}, after they begin at {_moment(begun)}"
    )
    return [f"{started}{starts}: its earlier filters are not known"]


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
        said = [unread(host, "the filters of its server", "log-filters", "sql")] if unsaid else []
    else:
        unit = host[Starting].line is None
        said = [unread(host, "the options that its unit passes to the server", "start-line", "ssh")] if unit else []
    return [*said, *unread_options(host)]


def _moves(host: HostFacts) -> bool:
    return any(_REWRITE in told for told in filters_of(host))


def _begun(found: Survey) -> str:
    return _moment(found.chain.begun) if found.chain.begun is not None else ""


def _moment(at: int) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S} UTC"
