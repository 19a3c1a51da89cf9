"""Which host a person wrote into which cluster: its seeds, and the hosts in its declared networks."""

from __future__ import annotations

from services.inventory.model import Inventory
from services.inventory.trust import is_covered


def written_clusters(inventory: Inventory) -> dict[str, str]:
    """Return host -> cluster, by name. A host that no cluster has as a seed is in the only one whose networks hold it.

    One in the networks of several clusters is in none: nobody said which.
    """
    found: dict[str, str] = {}
    for cluster in reversed(inventory.clusters):  # the first that names a host has it
        found |= dict.fromkeys(cluster.seeds, cluster.name)
    for host in inventory.hosts:
        if host.name not in found:
            around = [c.name for c in inventory.clusters if is_covered(host.address, c.networks)]
            if len(around) == 1:
                found[host.name] = around[0]
    return found
