"""Which nodes form which tree: by who replicates from whom."""

from __future__ import annotations

from collections.abc import Sequence

from services.discovery.families.shared.channels import Link, groups_of
from services.discovery.model import EstateSnapshot
from services.discovery.nodes import Node
from services.types import TREE


def assign_trees(
    nodes: Sequence[Node], links: Sequence[Link], clusters: dict[str, list[Node]], previous: EstateSnapshot | None
) -> dict[str, tuple[Node, ...]]:
    """Return cluster id -> nodes for those that no group claims; a tree that hangs on a member joins its cluster."""
    outside = [node for node in nodes if not node.cluster]
    alone: dict[str, tuple[Node, ...]] = {}
    taken: set[str] = set()
    for group in groups_of(outside, links):
        home = _neighbour(group, links)
        if home and home in clusters:
            clusters[home].extend(group)
            cluster = home
            for node in group:
                node.behind = True
        else:
            cluster = _async_id(group, links, previous, taken)
            taken.add(cluster)
            alone[cluster] = group
        for node in group:
            node.cluster = cluster
    return alone


def _neighbour(group: Sequence[Node], links: Sequence[Link]) -> str:
    """Return the cluster that these nodes replicate from, else one that replicates from them, else ''."""
    ids = {node.node_id for node in group}
    upstream = [li.source.cluster for li in links if li.replica.node_id in ids and li.source.node_id not in ids]
    downstream = [li.replica.cluster for li in links if li.source.node_id in ids and li.replica.node_id not in ids]
    return next((cluster for cluster in (*upstream, *downstream) if cluster), "")


def _async_id(group: Sequence[Node], links: Sequence[Link], previous: EstateSnapshot | None, taken: set[str]) -> str:
    """Return the id of the earlier asynchronous cluster that most of these were in, else a new one of the root."""
    ids = {node.node_id for node in group}
    if len(group) == 1 and not any(li.replica.node_id in ids for li in links):
        return one_host(group[0])
    best, shared = "", 0
    for old in previous.clusters if previous is not None else ():
        overlap = sum(1 for n in old.nodes if n.node_id in ids)
        if TREE in old.kind.traits and old.cluster_id not in taken and overlap > shared:
            best, shared = old.cluster_id, overlap
    return best or f"async:{root_of(group, links).node_id}"


def one_host(node: Node) -> str:
    """Return the id of the cluster of a host that stands alone."""
    return f"host:{node.node_id}"


def root_of(group: Sequence[Node], links: Sequence[Link]) -> Node:
    """Return the node everything flows from: a source that replicates from nobody, else (a ring) the first source."""
    ids = {node.node_id for node in group}
    inside = [li for li in links if li.replica.node_id in ids and li.source.node_id in ids]
    replicas, sources = {li.replica.node_id for li in inside}, {li.source.node_id for li in inside}
    roots = [n for n in group if n.node_id in sources and n.node_id not in replicas]
    known = [n for n in roots if n.facts is not None]
    ordered = known or roots or [n for n in group if n.node_id in sources] or list(group)
    return min(ordered, key=lambda n: n.node_id)
