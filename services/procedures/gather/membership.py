"""Which cluster is meant, and which hosts are, or were, its members: by what they say, our history, the inventory."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from services.discovery.model import ClusterSnapshot, NodeView
from services.facts.galera.state_files import ZERO_UUID
from services.facts.model import Problem
from services.facts.server.option_files import group_members
from services.inventory.model import ClusterEntry, Inventory
from services.procedures.plan.host_facts import HostFacts
from services.procedures.plan.parts.galera.data_folder import DataFolder
from services.procedures.plan.parts.galera.links import group_address
from services.procedures.plan.parts.server.options import Options
from services.types import Reach


def entry_of(
    inventory: Inventory, name: str, cluster_id: str, galera: tuple[ClusterSnapshot, ...]
) -> ClusterEntry | None:
    """Return the inventory's cluster: by name, else the one whose seeds are in the cluster meant."""
    if name:
        found = next((c for c in inventory.clusters if c.name == name), None)
        if found is not None:
            return found
    meant = [c for c in galera if c.cluster_id == cluster_id] if cluster_id else list(galera)
    hosts = {n.host for c in meant for n in c.nodes} if len(meant) == 1 else set()
    by_seed = [c for c in inventory.clusters if hosts & set(c.seeds)]
    if by_seed:
        return by_seed[0]
    return inventory.clusters[0] if len(inventory.clusters) == 1 and not galera else None


def chosen(
    galera: tuple[ClusterSnapshot, ...], cluster_id: str, name: str, entry: ClusterEntry | None
) -> ClusterSnapshot | None:
    """Return the cluster meant: by its state UUID, its seeds, its name, or because it is the only one; else None."""
    if cluster_id:
        return next((c for c in galera if c.cluster_id == cluster_id), None)
    if entry is not None:
        by_seed = [c for c in galera if {n.host for n in c.nodes} & set(entry.seeds)]
        if by_seed:
            return by_seed[0]
    if name:
        return next((c for c in galera if c.name == name), None)
    return galera[0] if len(galera) == 1 else None


def told_cluster(
    others: tuple[ClusterSnapshot, ...], cluster_id: str, name: str, inventory: Inventory, *, alone: bool
) -> ClusterSnapshot | None:
    """Return the cluster meant of a family whose members say themselves that they are, None for Galera's.

    By its id, the inventory's name for it, its own name, or because it is the only one at all.

    Args:
        others: such clusters; alone: no Galera cluster is seen beside them.
    """
    if cluster_id:
        return next((c for c in others if c.cluster_id == cluster_id), None)
    if name:
        seeds = next((set(c.seeds) for c in inventory.clusters if c.name == name), set())
        return next((c for c in others if c.name == name or {n.host for n in c.nodes} & seeds), None)
    return others[0] if len(others) == 1 and alone else None


def left_behind(found: tuple[HostFacts, ...], entry: ClusterEntry | None) -> str:
    """Return the state UUID that our own history, else most hosts' grastate.dat, tells; '' when none does.

    What we saw the servers say was their own word; files may be damaged, and two of them are no majority over it.
    """
    seeds = set(entry.seeds) if entry is not None else set()
    own = tuple(one for one in found if not seeds or one.host in seeds) or found
    for group in (own, found):
        uuids = Counter(one.remembered[0].cluster_uuid for one in group if one.remembered)
        states = (one[DataFolder].grastate for one in group)
        uuids = uuids or Counter(state.uuid for state in states if state is not None and state.names_state)
        if uuids:
            return min(uuids, key=lambda u: (-uuids[u], u))
    return ""


@dataclass(frozen=True, slots=True)
class Near:
    """What the hosts that surely belong to the cluster call it, where others find them, and whom they look for."""

    names: frozenset[str]
    addresses: frozenset[str]
    sought: frozenset[str]  # wsrep_cluster_address of them all, and whom other evidence names


def company(
    found: tuple[HostFacts, ...], uuid: str, entry: ClusterEntry | None, sought: frozenset[str] = frozenset()
) -> Near:
    """Return what those hosts say together; a seed of the inventory's cluster surely belongs to it.

    Args:
        sought: what other evidence than wsrep_cluster_address names as members.
    """
    seeds = set(entry.seeds) if entry is not None else set()
    sure = [one for one in found if (uuid and _state_uuid(one) == uuid) or one.host in seeds]
    names = {name for facts in sure if (name := facts[Options].option("mysqld", "wsrep_cluster_name"))}
    addresses = {text for facts in sure for text in (facts.host, facts.address, group_address(facts)) if text}
    looked_for = sought.union(*(_sought(facts) for facts in sure))
    return Near(frozenset(names), frozenset(addresses), looked_for)


