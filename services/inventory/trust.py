"""Who may be asked with whose account: a secret goes only where a person said that it may.

A server names others (its group's members, its source, its replicas). That is a hint, never a permission: whoever can
change what one server says, or who answers in its name, would be sent the account of all of them. So an address is
asked only when a person wrote it down as a host, named it for this run, or declared a network of the cluster that it is
in. Everybody else is drawn as 'not asked yet'.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from ipaddress import IPv4Network, IPv6Network

from services.addresses import is_address
from services.inventory.model import HostEntry, Inventory, with_instances

WIDEST = {4: 8, 6: 32}
"""Shortest prefix that is still somebody's own network; a shorter one ('0.0.0.0/0') would say 'anybody'."""


@dataclass(frozen=True, slots=True)
class Trust:
    """What a person said about addresses.

    Attributes:
        written: lower-case name or address -> the host as it was written down.
        places: inventory host -> networks and addresses declared for the clusters whose seed it is.
        also: networks and addresses that this run may ask besides, with the account of whoever names them.
    """

    written: Mapping[str, HostEntry] = field(default_factory=dict)
    places: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    also: tuple[str, ...] = ()

    @property
    def keys(self) -> frozenset[str]:
        """Return what the written hosts, and the instances on them, are called."""
        return frozenset(key for host in self.written.values() for key in host.keys)

    def entry(self, by: HostEntry, name: str, address: str, port: int | None = None) -> HostEntry | None:
        """Return how to ask `address`, which `by` names as `name`; None where nobody said that it may be asked.

        With a port it is one server of several on that host: written down is the one with that port alone.

        A host that was written down is asked as it was written; any other with the ways in of `by`, without the
        account for changes. What is declared for a cluster is said of its seeds' own accounts: the account of another
        server on a seed's host is not among them. Raises BadInput for what is no address.
        """
        known = self.written.get(address.lower())
        if known is not None and port is None:
            return known
        if known is not None:
            servers = (one for one in with_instances((known,)) if (one.kind, one.port) == (by.kind, port))
            written = next(servers, None)
            if written is not None:
                return written
        found = by.for_member(name, address, port)
        return found if is_covered(address, (*self.places.get(by.ways_of or by.name, ()), *self.also)) else None

    def with_host(self, entry: HostEntry) -> Trust:
        """Return the trust with one more host that a person wrote down."""
        return replace(self, written={**self.written, **_names((entry,))})

    def without_host(self, name: str) -> Trust:
        """Return the trust without a host that a person took out."""
        return replace(self, written={key: host for key, host in self.written.items() if host.name != name})


def trust_of(inventory: Inventory) -> Trust:
    """Return what an inventory (and the command line, `Inventory.also`) says about addresses."""
    places: dict[str, tuple[str, ...]] = {}
    for cluster in inventory.clusters:
        for seed in cluster.seeds:
            places[seed] = (*places.get(seed, ()), *cluster.networks)
    return Trust(_names(inventory.hosts), places, inventory.also)


def _names(hosts: Iterable[HostEntry]) -> dict[str, HostEntry]:
    """Return the names a host may be spoken of by: its address, and its own name where that can be one."""
    found: dict[str, HostEntry] = {}
    hosts = [host for host in hosts if not host.on]  # an address means the host, and its first server
    for host in hosts:
        if is_address(host.name):
            found.setdefault(host.name.lower(), host)
    for host in hosts:
        found[host.address.lower()] = host  # an address says more than a name that looks like one
    return found


def is_covered(address: str, places: Iterable[str]) -> bool:
    """Return whether an address is one of these, or in one of these networks. A name is covered by itself only."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address.lower().rstrip(".") in {place.lower().rstrip(".") for place in places}
    mapped = getattr(found, "ipv4_mapped", None) or found
    networks = (parse_network(place) for place in places)
    return any(mapped in network for network in networks if network is not None and network.version == mapped.version)


def parse_network(text: str) -> IPv4Network | IPv6Network | None:
    """Return the network that a text names ('10.0.3.0/24', or one IP address), None for a name or for no such thing."""
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        return None


def is_place(text: str) -> bool:
    """Return whether a text can stand among a cluster's networks: a network not wider than `WIDEST`, or an address."""
    network = parse_network(text)
    if network is None:
        return is_address(text)
    return network.prefixlen >= WIDEST[network.version]
