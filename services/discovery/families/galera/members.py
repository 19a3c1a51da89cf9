"""Who is meant when an observer speaks of a member: by group uuid, by address, and by name only where nothing else is.

What an observer lists and no host matches becomes a placeholder node: a member that is not in the inventory, or the
arbitrator (garbd), which serves no clients and therefore gives no address.
"""

from __future__ import annotations

from collections.abc import Iterable

from services.addresses import is_this_machine
from services.discovery.nodes import MOST_HISTORY, Node
from services.facts.model import GaleraMember
from services.facts.reading import host_port

ARBITRATOR_NAMES = ("garb", "garbd")
"""What garbd calls itself where nobody named it: a row without a name is no word of an arbitrator."""
MOST_STRANGERS = 128
"""Members of one cluster without a host that are drawn: more than a person looks at, the others are counted."""


class Directory:
    """The nodes of one cluster, found by what others call them; placeholders are made here and kept."""

    def __init__(self, cluster: str, nodes: list[Node], at: float) -> None:
        self._cluster = cluster
        self._at = at
        self.nodes = nodes
        self._by_uuid: dict[str, Node] = {}
        self._shared: set[str] = set()
        self._by_address: dict[str, list[Node]] = {}
        for node in nodes:
            self._index(node)

    def _index(self, node: Node) -> None:
        for uuid in node.history:
            if uuid in self._by_uuid:
                self._shared.add(uuid)  # two hosts claim it: it proves neither, the address has to (clash.py)
            self._by_uuid[uuid] = node
        for address in node.addresses:
            self._by_address.setdefault(address, []).append(node)

    def member(self, member: GaleraMember) -> Node | None:
        """Return the node of a member table's row, a placeholder if no host is it; None where there are too many."""
        proven = None if member.uuid in self._shared else self._by_uuid.get(member.uuid)
        known = proven or self.at_address(member.address) or self._by_name(member)
        if known is None:
            known = self._placeholder(f"member:{member.uuid}", member.name or member.address or member.uuid[:8])
        if known is None:
            return None
        if member.uuid and member.uuid not in known.history:
            known.history = (*known.history, member.uuid)[-MOST_HISTORY:]
            self._by_uuid[member.uuid] = known
        if known.facts is None:
            known.address = known.address or member.address
            known.arbitrator = not host_port(member.address)[0] and member.name in ARBITRATOR_NAMES
        return known

    def at_address(self, address: str) -> Node | None:
        """Return the node at "host:port"; several on one host are told by their port, and by nothing if it is 0."""
        host, port = host_port(address, 0)
        if not host or is_this_machine(host):
            return None
        found = self._by_address.get(host, [])
        if len(found) > 1:
            found = [node for node in found if port and node.port == port]
        elif found and port and found[0].server is not None and found[0].port not in {None, port}:
            return None  # another server of the same machine
        return found[0] if len(found) == 1 else None

    def stranger(self, address: str) -> Node | None:
        """Return the placeholder of an address that no host has; None where there are too many."""
        host = host_port(address)[0]
        known = self._placeholder(f"member:{host}", host)
        if known is None:
            return None
        known.address = address.removesuffix(":0")
        known.addresses = frozenset({host})
        return known

    def _by_name(self, member: GaleraMember) -> Node | None:
        """Return the one node of that name that has no uuid of its own to contradict (it never answered)."""
        found = [
            node
            for node in self.nodes
            if member.name
            and (node.galera.node_name if node.galera is not None else node.name) == member.name
            and (node.galera is None or not node.galera.node_uuid or not node.sql_fresh)
        ]
        return found[0] if len(found) == 1 else None

    def _placeholder(self, node_id: str, name: str) -> Node | None:
        for node in self.nodes:
            if node.node_id == node_id:
                return node
        if sum(node.facts is None for node in self.nodes) >= MOST_STRANGERS:
            return None
        node = Node(node_id=node_id, name=name, facts=None, at=self._at, cluster=self._cluster)
        self.nodes.append(node)
        return node


def listed(observer: Node) -> tuple[GaleraMember, ...]:
    """Return an observer's member table when it belongs to the view the observer is in now, else nothing.

    The table is only written in a primary view and read less often than the status: it counts while it has as many rows
    as the view has members, this node among them.
    """
    galera = observer.galera
    if galera is None or galera.cluster_status != "Primary" or len(galera.members) != galera.cluster_size:
        return ()
    return galera.members if any(m.uuid == galera.node_uuid for m in galera.members) else ()


def longest_incoming(observers: Iterable[Node]) -> tuple[str, ...]:
    """Return the incoming addresses of the observer that lists the most that say something."""
    best: tuple[str, ...] = ()
    for node in observers:
        if node.galera is not None and _telling(node.galera.incoming_addresses) > _telling(best):
            best = node.galera.incoming_addresses
    return best


def _telling(addresses: tuple[str, ...]) -> int:
    return sum(1 for a in addresses if host_port(a)[0] and not is_this_machine(host_port(a)[0]))
