"""Which node a member's name means: "host:port" as its set calls it, told by the servers themselves where they can."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from services.discovery.nodes import Node
from services.facts.mongodb.model import MongoFacts
from services.facts.mongodb.values import Place

PREFIX = "member:"
"""Of the id of a member that only others speak of (placeholders.py puts such back)."""


def facts_of(node: Node) -> MongoFacts | None:
    """Return what the process told, possibly old."""
    return node.facts.mongo if node.facts is not None else None


def own_name(facts: MongoFacts) -> str:
    """Return how its set calls the process ("me" of its greeting), '' where it is in none."""
    own = facts.set.own if facts.set is not None else None
    if facts.server.own is not None:
        return facts.server.own.name
    return own.place.name if own is not None else ""


def names_of(node: Node) -> frozenset[str]:
    """Return how members may name a node: as its set calls it, and by its addresses with its port."""
    facts = facts_of(node)
    own = own_name(facts) if facts is not None else ""
    return frozenset({own, *(f"{address}:{node.port}" for address in node.addresses if node.port)}) - {""}


class Directory:
    """The nodes of one cluster by their places. Whoever calls itself so is meant before one at that address."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._by_name: dict[str, Node] = {}
        self._by_place: dict[tuple[str, int | None], Node] = {}
        self._silent: dict[str, list[Node]] = {}
        for node in nodes:
            self.add(node)

    def add(self, node: Node) -> None:
        """Take one more node; the first of several with one name counts."""
        facts = facts_of(node)
        if facts is None:
            if node.node_id.startswith(PREFIX):
                self._by_name.setdefault(node.node_id.removeprefix(PREFIX), node)
            else:
                for address in node.addresses:
                    self._silent.setdefault(address, []).append(node)
            return
        if name := own_name(facts):
            self._by_name.setdefault(name, node)
        for address in node.addresses:
            self._by_place.setdefault((address, node.port), node)

    def node(self, place: Place) -> Node | None:
        """Return the node that this place means, None where none is known.

        A host that never answered is meant where it is the only such one at that address: its port is not known.
        """
        found = self._by_name.get(place.name) or self._by_place.get((place.host, place.port))
        if found is not None:
            return found
        silent = self._silent.get(place.host, [])
        return silent[0] if len(silent) == 1 else None


def without_found(nodes: Sequence[Node]) -> list[Node]:
    """Return the nodes without the members that others once spoke of, where a host that was found since is meant.

    Its server never answered us, so its port is not known: it is meant where it is the only such one at the address.
    """
    silent = Counter(a for n in nodes if facts_of(n) is None and not _spoken(n) for a in n.addresses)
    spoken = Counter(a for n in nodes if _spoken(n) for a in n.addresses)
    return [n for n in nodes if not (_spoken(n) and any(silent[a] == spoken[a] == 1 for a in n.addresses))]


def _spoken(node: Node) -> bool:
    return node.node_id.startswith(PREFIX)


def hosts_of(places: Iterable[Place]) -> frozenset[str]:
    """Return the names of places, for comparing lists of members."""
    return frozenset(place.name for place in places if place.name)
