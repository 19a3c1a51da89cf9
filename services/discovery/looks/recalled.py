"""Where each host stood when the console last looked: the first picture of the next run begins from it. Pure.

A server that is down tells nobody its cluster. Without a memory a console that is opened on a dead cluster draws as
many strangers as it has hosts, and offers none of them the start after a crash.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from services.discovery.model import ClusterSnapshot, EstateSnapshot, NodeView
from services.types import KEEPS_IDENTITY


def recalled(last: EstateSnapshot, hosts: Mapping[str, str]) -> EstateSnapshot:
    """Return who belonged to which cluster in the last picture, and nothing of how they were.

    Identities alone are recalled: a state of yesterday is no state, and a change since then was seen by nobody. What a
    server says itself comes before all of it (families/galera/claims.py).

    Args:
        hosts: host key -> address of the hosts that are watched; what is no longer among them is not recalled.
    """
    kept = (_cluster(cluster, hosts) for cluster in last.clusters if KEEPS_IDENTITY in cluster.kind.traits)
    return EstateSnapshot(at=last.at, clusters=tuple(cluster for cluster in kept if cluster.nodes))


def _cluster(cluster: ClusterSnapshot, hosts: Mapping[str, str]) -> ClusterSnapshot:
    nodes = tuple(_node(node) for node in cluster.nodes if node.host in hosts)
    return ClusterSnapshot(cluster.cluster_id, cluster.kind, cluster.name, cluster.at, nodes=nodes)


def _node(node: NodeView) -> NodeView:
    bare = NodeView(node.node_id, node.name, node.host, node.address, segment=node.segment)
    return replace(bare, uuid_history=node.uuid_history)
