"""Where a node stands behind the HAProxies of the inventory. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address

from services.facts.haproxy import Haproxy, HaproxyServer
from services.facts.reading import without_port
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.parts.machine.balancers import Balancers
from services.procedures.plan.parts.server.options import Options


@dataclass(frozen=True, slots=True)
class Place:
    """One server of one backend of one HAProxy: the node as this balancer knows it."""

    host: str  # where HAProxy runs
    haproxy: Haproxy
    server: HaproxyServer

    @property
    def name(self) -> str:
        """Return BACKEND/SERVER, as HAProxy's commands take it."""
        return f"{self.server.backend}/{self.server.name}"

    @property
    def others(self) -> tuple[str, ...]:
        """Return the other servers of the backend that take sessions now."""
        mine = self.server
        return tuple(
            s.name for s in self.haproxy.servers if s.backend == mine.backend and s.name != mine.name and s.serves
        )


def places_of(facts: Facts, node: str) -> tuple[Place, ...]:
    """Return where a node is found, by address and port; also places that somebody has set to drain or maintenance."""
    addresses, port = _addresses(facts, node), _port(facts, node)
    return tuple(
        Place(host.host, haproxy, server)
        for host in facts.hosts
        for haproxy in host[Balancers].haproxies
        for server in haproxy.servers
        if server.port == port is not None
        and (server.address in addresses or (host.host == node and _loopback(server.address)))
    )


def open_places(facts: Facts, node: str) -> tuple[Place, ...]:
    """Return the places that are to be drained: nobody has done it yet."""
    return tuple(place for place in places_of(facts, node) if place.server.ordered_out is False)


def balancer_hosts(facts: Facts, nodes: tuple[str, ...]) -> tuple[str, ...]:
    """Return the hosts whose HAProxy is to be told."""
    return tuple(dict.fromkeys(place.host for node in nodes for place in open_places(facts, node)))


def all_behind(facts: Facts, nodes: tuple[str, ...]) -> bool:
    """Return whether every node is found behind a HAProxy, and no balancer was seen that this does not tell."""
    other = any(set(host[Balancers].found) - {"haproxy"} for host in facts.hosts)
    return bool(nodes) and not other and all(open_places(facts, node) for node in nodes)


def can_drain(facts: Facts, node: str) -> bool:
    """Return whether the node can be drained in every HAProxy that knows it, and somebody else is there to serve."""
    places = open_places(facts, node)
    return all_behind(facts, (node,)) and all(p.haproxy.level == "admin" and p.others for p in places)


def _addresses(facts: Facts, name: str) -> frozenset[str]:
    host = facts.host(name)
    galera = host.node.galera if host.node is not None else None
    given = (
        host.address,
        galera.node_address if galera is not None else "",
        host[Options].option("mysqld", "wsrep_node_address") or "",
    )
    return frozenset(address for text in given if (address := _address(text)))


def _address(text: str) -> str:
    """Return an address without its port or brackets, as HAProxy writes it; '' for a name."""
    try:
        return str(ip_address(without_port(text)))
    except ValueError:
        return ""


def _loopback(address: str) -> bool:
    return bool(address) and ip_address(address).is_loopback


def _port(facts: Facts, name: str) -> int | None:
    node = facts.host(name).node
    return node.server.port if node is not None and node.server is not None else 3306
