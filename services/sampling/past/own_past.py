"""Which part of a history belongs to the inventory that is watched: several inventories may share one data folder.

What a console keeps is signed with a mark of its inventory's file and, where a host is meant, with that host's address.
A host's name alone says nothing: 'n1' may stand in two inventories at two addresses. What an older program kept has no
mark: there the host's name has to do.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from services.discovery.model import ClusterSnapshot, EstateSnapshot, NodeView
from services.events import Event
from services.facts.reading import host_port
from services.types import Reach

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""A cluster that goes by one is the same wherever it is seen; any other id is made from names of an inventory."""


def mark_of(path: Path) -> str:
    """Return what an inventory's file signs with: the same for the same place, and no path (recordings travel)."""
    return hashlib.sha256(str(path.resolve()).encode("utf-8", "surrogateescape")).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class OwnPast:
    """What is of this inventory: what bears its mark, its hosts (name -> address), and the clusters that they are in.

    Without a mark (a recording) everything is.
    """

    mark: str = ""
    hosts: Mapping[str, str] = field(default_factory=dict)

    def events(self, told: Sequence[Event]) -> tuple[tuple[Event, ...], tuple[Event, ...]]:
        """Return the events of this inventory, and those of others, each in the order given."""
        if not self.mark:
            return tuple(told), ()
        sure = [self._is_own(event) for event in told]
        clusters = {event.cluster_id for event, own in zip(told, sure, strict=True) if own} - {""}
        own = [known or self._is_near(event, clusters) for event, known in zip(told, sure, strict=True)]
        pairs = tuple(zip(told, own, strict=True))
        return tuple(event for event, here in pairs if here), tuple(event for event, here in pairs if not here)

    def _is_own(self, event: Event) -> bool:
        if event.inventory == self.mark or event.kind == "console":
            return True
        return event.node_id in self.hosts and event.address in {"", self.hosts[event.node_id]}

    def _is_near(self, event: Event, clusters: set[str]) -> bool:
        """Return whether it is of a cluster that own hosts are in, or of nobody knows whom."""
        if event.inventory:
            return event.cluster_id in clusters and _UUID.fullmatch(event.cluster_id) is not None
        return event.cluster_id in clusters or not (event.cluster_id or event.node_id)

    def picture(self, estate: EstateSnapshot) -> EstateSnapshot:
        """Return of a picture that another inventory's console drew the clusters that own hosts are in."""
        if not self.mark or estate.inventory == self.mark:
            return estate
        clusters = tuple(cluster for cluster in estate.clusters if self._has_own(cluster))
        if len(clusters) == len(estate.clusters):
            return estate
        nodes = [node for cluster in clusters for node in cluster.nodes if node.host]
        reached = sum(node.reach not in {Reach.NONE, Reach.NOT_TRIED} for node in nodes)
        return replace(
            estate, clusters=clusters, problems=(), hosts_total=len(nodes), hosts_answering=reached, unasked=()
        )

    def _has_own(self, cluster: ClusterSnapshot) -> bool:
        return any(node.host in self.hosts and _address(node) == self.hosts[node.host] for node in cluster.nodes)


def _address(node: NodeView) -> str:
    asked = node.facts.address if node.facts is not None else ""
    return asked or host_port(node.address)[0]
