"""Hosts that are named and that nobody said may be asked: drawn where they belong, as 'not asked yet'. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from services.discovery.judgement.states import UNASKED
from services.discovery.model import ARBITRATOR, ClusterSnapshot, EstateSnapshot, NodeView, Unasked
from services.discovery.words import names
from services.facts.reading import host_port
from services.i18n import tr
from services.types import Health, worst


def with_unasked(
    clusters: Sequence[ClusterSnapshot], unasked: Sequence[Unasked], previous: EstateSnapshot | None, at: float
) -> list[ClusterSnapshot]:
    """Return the clusters with every unasked host in them: the member that others speak of, or a node of its own."""
    if not unasked:
        return list(clusters)
    before = {node.node_id: node for c in previous.clusters for node in c.nodes} if previous is not None else {}
    result = [_told(cluster, unasked, before, at) for cluster in clusters]
    homeless = [one for one in unasked if not any(_is(node, one) for c in clusters for node in c.nodes)]
    for number, cluster in enumerate(result):
        here = [one for one in homeless if any(node.host and node.name in one.by for node in cluster.nodes)]
        if here:
            result[number] = _grown(cluster, here, before, at)
            homeless = [one for one in homeless if one not in here]
    return result


def sentence(one: Unasked) -> str:
    """Return who names the host, and why nobody asked it."""
    if one.sure:
        return tr("named by {names}; no login is sent there without your consent", names=names([*one.by]))
    return tr("in the configuration of {names}; no login is sent there without your consent", names=names([*one.by]))


def _is(node: NodeView, one: Unasked) -> bool:
    """Return whether a node that only others speak of is this host; an arbitrator has no account to ask with."""
    host, port = host_port(node.address, 0)
    same = host == one.address and one.port in {None, port}
    return not node.host and same and (node.role != ARBITRATOR or one.port is not None)  # MongoDB's answers a hello


def _told(
    cluster: ClusterSnapshot, unasked: Sequence[Unasked], before: Mapping[str, NodeView], at: float
) -> ClusterSnapshot:
    nodes = []
    for node in cluster.nodes:
        one = next((one for one in unasked if _is(node, one)), None)
        nodes.append(node if one is None else _view(node, one, before, at))
    return replace(cluster, nodes=tuple(nodes))


def _grown(
    cluster: ClusterSnapshot, unasked: Sequence[Unasked], before: Mapping[str, NodeView], at: float
) -> ClusterSnapshot:
    new = [
        _view(NodeView(f"unasked:{one.place}", one.name, address=one.place, component=""), one, before, at)
        for one in unasked
    ]
    return replace(cluster, nodes=(*cluster.nodes, *new), health=worst((cluster.health, Health.UNKNOWN)))


def _view(node: NodeView, one: Unasked, before: Mapping[str, NodeView], at: float) -> NodeView:
    """Return the node as 'not asked yet'; what its group says of it stays in `seen_by`."""
    old = before.get(node.node_id)
    since = old.state_since if old is not None and old.code == UNASKED.code else at
    told = replace(node, state=UNASKED.word, code=UNASKED.code, state_since=since)
    return replace(told, health=Health.UNKNOWN, reason=sentence(one))
