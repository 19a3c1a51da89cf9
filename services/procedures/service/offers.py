"""Which procedures fit a node as it is now: what the menu, the inspector and the palette offer. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from services.discovery.model import SPARE, ClusterSnapshot, EstateSnapshot, NodeView, nobody_answered, stands_alone
from services.discovery.words import names
from services.errors import UNREACHED
from services.facts.model import SSH
from services.procedures.plan.procedure import About
from services.types import ClusterKind, Reach
from services.words import tr

_REFUSED = frozenset(
    {"auth-failed", "tls-failed", "tls-missing", "certificate-unknown", "certificate-changed", "secret-missing"}
)
"""Codes of a login that fails at a server which may serve everybody else."""


def situations(cluster: ClusterSnapshot, node: NodeView) -> frozenset[str]:
    """Return the words of `About.for_states` that are true of a node."""
    primary = any(component.primary for component in cluster.components)
    if cluster.kind is not ClusterKind.GALERA or node.role == SPARE:
        stands_by = cluster.kind is ClusterKind.SINGLE or (cluster.kind is ClusterKind.GALERA and primary)
        return frozenset({"spare"}) if stands_by and is_spare(node) else frozenset()
    found = set()
    if not primary:
        found.add("no-primary")
    if node.state == "Synced" and node.reach in {Reach.FULL, Reach.SQL_ONLY} and primary:
        found.add("synced")
    if node.reach in {Reach.NONE, Reach.SSH_ONLY} and primary and _was_a_node(node) and not login_refused(node):
        found.add("down")
    return frozenset(found)


def _was_a_node(node: NodeView) -> bool:
    """Return whether anything shows that a node of the group was there: what is only written down shows nothing."""
    facts = node.facts
    heard = facts is not None and (facts.galera is not None or facts.server is not None)
    return heard or bool(node.uuid_history or node.seen_by or node.component or node.segment is not None)


def is_spare(node: NodeView) -> bool:
    """Return whether a host outside every cluster could join one: it says itself, over SSH, that no server runs on it.

    One that never answered, one that is asked over SQL alone, and one that serves are none: nobody knows what an SST
    would erase there.
    """
    machine = node.facts.machine if node.facts is not None else None
    return node.reach is Reach.SSH_ONLY and machine is not None and machine.process_state == ""


def why_none_fits(cluster: ClusterSnapshot | None) -> str:
    """Return why no procedure of today is for what is in sight, '' where one may be."""
    if cluster is None:
        return ""
    if cluster.kind is ClusterKind.GALERA:
        return _no_way_in(cluster)
    if cluster.kind is ClusterKind.SINGLE and any(is_spare(node) for node in cluster.nodes):
        return ""
    if cluster.kind is ClusterKind.UNKNOWN and _no_server_tells(cluster):
        return _no_way_in(cluster) if _may_be_dead(cluster) else _nothing_known(cluster)
    return tr(
        "These procedures are for a Galera cluster, and {name} is none. Choose the cluster in the tree first.",
        name=cluster.name,
    )


def _may_be_dead(cluster: ClusterSnapshot) -> bool:
    """Return whether it may be a Galera cluster that was down before we looked: no server of it says what it is."""
    return cluster.kind is ClusterKind.UNKNOWN and not stands_alone(cluster) and _no_server_tells(cluster)


def _nothing_known(cluster: ClusterSnapshot) -> str:
    if nobody_answered(cluster):
        return tr("It is not known what {name} is: nobody answered.", name=cluster.name)
    return tr("No server of {name} answers: which cluster it is, is not known yet.", name=cluster.name)


def _no_server_tells(cluster: ClusterSnapshot) -> bool:
    return all(node.facts is None or node.facts.server is None for node in cluster.nodes)


def _all_dark(estate: EstateSnapshot) -> bool:
    """Return whether several hosts are watched and no server of any says what it is: one dead cluster, perhaps."""
    alone = all(stands_alone(c) and _no_server_tells(c) for c in estate.clusters)
    return alone and len(estate.clusters) > 1


def _no_way_in(cluster: ClusterSnapshot) -> str:
    """Return what an SSH way would give where no host of the cluster has one: a run acts, and holds its lock, by it."""
    hosts = [node.facts for node in cluster.nodes if node.host and node.facts is not None]
    if not hosts or any(SSH not in facts.no_way for facts in hosts):
        return ""
    return tr(
        "The inventory gives no SSH way to any host of {name}: with one, these procedures can be run there.",
        name=cluster.name,
    )


def why_not(about: About, cluster: ClusterSnapshot | None, estate: EstateSnapshot) -> str:
    """Return why a procedure is not for what is in sight, '' where it may be; said of what is seen, not of what is."""
    if cluster is None or ("no-primary" in about.for_states and (_may_be_dead(cluster) or _all_dark(estate))):
        return ""  # what brings a dead cluster back reads first: what it finds on the disks decides
    if why := why_none_fits(cluster):
        return why
    return "" if fitting_cluster((about,), cluster, estate) else _what_is_missing(about, cluster)


def _what_is_missing(about: About, cluster: ClusterSnapshot) -> str:
    if cluster.kind is ClusterKind.UNKNOWN:
        return _nothing_known(cluster)
    if cluster.kind is not ClusterKind.GALERA:
        return tr("{name} is in no cluster. Choose the cluster in the tree first.", name=cluster.name)
    primary = any(component.primary for component in cluster.components)
    if not primary:
        return tr("No Primary Component of {name} is seen now: it has to be brought back first.", name=cluster.name)
    if "no-primary" in about.for_states:
        return tr("{name} has a Primary Component now: this is for a cluster that has none.", name=cluster.name)
    if "synced" in about.for_states:
        return tr("No node of {name} is known to be Synced now.", name=cluster.name)
    return tr("No node of {name} is down, and no host is watched that could join it.", name=cluster.name)


def fitting(abouts: Sequence[About], cluster: ClusterSnapshot, node: NodeView) -> tuple[About, ...]:
    """Return the procedures for this node, in the catalogue's order; what only a cluster without a Primary needs is
    not offered where there is one."""
    return _answering(abouts, situations(cluster, node))


def fitting_cluster(abouts: Sequence[About], cluster: ClusterSnapshot, estate: EstateSnapshot) -> tuple[About, ...]:
    """Return the procedures that fit any node of a cluster, and what brings a spare host of the estate into it."""
    true = frozenset[str]().union(*(situations(cluster, node) for node in cluster.nodes if node.host))
    if cluster.kind is ClusterKind.GALERA and any(component.primary for component in cluster.components):
        others = (c for c in estate.clusters if c.cluster_id != cluster.cluster_id)
        true |= frozenset[str]().union(*(situations(c, n) & {"spare"} for c in others for n in c.nodes if n.host))
    return _answering(abouts, true)


def can_be_retried(node: NodeView) -> bool:
    """Return whether another try may find what is not reached: the host, or a server that its host says is there."""
    facts = node.facts
    if node.reach is Reach.NONE or facts is None:
        return node.reach is Reach.NONE
    stopped = facts.machine is not None and facts.machine.process_state == ""
    return node.reach is Reach.SSH_ONLY and not stopped and any(p.code in UNREACHED for p in facts.problems)


def login_refused(node: NodeView) -> bool:
    """Return whether the console is refused by a server that may well be Synced: its connection is to be mended."""
    facts = node.facts
    stopped = facts is not None and facts.machine is not None and facts.machine.process_state == ""
    return (
        facts is not None
        and node.reach is Reach.SSH_ONLY
        and not stopped
        and any(p.part == "sql" and p.code in _REFUSED for p in facts.problems)
    )


def first_find_out(cluster: ClusterSnapshot) -> str:
    """Return what must come before a start from nothing: a silent node may be Primary and take rows; '' for nothing."""
    if cluster.kind is not ClusterKind.GALERA or any(c.primary for c in cluster.components) or not cluster.silent:
        return ""
    who = names(sorted(node.name for i in cluster.silent if (node := cluster.node(i)) is not None))
    return tr("First find out about {names}", names=who)


def _answering(abouts: Sequence[About], true: frozenset[str]) -> tuple[About, ...]:
    if not true:
        return ()
    return tuple(
        about
        for about in abouts
        if ({"any", *true} & set(about.for_states)) and ("no-primary" in true or "no-primary" not in about.for_states)
    )
