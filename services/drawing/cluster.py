"""A cluster as every drawing of it shows it: who stands together, in which order, and how far a transfer is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from services.discovery.model import ClusterSnapshot, Component, NodeView, TransferEdge
from services.i18n import tr

_DIGITS = re.compile(r"([0-9]{1,18})")


@dataclass(frozen=True, slots=True)
class Part:
    """Nodes that stand together: those of a component, or (None) those outside every one."""

    component: Component | None
    nodes: tuple[NodeView, ...]

    @property
    def primary(self) -> bool:
        """Return whether it has the majority."""
        return self.component is not None and self.component.primary


@lru_cache(maxsize=4096)
def natural_key(name: str) -> tuple[tuple[int, int, str], ...]:
    """Return a sort key that puts db2 before db10."""
    parts = _DIGITS.split(name.casefold())
    return tuple((0, 0, part) if at % 2 == 0 else (1, int(part), "") for at, part in enumerate(parts) if part)


def in_order(nodes: Iterable[NodeView]) -> tuple[NodeView, ...]:
    """Return nodes in the order of their names."""
    return tuple(sorted(nodes, key=lambda n: (natural_key(n.name), n.node_id)))


def ordered_nodes(cluster: ClusterSnapshot) -> tuple[NodeView, ...]:
    """Return the nodes in the order of their names: the same in the tree, the drawings and the legends."""
    return in_order(cluster.nodes)


def homes(cluster: ClusterSnapshot) -> Mapping[str, str]:
    """Return node -> its component. Views may overlap while they disagree: a node's own view decides then."""
    ids = {c.component_id for c in cluster.components}
    found = {n.node_id: n.component for n in cluster.nodes if n.component in ids}
    for component in cluster.components:
        for member in component.members:
            found.setdefault(member, component.component_id)
    return found


def part_name(component: Component, cluster: ClusterSnapshot) -> str:
    """Return what a part is called: by the group that it is of, where the cluster has several."""
    inside = tr(cluster.kind.inside if component.primary else cluster.kind.outside)
    if not component.title:
        return inside
    title = component.title[:1].upper() + component.title[1:]
    return title if component.primary else tr("{part}: {outside}", part=title, outside=inside)


def drawn_parts(cluster: ClusterSnapshot) -> tuple[Part, ...]:
    """Return who stands together, those with the majority first, those outside every component last; none is empty.

    Nodes stand in the order of their names, outside every component the sources before their replicas.
    """
    home = homes(cluster)
    members: dict[str, list[NodeView]] = {}
    for node in ordered_nodes(cluster):
        members.setdefault(home.get(node.node_id, ""), []).append(node)
    ordered = sorted(cluster.components, key=lambda component: not component.primary)
    found = [Part(c, tuple(members[c.component_id])) for c in ordered if c.component_id in members]
    replicas = {edge.replica_id for edge in cluster.replication}
    alone = sorted(members.get("", ()), key=lambda node: node.node_id in replicas)
    return (*found, Part(None, tuple(alone))) if alone else tuple(found)


def transfer_fraction(edge: TransferEdge) -> float | None:
    """Return how much of a transfer is done, 0 to 1; None while that can't be told."""
    if edge.bytes_total and edge.bytes_done is not None:
        return min(1.0, max(0.0, edge.bytes_done / edge.bytes_total))
    if edge.seqno_first is not None and edge.seqno_last is not None and edge.seqno_done is not None:
        span = edge.seqno_last - edge.seqno_first
        return min(1.0, max(0.0, (edge.seqno_done - edge.seqno_first) / span)) if span > 0 else None
    return None
