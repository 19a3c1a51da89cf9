"""Where everything of one cluster stands: a pure, deterministic function of its structure, never of its states.

A node keeps its place while its state changes. Which notation draws it, its kind says (notations/).
"""

from __future__ import annotations

from dataclasses import replace

from services.discovery.model import ClusterSnapshot
from services.drawing.cluster import ordered_nodes
from services.types import SEVERAL_GROUPS, VOTES
from widgets.topology.notations.places import NOWHERE, Chamber, Hole, Placement, Shape
from widgets.topology.notations.quorum import place_quorum, was_member
from widgets.topology.notations.sharded import place_sharded
from widgets.topology.notations.tree import place_tree

__all__ = ["NOWHERE", "Chamber", "Hole", "Placement", "Shape", "Structure", "place", "stretched", "structure"]

Structure = tuple[object, ...]
_NOTATIONS = {VOTES: place_quorum, SEVERAL_GROUPS: place_sharded}
"""Which notation a trait of the kind asks for; a tree for whoever has none of them."""


def structure(cluster: ClusterSnapshot) -> Structure:
    """Return what the places depend on; equal structures have equal placements."""
    return (
        cluster.cluster_id,
        cluster.kind,
        tuple((n.node_id, n.name, n.segment, n.component, was_member(n)) for n in cluster.nodes),
        tuple((c.component_id, c.primary, c.members, c.absent) for c in cluster.components),
        tuple((e.source_id, e.replica_id) for e in cluster.replication),
        tuple((t.donor_id, t.joiner_id) for t in cluster.transfers if t.active),
    )


def place(cluster: ClusterSnapshot) -> Placement:
    """Return the places of all nodes of `cluster`, of the outlines around them and of the holes."""
    notation = next((one for trait, one in _NOTATIONS.items() if trait in cluster.kind.traits), place_tree)
    edges = sorted((e.source_id, e.replica_id) for e in cluster.replication)
    return notation(cluster, ordered_nodes(cluster), edges)


def stretched(placement: Placement, by: float) -> Placement:
    """Return the same places in a drawing that is wider by a factor: its cards hold longer words."""
    if by == 1.0:
        return placement
    return Placement(
        {node: box.stretched(by) for node, box in placement.nodes.items()},
        tuple(replace(shape, box=shape.box.stretched(by)) for shape in placement.shapes),
        tuple(replace(chamber, box=chamber.box.stretched(by)) for chamber in placement.chambers),
        tuple(replace(hole, box=hole.box.stretched(by)) for hole in placement.holes),
        placement.bounds.stretched(by),
    )
