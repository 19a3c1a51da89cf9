"""Of an estate in a recording, what a window draws in time: a file that came by mail may hold any number of nodes."""

from __future__ import annotations

from dataclasses import replace

from services.discovery.model import ClusterSnapshot, EstateSnapshot
from services.facts.model import Problem
from services.i18n import tr_n
from services.types import NODES_LEFT_OUT

MOST_DRAWN = 500
"""Nodes that a window is promised to draw in time: of more the rest is left out and counted."""


def drawable(snapshot: EstateSnapshot) -> EstateSnapshot:
    """Leave out nodes beyond what a window draws at once, those that nobody watches first, and say so."""
    whole = sum(len(c.nodes) for c in snapshot.clusters)
    if whole <= MOST_DRAWN:
        return snapshot
    every = [node for c in snapshot.clusters for node in c.nodes]
    kept = {id(node) for node in sorted(every, key=lambda node: not node.host)[:MOST_DRAWN]}
    return replace(snapshot, clusters=tuple(_only(c, kept) for c in snapshot.clusters))


def _only(cluster: ClusterSnapshot, kept: set[int]) -> ClusterSnapshot:
    nodes = tuple(node for node in cluster.nodes if id(node) in kept)
    if len(nodes) == len(cluster.nodes):
        return cluster
    ids = {node.node_id for node in nodes}
    left = len(cluster.nodes) - len(nodes)
    words = tr_n(
        "{n} node of {name} is left out: at most {most} are drawn.",
        "{n} nodes of {name} are left out: at most {most} are drawn.",
        left,
        name=cluster.name,
        most=MOST_DRAWN,
    )
    return replace(
        cluster,
        nodes=nodes,
        replication=tuple(e for e in cluster.replication if {e.source_id, e.replica_id} <= ids),
        transfers=tuple(t for t in cluster.transfers if {t.donor_id, t.joiner_id} <= ids),
        problems=(*cluster.problems, Problem("recording", words, NODES_LEFT_OUT)),
    )
