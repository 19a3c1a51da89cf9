"""Hosts of the inventory that a picture lacks, because nothing was told of them yet: drawn as not contacted. Pure.

A host that is missing looks like one that nobody knows of; one that was not asked yet is another thing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from services.discovery.model import ClusterSnapshot, EstateSnapshot
from services.discovery.snapshot import in_order, updated_estate
from services.facts.model import NodeFacts
from services.facts.reading import host_port
from services.types import Health, worst


def with_hosts(estate: EstateSnapshot, hosts: Mapping[str, str], written: Mapping[str, str]) -> EstateSnapshot:
    """Return a picture in which every host of the inventory stands.

    Args:
        hosts: host key -> address; written: host key -> the cluster that a person wrote it into.
    """
    drawn = {node.host for cluster in estate.clusters for node in cluster.nodes if node.host}
    # A member that only others speak of is drawn already.
    named = {host_port(node.address)[0] for c in estate.clusters for node in c.nodes if not node.host}
    missing = {host: address for host, address in hosts.items() if host not in drawn and address not in named}
    if not missing:
        return estate
    facts = {host: NodeFacts(host, estate.at, address=address) for host, address in missing.items()}
    waiting = updated_estate(None, facts, estate.at, {host: host for host in missing}, written=written)
    clusters = list(estate.clusters)
    for new in waiting.clusters:
        home = _home(new, estate.clusters, written)
        if home is None:
            clusters.append(new)
        else:
            place = next(n for n, cluster in enumerate(clusters) if cluster.cluster_id == home)
            old = clusters[place]
            clusters[place] = replace(old, nodes=(*old.nodes, *new.nodes), health=worst((old.health, Health.UNKNOWN)))
    return replace(estate, clusters=in_order(clusters), hosts_total=estate.hosts_total + len(missing))


def _home(new: ClusterSnapshot, clusters: Sequence[ClusterSnapshot], written: Mapping[str, str]) -> str | None:
    """Return the cluster that most of the hosts are in with which these are written."""
    name = next((written[node.host] for node in new.nodes if node.host in written), None)
    shared = Counter(
        cluster.cluster_id
        for cluster in clusters
        for node in cluster.nodes
        if name is not None and written.get(node.host) == name
    )
    return shared.most_common(1)[0][0] if shared else None
