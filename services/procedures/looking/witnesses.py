"""How a node came into its group, by witnesses that no client writes for: where its own log does not suffice.

A client can write lines into a server's log that look like the server's (facts/logs/client_text.py). It can't make
a node Synced, it can't set when a file was made, and it writes into no log of systemd's. So where a transfer's own
lines stand among words that may be a client's, these are asked: the node's state, the file that an SST replaces, and
the logs of the other members, each by its own undoubted lines.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from services.connections.reads import commands
from services.errors import UserError
from services.facts.galera.whole import SYNCED
from services.facts.machine.machine import parse_born
from services.facts.reads import DEFAULT_DATADIR
from services.procedures.looking.log import read_log_since
from services.procedures.plan.looks import Asking
from services.procedures.plan.parts.galera.data_folder import DataFolder
from services.procedures.plan.parts.machine.unit import Unit

_REPLACES = frozenset({"mariabackup", "xtrabackup", "xtrabackup-v2", "clone"})
"""The methods of an SST that make ibdata1 anew; rsync writes into the old file (--inplace), mysqldump into tables."""


@dataclass(frozen=True, slots=True)
class Witnessed:
    """What is known of how a node came; `donor`: its wsrep_node_name, '' not known; `told`: who says so."""

    kind: Literal["IST", "SST"]
    donor: str
    told: str


def is_synced(asking: Asking, host: str) -> bool:
    """Return whether the node says that it is a Synced member of a Primary Component: then its transfer has ended."""
    try:
        status = asking.status(host)
    except UserError:
        return False
    return status.get("wsrep_local_state") == str(SYNCED) and status.get("wsrep_cluster_status") == "Primary"


def witnessed(asking: Asking, host: str, name: str, since: float) -> Witnessed | None:
    """Return how a Synced node came, None where no witness knows.

    Args:
        name: its wsrep_node_name; since: the workstation's time from which on its transfer counts.
    """
    kind = _by_data(asking, host)
    from_log = _by_members(asking, host, name, since)
    if kind is None:
        return from_log
    if kind == "SST":
        return Witnessed("SST", from_log.donor if from_log else "", "its data were made since its start")
    evidence = "it serves the data that lay there before its start: no SST replaced them"
    return Witnessed("IST", from_log.donor if from_log else "", evidence)


def _by_data(asking: Asking, host: str) -> Literal["IST", "SST"] | None:
    """Tell by the age of the file that an SST replaces; None where the method keeps it, or its age is not known."""
    seen = asking.facts.host(host) if asking.facts is not None else None
    unit = (seen[Unit].name if seen is not None else "") or "mariadb.service"
    folder = (seen[DataFolder].path if seen is not None else "") or DEFAULT_DATADIR
    try:
        if asking.variable(host, "wsrep_sst_method") not in _REPLACES:
            return None
        found = parse_born(asking.run(host, commands.DATA_BORN_AT.read(unit, folder.rstrip("/"), sudo=True)).text)
    except UserError:
        return None
    if found is None:
        return None
    began, born = found
    return "IST" if born < began else "SST" if born > began else None


def _by_members(asking: Asking, host: str, name: str, since: float) -> Witnessed | None:
    """Tell by what the logs of the other members say of the newest transfer to the node, the donor's own first."""
    if asking.facts is None or not name:
        return None
    for member in asking.facts.members:
        other = asking.facts.host(member)
        if member == host or not other.node_name:
            continue
        try:
            log = read_log_since(asking, member, other[Unit].name or "mariadb.service", since)
        except UserError:
            continue
        found = [one for one in log.transfers(since) if one.joiner_name == name] if log is not None else []
        last = found[-1] if found else None
        if last is None or last.failed or last.donor_name != other.node_name:
            continue
        if last.kind in {"IST", "SST"}:
            return Witnessed("IST" if last.kind == "IST" else "SST", last.donor_name, f"the log of {member}, its donor")
    return None
