"""What a cluster as a whole may promise a node that leaves: the IST reach of its second best donor, in its snapshot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from services.discovery.families.registry import registered
from services.discovery.model import ClusterReach, ClusterSnapshot, EstateSnapshot, NodeView
from services.facts.galera.ist import MARGIN
from services.sampling.ist_reach import IstReach, cluster_reach
from services.types import LENDS_HISTORY
from services.types import Reach as Reached

Rates = Mapping[str, Mapping[str, float]]


def with_reach(estate: EstateSnapshot, rates: Rates) -> EstateSnapshot:
    """Return the estate, the clusters whose members lend history with their reach.

    Args:
        rates: host key -> derived rates; "ist_reach_s" is a donor's promise, its margin already taken off.
    """
    clusters = tuple(
        replace(c, ist_reach=_reach(c, rates)) if LENDS_HISTORY in c.kind.traits else c for c in estate.clusters
    )
    return replace(estate, clusters=clusters)


def _reach(cluster: ClusterSnapshot, rates: Rates) -> ClusterReach:
    primary = {member for c in cluster.components if c.primary for member in c.members}
    promised = [
        IstReach(seconds=safe / MARGIN, safe_seconds=safe, donor=node.node_id)
        for node in cluster.nodes
        if node.node_id in primary
        and may_give(node)
        and (safe := rates.get(node.host, {}).get("ist_reach_s")) is not None
    ]
    found = cluster_reach(promised)
    return ClusterReach(found.safe_seconds, found.donor, len(promised), found.reason)


def may_give(node: NodeView) -> bool:
    """Return whether a node that answers now can be chosen as donor."""
    lent = registered().lent(node.facts) if node.facts is not None else None
    answers = node.reach in {Reached.FULL, Reached.SQL_ONLY}
    return answers and lent is not None and lent.gives
