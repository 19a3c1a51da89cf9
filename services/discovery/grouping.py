"""Which nodes form which cluster: Galera by state UUID, the rest by who replicates from whom. Never by a name alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from services.addresses import is_this_machine
from services.discovery.async_view import Link, groups_of
from services.discovery.model import EstateSnapshot, NodeView
from services.discovery.nodes import Node
from services.facts.reading import host_port
from services.types import ClusterKind

LOST_S = 8 * 3600.0
"""How long a member that nobody names any more is shown as lost: a night."""
MOST_LOST = 32
"""Such members of one cluster: a server that names others each time must not fill the picture with them."""


def assign_galera(nodes: Sequence[Node], previous: EstateSnapshot | None) -> dict[str, list[Node]]:
    """Return cluster id -> nodes for all nodes that belong to a Galera cluster, and note it in them.

    The state UUID decides. A node that has none right now (it is joining, or its server is down) stays where it was, or
    goes where members speak of its address; a Galera node that nobody claims is a cluster of its own.
    """
    before = {n.node_id: c.cluster_id for c in previous.clusters for n in c.nodes} if previous is not None else {}
    galera_before = {c.cluster_id for c in previous.clusters if c.kind is ClusterKind.GALERA} if previous else set()
    clusters: dict[str, list[Node]] = {}
    undecided: list[Node] = []
    for node in nodes:
        found = node.galera.state_uuid or node.galera.local_state_uuid if node.galera is not None else ""
        if found:
            clusters.setdefault(found, []).append(node)
        else:
            undecided.append(node)
    spoken: dict[str, str] = {}
    if undecided:
        spoken = {address: cluster for cluster, members in clusters.items() for address in spoken_of(members)}
    for node in undecided:
        said = next((spoken[a] for a in sorted(node.addresses) if a in spoken), "")
        old = before.get(node.node_id, "")
        home = _home(node, old if old in clusters or (old in galera_before and not said) else "", said)
        if home:
            clusters.setdefault(home, []).append(node)
    for cluster, members in clusters.items():
        for node in members:
            node.cluster = cluster
    return clusters


def _home(node: Node, old: str, said: str) -> str:
    """Return the cluster of a node without a state UUID: `old` where it was, `said` whose members speak of it."""
    if node.server is not None and node.galera is None and (node.sql_fresh or not said):
        return ""  # it answered as a plain server, and no group speaks of it
    return old or said or (f"galera:{node.node_id}" if node.galera is not None else "")


def spoken_of(members: Sequence[Node]) -> set[str]:
    """Return the addresses that nodes of a cluster name as their fellows', in their settings and in their views."""
    said: set[str] = set()  # everybody says the same: each text is read once
    settings: set[str] = set()
    for node in members:
        if node.galera is not None:
            said.update(node.galera.incoming_addresses)
            said.update(m.address for m in node.galera.members)
            settings.add(node.galera.cluster_address)
    for setting in settings:
        said.update(setting.partition("//")[2].partition("?")[0].split(","))
    hosts = {host_port(address)[0] for address in said}
    return {host for host in hosts if host and not is_this_machine(host)}


def carry_placeholders(clusters: Mapping[str, list[Node]], previous: EstateSnapshot | None, at: float) -> None:
    """Put back the members that only others spoke of: one that nobody mentions any more is lost, not forgotten at once.

    Those lost first stay; after `LOST_S` they go, where a node of the cluster answers and could name them.
    """
    if previous is None:
        return
    for old in previous.clusters:
        here = clusters.get(old.cluster_id)
        if here is None or old.kind is not ClusterKind.GALERA:
            continue
        taken = {u for node in here for u in node.history} | {a for node in here for a in node.addresses}
        for view in _kept(old.nodes, at if any(node.sql_fresh for node in here) else None):
            host = host_port(view.address)[0]
            if not view.node_id.startswith("member:") or host in taken or taken & set(view.uuid_history):
                continue
            here.append(
                Node(
                    node_id=view.node_id,
                    name=view.name,
                    facts=None,
                    at=at,
                    previous=view,
                    history=view.uuid_history,
                    cluster=old.cluster_id,
                    address=view.address,
                    arbitrator=view.role == "arbitrator",
                    addresses=frozenset({host} if host else set()),
                )
            )


def _kept(views: Sequence[NodeView], at: float | None) -> list[NodeView]:
    """Return the nodes that only others spoke of: those named a moment ago, and of the lost the first ones.

    `at`: now; None where nobody answers, who could name them, and so none is too old.
    """
    spoken = [view for view in views if not view.host]
    lost = sorted((v for v in spoken if not v.seen_by), key=lambda view: view.state_since or 0.0)
    young = [v for v in lost if at is None or v.state_since is None or at - v.state_since <= LOST_S]
    return [view for view in spoken if view.seen_by] + young[:MOST_LOST]


def assign_async(
    nodes: Sequence[Node], links: Sequence[Link], clusters: dict[str, list[Node]], previous: EstateSnapshot | None
) -> dict[str, tuple[Node, ...]]:
    """Return cluster id -> nodes for those outside Galera; a tree that hangs on a Galera node joins that cluster."""
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
    """Return the Galera cluster that a group replicates from, else one that replicates from it, else ''."""
    ids = {node.node_id for node in group}
    upstream = [li.source.cluster for li in links if li.replica.node_id in ids and li.source.node_id not in ids]
    downstream = [li.replica.cluster for li in links if li.source.node_id in ids and li.replica.node_id not in ids]
    return next((cluster for cluster in (*upstream, *downstream) if cluster), "")


def _async_id(group: Sequence[Node], links: Sequence[Link], previous: EstateSnapshot | None, taken: set[str]) -> str:
    """Return the id of the earlier asynchronous cluster that most of these were in, else a new one of the root."""
    ids = {node.node_id for node in group}
    if len(group) == 1 and not any(li.replica.node_id in ids for li in links):
        return f"host:{group[0].node_id}"
    best, shared = "", 0
    for old in previous.clusters if previous is not None else ():
        overlap = sum(1 for n in old.nodes if n.node_id in ids)
        if old.kind is ClusterKind.ASYNC and old.cluster_id not in taken and overlap > shared:
            best, shared = old.cluster_id, overlap
    return best or f"async:{root_of(group, links).node_id}"


def kind_outside_galera(members: Sequence[Node], links: Sequence[Link]) -> ClusterKind:
    """Return the kind of nodes outside Galera: 'single server' is said of a host that said so much itself."""
    if links:
        return ClusterKind.ASYNC
    only = members[0] if len(members) == 1 else None
    runs_none = only is not None and only.machine is not None and only.machine.process_state == ""  # perhaps a spare
    return ClusterKind.SINGLE if only is not None and (only.server or runs_none) else ClusterKind.UNKNOWN


def root_of(group: Sequence[Node], links: Sequence[Link]) -> Node:
    """Return the node everything flows from: a source that replicates from nobody, else (a ring) the first source."""
    ids = {node.node_id for node in group}
    inside = [li for li in links if li.replica.node_id in ids and li.source.node_id in ids]
    replicas, sources = {li.replica.node_id for li in inside}, {li.source.node_id for li in inside}
    roots = [n for n in group if n.node_id in sources and n.node_id not in replicas]
    known = [n for n in roots if n.facts is not None]
    ordered = known or roots or [n for n in group if n.node_id in sources] or list(group)
    return min(ordered, key=lambda n: n.node_id)
