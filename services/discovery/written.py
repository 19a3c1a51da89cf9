"""The clusters as a person wrote them down: who belongs together where no server says so, and which host is a spare.

What servers tell of themselves decides first (a state UUID, a channel); what is written decides for everybody else: a
host that never answered stands with the hosts it was written with, not as a cluster of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from services.discovery.async_view import Link
from services.discovery.grouping import spoken_of
from services.discovery.nodes import Node

_PREFIX = "written:"
Written = Mapping[str, str]
"""Host key -> the name of the cluster that it is written into."""


def joined_as_written(
    galera: dict[str, list[Node]], alone: Mapping[str, tuple[Node, ...]], links: Sequence[Link], written: Written
) -> dict[str, tuple[Node, ...]]:
    """Return the clusters outside Galera as they are written, and note in each node where it belongs.

    Hosts written into a cluster whose servers are a Galera group stand beside that group (they go into `galera`); the
    others are one cluster under the written name, however many trees of replication they are.

    Args:
        galera, alone: cluster id -> nodes, of Galera groups and of everybody else.
    """
    if not written:
        return dict(alone)
    homes = _homes(galera, written)
    linked = {end.node_id for link in links for end in (link.replica, link.source)}
    left: dict[str, tuple[Node, ...]] = {}
    for cluster_id, group in alone.items():
        name = next((written[node.host] for node in group if node.host in written), "")
        home = homes.get(name, "")
        there = home or (f"{_PREFIX}{name}" if name else cluster_id)
        for node in group:
            node.cluster = there
            node.behind = node.behind or (bool(home) and (node.node_id in linked or node.server is not None))
        if home:
            galera[home].extend(group)
        else:
            left[there] = (*left.get(there, ()), *group)
    for members in (*galera.values(), *left.values()):
        _note_spares(members, linked, written)
    return left


def written_name(cluster_id: str) -> str:
    """Return the name of a cluster that is one only because it is written down, '' for any other."""
    return cluster_id.removeprefix(_PREFIX) if cluster_id.startswith(_PREFIX) else ""


def _homes(galera: Mapping[str, Sequence[Node]], written: Written) -> dict[str, str]:
    """Return written name -> the Galera group that most of its hosts are in."""
    found: dict[str, Counter[str]] = {}
    for cluster_id in sorted(galera):
        for node in galera[cluster_id]:
            if node.host in written:
                found.setdefault(written[node.host], Counter())[cluster_id] += 1
    return {name: count.most_common(1)[0][0] for name, count in found.items()}


def _note_spares(members: Sequence[Node], linked: set[str], written: Written) -> None:
    """Mark the hosts that wait to be used: each says itself that no server runs, and nobody ever heard of one there."""
    waiting = [node for node in members if node.host in written and _is_idle(node) and node.node_id not in linked]
    spoken = spoken_of(members) if waiting else set[str]()
    for node in waiting:
        node.spare = not node.addresses & spoken


def _is_idle(node: Node) -> bool:
    machine = node.machine
    if machine is None or not node.ssh_fresh or machine.process_state != "" or machine.unit_state.startswith("failed"):
        return False
    return node.server is None and not node.history
