"""Which hosts and clusters there are: the inventory's, those discovery finds from them, those a run's journal keeps."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from services.connections.host import HostSession
from services.discovery.crawl import crawl
from services.discovery.model import ClusterSnapshot, Unasked
from services.discovery.naming import names_of
from services.discovery.snapshot import updated_estate
from services.inventory.model import HostEntry, Inventory
from services.inventory.trust import Trust, trust_of
from services.procedures.plan.run_model import Entry

if TYPE_CHECKING:
    from services.clock import Clock
    from services.connections.host_key_check import HostKeyPolicy
    from services.secrets import Vault

CRAWL_S = 5.0
_STATE_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class Found:
    """The inventory with every discovered member in it, and the clusters seen.

    Attributes:
        trust: which addresses may be asked, by the inventory as it was written.
        unasked: members that were named and may not be.
    """

    inventory: Inventory
    trust: Trust
    clusters: tuple[ClusterSnapshot, ...] = ()
    unasked: tuple[Unasked, ...] = ()

    def entry(self, name: str, remembered: dict[str, tuple[str, str]]) -> HostEntry | None:
        """Return how to reach a host; one that is only remembered shares the ways in of its origin, where it may.

        A found host is the one at the address that the run began with, whoever calls himself so by now.
        """
        known = self.inventory.host(name)
        if name not in remembered or (known is not None and not known.ways_of):
            return known
        address, origin = remembered[name]
        if known is not None and known.address == address:
            return known
        by = self.inventory.host(origin)
        return self.trust.entry(by, name, address) if by is not None else None

    def addresses(self) -> dict[str, tuple[str, str]]:
        """Return host -> (address, origin), to be remembered with a run."""
        return {h.name: (h.address, h.ways_of or h.name) for h in self.inventory.hosts}


def nothing_found(inventory: Inventory) -> Found:
    """Return the inventory as it is written, before anybody was asked."""
    return Found(inventory, trust_of(inventory))


def find_hosts(inventory: Inventory, clock: Clock, vault: Vault, policy: HostKeyPolicy | None) -> Found:
    """Discover from every host of the inventory; who is found, and may be asked, shares the ways in of who named it."""

    def open_session(entry: HostEntry) -> HostSession:
        return HostSession(entry, vault, clock=clock, on_host_key=policy)

    trust = trust_of(inventory)
    found = crawl(inventory.hosts, open_session, clock, trust=trust, limit_s=CRAWL_S)
    known = {h.name: h.name for h in inventory.hosts}
    called = names_of(found.facts, known)
    fresh = tuple(replace(e, name=called.get(name, name)) for name, e in found.entries.items() if name not in known)
    estate = updated_estate(None, found.facts, clock.wall(), known, unasked=found.unasked)
    return Found(replace(inventory, hosts=(*inventory.hosts, *fresh)), trust, estate.clusters, found.unasked)


def meant(cluster: str, seen: tuple[ClusterSnapshot, ...]) -> tuple[str, str]:
    """Return (state UUID, '') or ('', name) of the cluster meant; one whose servers are all down is not seen."""
    known = next((c for c in seen if cluster and cluster in {c.name, c.cluster_id}), None)
    if known is not None:
        return known.cluster_id, ""
    return (cluster, "") if _STATE_UUID.fullmatch(cluster) else ("", cluster)


def kept_addresses(entries: tuple[Entry, ...]) -> dict[str, tuple[str, str]]:
    """Return host -> (address, the inventory host whose ways in it shares), as the run's beginning knew them."""
    for entry in entries:
        data = entry.data or {}
        if entry.kind == "note" and data.get("about") == "hosts":
            return {str(k): (str(v[0]), str(v[1])) for k, v in json.loads(str(data.get("text"))).items()}
    return {}
