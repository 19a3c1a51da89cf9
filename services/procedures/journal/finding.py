"""Which hosts and clusters there are: the inventory's, those discovery finds from them, those a run's journal keeps."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from services.addresses import is_address
from services.connections.host import HostSession
from services.discovery.looks.crawl import crawl
from services.discovery.model import ClusterSnapshot, Unasked
from services.discovery.naming import names_of
from services.discovery.shared_hosts import shared_among
from services.discovery.snapshot import Look, updated_estate
from services.errors import BadInput
from services.facts.galera.state_files import is_state_uuid
from services.i18n import tr
from services.inventory.lookalikes import skeleton
from services.inventory.model import HostEntry, Inventory, with_instances
from services.inventory.trust import Trust, trust_of
from services.procedures.journal.lines import addresses_in
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.run_model import Entry

if TYPE_CHECKING:
    from services.clock import Clock
    from services.connections.ssh.host_key_check import HostKeyPolicy
    from services.secrets import Vault

CRAWL_S = 5.0


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

        An instance is reached as the inventory says now, or not at all: no other's account or port stands in for it.
        A found host is the one at the address that the run began with, whoever calls himself so by now.
        """
        known = self.inventory.entry(name)
        if name not in remembered or (known is not None and not known.ways_of):
            return known
        address, origin = remembered[name]
        if known is not None and known.address == address:
            return known
        by = self.inventory.entry(origin)
        return self.trust.entry(by, name, address) if by is not None else None

    def addresses(self) -> dict[str, tuple[str, str]]:
        """Return host -> (address, origin), to be remembered with a run."""
        return {e.name: (e.address, e.ways_of or e.name) for e in with_instances(self.inventory.hosts)}


def nothing_found(inventory: Inventory) -> Found:
    """Return the inventory as it is written, before anybody was asked."""
    return Found(inventory, trust_of(inventory))


def find_hosts(inventory: Inventory, clock: Clock, vault: Vault, policy: HostKeyPolicy | None) -> Found:
    """Discover from every host of the inventory; who is found, and may be asked, shares the ways in of who named it."""

    def open_session(entry: HostEntry) -> HostSession:
        return HostSession(entry, vault, clock=clock, on_host_key=policy)

    trust = trust_of(inventory)
    asked = with_instances(inventory.hosts)
    began = clock.wall()
    found = crawl(asked, open_session, clock, trust=trust, limit_s=CRAWL_S)
    known = {entry.name: entry.name for entry in asked}
    called = names_of(found.facts, {key for host in inventory.hosts for key in host.keys})
    fresh = tuple(replace(e, name=called.get(name, name)) for name, e in found.entries.items() if name not in known)
    look = Look(began, clock.wall())
    estate = updated_estate(None, found.facts, look, known, unasked=found.unasked)
    return Found(replace(inventory, hosts=(*inventory.hosts, *fresh)), trust, estate.clusters, found.unasked)


def with_named(found: Found, facts: Facts) -> Found:
    """Return it with the members that only evidence names, and that a person said may be asked; itself for none.

    Files and logs of the members name them: each is asked with the account of the first member whose cluster covers
    its address, as the crawl asks who is named by a server (decision 0030).
    """
    members = [entry for name in facts.members if (entry := found.inventory.host(name)) is not None]
    taken = {skeleton(key) for host in found.inventory.hosts for key in host.keys}
    fresh: list[HostEntry] = []
    for one in facts.named:
        name = one.name if skeleton(one.name) not in taken else ""
        ways = ((by, address) for address in one.addresses if is_address(address) for by in members)
        entries = (found.trust.entry(by, name or address, address) for by, address in ways if not one.retired)
        entry = next((e for e in entries if e is not None and skeleton(e.name) not in taken), None)
        if entry is not None and entry.ways_of:
            fresh.append(entry)
            taken.add(skeleton(entry.name))
    if not fresh:
        return found
    return replace(found, inventory=replace(found.inventory, hosts=(*found.inventory.hosts, *fresh)))


def refuse_shared_hosts(inventory: Inventory, keys: Iterable[str]) -> None:
    """Raise BadInput where one of these hosts or instances shares its host with another server, by the inventory."""
    words = shared_among(inventory, keys)
    if words:
        raise BadInput(words, safe=tr("Nothing was changed."), try_=(tr("Name another cluster with --cluster."),))


def hosts_meant(cluster: str, inventory: Inventory, seen: tuple[ClusterSnapshot, ...]) -> tuple[str, ...]:
    """Return the hosts of the cluster meant ('': of any group): those seen in it, and its seeds where the inventory
    calls it so, whatever its servers call themselves and whether they answer."""
    found = (one for one in seen if cluster in {one.name, one.cluster_id} or (not cluster and one.components))
    written = (host for one in inventory.clusters if cluster and one.name == cluster for host in one.seeds)
    return tuple(dict.fromkeys((*(node.host for one in found for node in one.nodes if node.host), *written)))


def meant(cluster: str, seen: tuple[ClusterSnapshot, ...]) -> tuple[str, str]:
    """Return (state UUID, '') or ('', name) of the cluster meant; one whose servers are all down is not seen."""
    known = next((c for c in seen if cluster and cluster in {c.name, c.cluster_id}), None)
    if known is not None:
        return known.cluster_id, ""
    return (cluster, "") if is_state_uuid(cluster) else ("", cluster)


def kept_addresses(entries: tuple[Entry, ...]) -> dict[str, tuple[str, str]]:
    """Return host -> (address, the inventory's key whose ways in it shares), as the run's beginning knew them."""
    for entry in entries:
        data = entry.data or {}
        if entry.kind == "note" and data.get("about") == "hosts":
            return addresses_in(str(data.get("text"))) or {}
    return {}
