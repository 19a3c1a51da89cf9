"""Which hosts a form offers: members that answer, members that are down, spare hosts. Pure."""

from __future__ import annotations

from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.parts.server.sessions import Sessions
from services.types import Reach


def member_hosts(facts: Facts) -> tuple[str, ...]:
    """Return the inventory names of the members that answer as part of the Primary Component, sorted."""
    return tuple(sorted(name for name in facts.members if is_primary(facts, facts.host(name))))


def is_primary(facts: Facts, host: HostFacts) -> bool:
    """Return whether the host answers as a member of this cluster's Primary Component."""
    galera = host.node.galera if host.node is not None else None
    return bool(
        host.server_up
        and galera is not None
        and galera.cluster_status == "Primary"
        and galera.state_uuid == facts.cluster_id
    )


def member_choices(facts: Facts) -> tuple[tuple[str, str], ...]:
    """Return (host, what it is now) of every member that answers."""
    return tuple((name, _word(facts.host(name))) for name in member_hosts(facts))


def down_members(facts: Facts) -> tuple[str, ...]:
    """Return members that do not answer as Primary now, sorted."""
    up = set(member_hosts(facts))
    return tuple(sorted(name for name in facts.members if name not in up))


def why_no_spare(facts: Facts, name: str) -> str:
    """Return why a host outside the cluster is not offered as one that joins, '' for one that may be.

    Nobody knows what an SST would erase on a host that was never heard, or that is asked over SQL alone.
    """
    node = facts.host(name).node
    if node is None or node.reach in {Reach.NONE, Reach.NOT_TRIED}:
        return "no answer: its state is not known"
    if node.reach is Reach.SQL_ONLY:
        return "reachable over SQL only: a run needs SSH to its host"
    if node.galera is not None and node.galera.cluster_status == "Primary":
        return "a member of another cluster"
    return "runs on its own" if node.server is not None else ""


def is_out_of_reach(facts: Facts, name: str) -> bool:
    """Return whether nothing can be done on a host outside the cluster; what serves there is a check's to judge."""
    node = facts.host(name).node
    return name in facts.candidates and (node is None or node.reach not in {Reach.FULL, Reach.SSH_ONLY})


def _word(host: HostFacts) -> str:
    galera = host.node.galera if host.node is not None else None
    if galera is None:
        return "no answer"
    sessions = host[Sessions].clients
    clients = "" if sessions is None else f", {sessions} client session{'' if sessions == 1 else 's'}"
    return f"{galera.local_state_comment}{clients}"
