"""The clusters as a person wrote them down: who belongs together where no server says so, and which host is a spare.

What servers tell of themselves decides first (a state UUID, a channel); what is written decides for everybody else: a
host that never answered stands with the hosts it was written with, not as a cluster of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from services.discovery.families.shared.channels import Link
from services.discovery.families.shared.claiming import spoken_of
from services.discovery.nodes import Node
from services.facts.model import NodeFacts

_PREFIX = "written:"
Fellows = Callable[[NodeFacts], Iterable[str]]
Written = Mapping[str, str]
"""Host key -> the name of the cluster that it is written into."""


def joined_as_written(
    groups: dict[str, list[Node]],
    alone: Mapping[str, tuple[Node, ...]],
    links: Sequence[Link],
    written: Written,
    fellows: Fellows,
) -> dict[str, tuple[Node, ...]]:
    """Return the clusters outside every group as they are written, and note in each node where it belongs.

    Hosts written into a cluster whose servers are a group stand beside that group (they go into `groups`); the others
    are one cluster under the written name, however many trees of replication they are.

    Args:
        groups, alone: cluster id -> nodes, of groups and of everybody else; fellows: whom a host names as members.
    """
    if not written:
        return dict(alone)
    homes = _homes(groups, written)
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
            groups[home].extend(group)
        else:
            left[there] = (*left.get(there, ()), *group)
    for members in (*groups.values(), *left.values()):
        _note_spares(members, linked, written, fellows)
    return left


def written_name(cluster_id: str) -> str:
    """Return the name of a cluster that is one only because it is written down, '' for any other."""
    return cluster_id.removeprefix(_PREFIX) if cluster_id.startswith(_PREFIX) else ""


def _homes(groups: Mapping[str, Sequence[Node]], written: Written) -> dict[str, str]:
    """Return written name -> the group that most of its hosts are in."""
    found: dict[str, Counter[str]] = {}
    for cluster_id in sorted(groups):
        for node in groups[cluster_id]:
            if node.host in written:
                found.setdefault(written[node.host], Counter())[cluster_id] += 1
    return {name: count.most_common(1)[0][0] for name, count in found.items()}


def _note_spares(members: Sequence[Node], linked: set[str], written: Written, fellows: Fellows) -> None:
    """Mark the hosts that wait to be used: each says itself that no server runs, and nobody ever heard of one there.

    Where no server of their cluster was ever heard, nobody knows who waits: all of them may be members that are down.
    """
    if not any(node.server is not None or node.history for node in members):
        return
    waiting = [node for node in members if node.host in written and _is_idle(node) and node.node_id not in linked]
    spoken = spoken_of(members, fellows) if waiting else set[str]()
    for node in waiting:
        node.spare = not node.addresses & spoken


def _is_idle(node: Node) -> bool:
    machine = node.machine
    if machine is None or not node.ssh_fresh or machine.server_state != "" or machine.unit_state.startswith("failed"):
        return False
    return node.server is None and not node.history
