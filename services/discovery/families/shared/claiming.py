"""Which nodes form which group: by the id that members keep in their data, never by a name alone."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from services.addresses import is_this_machine
from services.discovery.model import EstateSnapshot
from services.discovery.nodes import Node
from services.facts.model import NodeFacts
from services.facts.reading import host_port
from services.types import ClusterKind


@dataclass(frozen=True, slots=True)
class Membership:
    """How the members of a family's groups are told.

    Attributes:
        home: the id of the group that a host says it is in, '' where it says none; member: whether it speaks as one.
        fellows: the addresses that a host names as those of other members.
        prefix: of the id of a cluster of one member that does not tell its group.
    """

    kinds: Collection[ClusterKind]
    home: Callable[[NodeFacts], str]
    member: Callable[[NodeFacts], bool]
    fellows: Callable[[NodeFacts], Iterable[str]]
    prefix: str


def claimed(nodes: Sequence[Node], previous: EstateSnapshot | None, how: Membership) -> dict[str, list[Node]]:
    """Return cluster id -> nodes for all nodes that belong to a group of a family, and note it in them.

    The group's id decides. A node that has none right now (it is joining, or its server is down) stays where it was, or
    goes where members speak of its address; a member that nobody claims is a cluster of its own.
    """
    old_clusters = previous.clusters if previous is not None else ()
    before = {n.node_id: c.cluster_id for c in old_clusters for n in c.nodes}
    own_before = {c.cluster_id for c in old_clusters if c.kind in how.kinds}
    clusters: dict[str, list[Node]] = {}
    undecided: list[Node] = []
    for node in nodes:
        found = how.home(node.facts) if node.facts is not None else ""
        if found:
            clusters.setdefault(found, []).append(node)
        else:
            undecided.append(node)
    spoken: dict[str, str] = {}
    if undecided:
        spoken = {a: cluster for cluster, members in clusters.items() for a in spoken_of(members, how.fellows)}
    for node in undecided:
        said = next((spoken[a] for a in sorted(node.addresses) if a in spoken), "")
        old = before.get(node.node_id, "")
        home = _home(node, old if old in clusters or (old in own_before and not said) else "", said, how)
        if home:
            clusters.setdefault(home, []).append(node)
    for cluster, members in clusters.items():
        for node in members:
            node.cluster = cluster
    return clusters


def _home(node: Node, old: str, said: str, how: Membership) -> str:
    """Return the cluster of a node that tells none: `old` where it was, `said` whose members speak of it."""
    member = node.facts is not None and how.member(node.facts)
    if node.server is not None and not member and (node.sql_fresh or not said):
        return ""  # it answered as a plain server, and no group speaks of it
    return old or said or (f"{how.prefix}:{node.node_id}" if member else "")


def spoken_of(members: Sequence[Node], fellows: Callable[[NodeFacts], Iterable[str]]) -> set[str]:
    """Return the hosts that nodes of a cluster name as their fellows', in their settings and in their views."""
    said: set[str] = set()  # everybody says the same: each text is read once
    for node in members:
        if node.facts is not None:
            said.update(fellows(node.facts))
    hosts = {host_port(address)[0] for address in said}
    return {host for host in hosts if host and not is_this_machine(host)}
