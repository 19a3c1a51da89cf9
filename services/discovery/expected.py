"""A cluster beside what the inventory expects of it: one that has lost or never found a member is not good. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from services.discovery.model import SPARE, ClusterSnapshot, NodeView
from services.discovery.words import names, number, some
from services.facts.model import Problem
from services.types import ClusterKind, Health, Reach, worst
from services.words import mark, tr

SMALLER = "smaller-than-expected"


def judged_by_size(cluster: ClusterSnapshot, expected: Mapping[str, int]) -> ClusterSnapshot:
    """Return the cluster judged by how many nodes it should have.

    Args:
        expected: host key of a seed -> nodes of its cluster (`[[cluster]] expected` of the inventory).
    """
    wanted = next((expected[n.host] for n in cluster.nodes if n.host in expected), None)
    if wanted is None:
        return cluster
    size = size_of(cluster)
    known = replace(cluster, expected=wanted, size=size)
    if size is None or size >= wanted:
        return known
    problem = Problem(cluster.kind.value, _sentence(cluster, size, wanted), SMALLER)
    return replace(known, problems=(problem, *cluster.problems), health=worst((cluster.health, Health.WARN)))


def size_of(cluster: ClusterSnapshot) -> int | None:
    """Return how many nodes a cluster has now; None when nobody can tell.

    Galera: what the primary component counts, the group's own word; without one the quorum is the trouble, not the
    number. Else: the servers that answer, and those of which nothing is known: only what is known to be gone is gone,
    and where no host answers nobody can tell.
    """
    if cluster.kind is ClusterKind.GALERA:
        return max((c.size or len(c.members) for c in cluster.components if c.primary), default=None)
    if all(node.reach in {Reach.NONE, Reach.NOT_TRIED} for node in cluster.nodes):
        return None
    return sum(not _gone(node) and node.role != SPARE for node in cluster.nodes)


def _gone(node: NodeView) -> bool:
    return node.health is Health.BAD and node.reach not in {Reach.FULL, Reach.SQL_ONLY}


def _behind(node: NodeView) -> bool:
    """Return whether a node stands behind or beside a group, no member of it: a plain server, a spare host."""
    plain = node.facts is not None and node.facts.galera is None and node.facts.server is not None
    return plain or node.role == SPARE


def _sentence(cluster: ClusterSnapshot, size: int, wanted: int) -> str:
    members = {member for c in cluster.components if c.primary for member in c.members}
    if cluster.kind is ClusterKind.GALERA:
        absent = [n.name for n in cluster.nodes if n.node_id not in members and not _behind(n)]
    else:
        absent = [n.name for n in cluster.nodes if _gone(n)]
    known, nodes = number(size), some(wanted, "{n} node", "{n} nodes")
    who = ""
    if absent:  # a group that answers and does not count a node misses it; of any other host it is known why it is none
        lacks = mark(": {names} missing") if cluster.kind is ClusterKind.GALERA else mark(": no server on {names}")
        who = tr(lacks, names=names(sorted(absent)))
    if cluster.kind is ClusterKind.GALERA:
        text = mark("The primary component has {size} of the {nodes} that the inventory expects{who}.")
    else:
        text = mark("There are {size} of the {nodes} that the inventory expects{who}.")
    return tr(text, size=known, nodes=nodes, who=who)