def _state_uuid(facts: HostFacts) -> str:
    galera = facts.node.galera if facts.node is not None else None
    live = (galera.state_uuid or galera.local_state_uuid) if galera is not None else ""
    state = facts[DataFolder].grastate
    return live or (state.uuid if state is not None else "")


def is_member(
    facts: HostFacts, uuid: str, cluster: ClusterSnapshot | None, entry: ClusterEntry | None, near: Near
) -> bool:
    """Return whether the host is a member, or by disk, our history, the inventory or its configuration was one.

    One whose state file has lost the UUID, or has another one, still belongs where its configuration says: else nobody
    would see that its history differs. One that tells nothing belongs where the others look for it: it may be Primary.
    One that answers, has no state and was retired by a person is none any more, whatever our history saw.
    """
    if cluster is not None and any(n.host == facts.host and n.facts and n.facts.galera for n in cluster.nodes):
        return True
    own, running = _state_uuid(facts), facts.node is not None and facts.node.galera is not None
    if own not in {"", ZERO_UUID} and (running or own == uuid):
        return bool(uuid) and own == uuid
    if entry is not None and _has_left(facts, entry):
        return False
    if uuid and facts.remembered and facts.remembered[0].cluster_uuid == uuid:
        return True
    if facts.node is not None and facts.node.server is not None and facts.node.galera is None:
        return False  # it runs, and not as a Galera node
    if entry is not None and facts.host in entry.seeds:
        return True
    if facts.node is None or facts.node.reach in {Reach.NONE, Reach.NOT_TRIED}:
        return bool({facts.host, facts.address} & near.sought)
    known = _sought(facts) & near.addresses
    return facts[Options].option("mysqld", "wsrep_cluster_name") in near.names and bool(known)


def _has_left(facts: HostFacts, entry: ClusterEntry) -> bool:
    """Return whether a person wrote down that it left for good, and its own disk, which was read, has no state."""
    retired = {text.lower() for text in entry.retired}
    names = {text.lower() for text in (facts.host, facts.address, facts.node_name) if text}
    folder = facts[DataFolder]
    bare = folder.grastate_absent or (folder.grastate is not None and not folder.grastate.names_state)
    return bool(retired & names) and bare and facts.server_up is False


def members_of(
    found: tuple[HostFacts, ...],
    uuid: str,
    cluster: ClusterSnapshot | None,
    entry: ClusterEntry | None,
    sought: frozenset[str] = frozenset(),
) -> tuple[str, ...]:
    """Return the hosts that are, or were, members of a Galera cluster, in their order; `sought`: see `company`."""
    near = company(found, uuid, entry, sought)
    return tuple(one.host for one in found if is_member(one, uuid, cluster, entry, near))


def told_members(found: tuple[HostFacts, ...], other: ClusterSnapshot | None) -> tuple[str, ...]:
    """Return the hosts of a cluster whose members say themselves that they are, () for none."""
    told = {node.host for node in other.nodes} if other is not None else set()
    return tuple(one.host for one in found if one.host in told)


def is_elsewhere(facts: HostFacts) -> bool:
    """Return whether a host that is no member serves another group now: no procedure of this one is opened there."""
    node = facts.node
    if node is None:
        return False
    galera, replication = node.galera, node.replication
    return (galera is not None and galera.cluster_status == "Primary") or bool(
        replication is not None and (replication.channels or replication.replicas)
    )


def _sought(facts: HostFacts) -> frozenset[str]:
    return group_members(facts[Options].option("mysqld", "wsrep_cluster_address") or "")


def strangers(cluster: ClusterSnapshot | None, wanted: tuple[str, ...]) -> tuple[Problem, ...]:
    """Say which members of the cluster were not asked."""
    nodes = cluster.nodes if cluster is not None else ()
    return tuple(
        Problem("discovery", f"{_who(n)} is a member and was not asked, or gave no answer.", "not-asked")
        for n in nodes
        if n.host not in wanted
    )


def _who(node: NodeView) -> str:
    """Return a member's name with its address, where that is another word."""
    return node.name if node.name == node.address else f"{node.name} ({node.address or 'address not known'})"
