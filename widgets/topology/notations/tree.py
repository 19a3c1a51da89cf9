"""The notation of trees of replication, and of hosts that nothing ties to one another: a forest, or a grid."""

from __future__ import annotations

from collections.abc import Sequence

from services.discovery.model import ClusterSnapshot, NodeView
from widgets.topology.forest import place_forest
from widgets.topology.notations.places import Placement, columns_for, finish, grid

Edges = Sequence[tuple[str, str]]


def place_tree(_cluster: ClusterSnapshot, nodes: Sequence[NodeView], edges: Edges) -> Placement:
    """Return sources above their replicas; without any channel the nodes in rows."""
    ids = [n.node_id for n in nodes]
    if not edges:
        return finish(grid(ids, 0, 0, columns_for(len(ids))))
    return finish(place_forest(ids, edges))
