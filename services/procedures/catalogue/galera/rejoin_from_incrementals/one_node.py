"""Are the backups of a chain of one node's data, with no SST between them? Proven by the node's own binary logs. Pure.

A backup with --galera-info begins a binary log, and brings its head. An SST erases the joiner's binary logs (MariaDB
10.11.18, scripts/wsrep_sst_mariabackup.sh and wsrep_sst_rsync.sh: all files of log_bin's name), and so does whoever
puts other data in the folder's place. A log that is still there under its name, with that head and more behind it, was
written on since: the data are those that the backup was made of. Data that were copied back from a backup bring its
log too, which ends where the head does: nothing follows in it.
"""

from __future__ import annotations

from services.facts.backup.backups import Backup
from services.facts.reading import count
from services.procedures.catalogue.checks.parts import server_of, verdict
from services.procedures.catalogue.galera.rejoin_from_incrementals import chain as chains
from services.procedures.catalogue.galera.rejoin_from_incrementals.chain import Chain
from services.procedures.plan.checks import Check
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.parts.server.options import Options

_MORE_LOGS = "sst_max_binlogs"
"""A donor by rsync sends that many of its logs, not its last alone: one that it was sent before may come back so."""
_FOUND = {
    "absent": "is no longer in the data folder: purged, erased by an SST, or located elsewhere",
    "other": "differs from the one in the data folder",
    "same": "ends in the data folder where the backup ends: it was copied back, or nothing was written since",
}


def one_nodes_data(facts: Facts, joiner: str, chain: Chain) -> Check:
    """An SST between two backups is seen by no prepare: proven, or a person says why none came."""
    pairs = chains.steps_of(chain)
    mixed = [
        f"{b.path} (binary log {b.log or 'not known'} of server {_id(b)}) after {a.path} ({a.log or 'not known'} of "
        f"server {_id(a)})"
        for a, b in pairs
        if chains.of_other_data(a, b)
    ]
    blind = _unproven(facts, joiner, chain) if pairs and not mixed else []
    unsure = [f"whether the node received an SST between the backups is not known: {'; '.join(blind)}"] if blind else []
    proven = f"{joiner} still has the binary log that was current at each backup" if pairs else "a full backup alone"
    return Check(
        code="CHAIN-NODE",
        title="The backups are from one node's data",
        verdict=verdict([*mixed, *unsure]),
        not_known=bool(unsure),
        evidence="; ".join([*mixed, *unsure]) or proven,
        why="An SST replaces the data of a node, and a later incremental mixes their pages with those of the full "
        "backup: the prepare succeeds with the right position, but the tables are damaged.",
        try_=("Use a chain that was started after the node's last SST.",)
        if mixed
        else ("Use the full backup alone, or override this check if the node's log shows no SST between them.",)
        if unsure
        else (),
        absolute=bool(mixed),
    )


def _id(one: Backup) -> str:
    return str(one.by) if one.by is not None else "not known"


def _unproven(facts: Facts, joiner: str, chain: Chain) -> list[str]:
    """Return why the joiner's own binary logs do not prove it, nothing where they do."""
    said = _not_its_own(facts, joiner, chain) or [
        f"{one.log} of {one.path} {_FOUND.get(one.own, 'could not be compared with the data folder')}"
        for one in chain.backups
        if one.own != "longer" and (one.own != "same" or one is not chain.last)
    ]
    back = [f"{_MORE_LOGS} is set on {host.host}: an SST may have restored old logs of {joiner}"
            for host in facts.hosts if any(name == _MORE_LOGS for _, name, _ in host[Options].given)]  # fmt: skip
    return [*said, *back]


def _not_its_own(facts: Facts, joiner: str, chain: Chain) -> list[str]:
    """Return why the logs are not known to be the joiner's: an SST brings another node's log, its server's id in it."""
    if not facts.host(joiner)[Options].known:
        return [f"the option files of {joiner} were not read"]
    own = _server_id(facts.host(joiner))
    others = {host.host: _server_id(host) for host in facts.hosts if host.host != joiner}
    alike = [name for name, number in others.items() if number in {None, own} and name in facts.members]
    if alike:
        return [f"whether the server id of {joiner} differs from that of {', '.join(alike)} is not known"]
    return [f"{one.path} is from server {_id(one)}, but {joiner} is {own}" for one in chain.backups if one.by != own]


def _server_id(host: HostFacts) -> int | None:
    """Return a server's id as it says itself, else by its option files, where 1 is the default."""
    server = server_of(host)
    if server is not None and server.server_id is not None:
        return server.server_id
    return count(host[Options].option("mysqld", "server_id") or "1") if host[Options].known else None
