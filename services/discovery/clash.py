"""Two hosts that show the identity of one server and contradict each other: neither is believed to be it. Pure.

A server can repeat what another says of itself, its uuid in the group included. Whoever does so would take the other's
place in the picture, and the other, with what ails it, would be gone from it. So two hosts are one server only while
nothing that both say differs; otherwise both stay, and it is not known which of them is who.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations

from services.discovery.model import ClusterSnapshot
from services.discovery.nodes import Node
from services.facts.model import NodeFacts, Problem
from services.types import Health, Reach, worst
from services.words import tr

CLASH = "identity-clash"
_START_APART_S = 10.0
_ANSWERS = frozenset({Reach.FULL, Reach.SQL_ONLY})


def contradict(one: NodeFacts, other: NodeFacts) -> bool:
    """Return whether two answers can't be of one running server: something that both say differs.

    The state in the group is part of it: of one server two readings of one moment agree, and what differs for the
    second in which it changes is told as a clash for that second, which is the side on which to err.
    """
    pairs = zip(_told(one), _told(other), strict=True)
    if any(mine not in ("", None) and yours not in ("", None) and mine != yours for mine, yours in pairs):
        return True
    began, too = (facts.server.started_at if facts.server is not None else None for facts in (one, other))
    return began is not None and too is not None and abs(began - too) > _START_APART_S


def _told(facts: NodeFacts) -> tuple[object, ...]:
    server, galera, machine = facts.server, facts.galera, facts.machine
    return (
        *((server.hostname, server.port, server.server_id, server.server_uuid, server.server_uid, server.version_text)
          if server is not None else (None,) * 6),
        *((galera.node_name, galera.node_uuid, galera.state_uuid, galera.cluster_status, galera.local_state_comment)
          if galera is not None else (None,) * 5),
        *((machine.machine_id, machine.hostname) if machine is not None else (None,) * 2),
    )  # fmt: skip


def clashes_among(nodes: Sequence[Node]) -> tuple[tuple[Node, Node], ...]:
    """Return the pairs of hosts that show one uuid of a group while both answer."""
    owners: dict[str, list[Node]] = {}
    for node in nodes:
        if node.facts is not None and node.facts.reach in _ANSWERS and node.galera is not None:
            owners.setdefault(node.galera.node_uuid, []).append(node)
    return tuple(pair for uuid, sharing in owners.items() if uuid for pair in combinations(sharing, 2))


def problems_of(clashes: Iterable[tuple[Node, Node]]) -> tuple[Problem, ...]:
    """Return one problem of the estate a clash."""
    return tuple(Problem("identity", sentence_of(one.name, other.name), CLASH) for one, other in clashes)


def sentence_of(one: str, other: str) -> str:
    """Return what is said of two hosts that clash, wherever it is said."""
    return tr(
        "{one} and {other} show the same identity in the group and contradict each other: which of them is that "
        "member is not known. One may have a copied data directory, or repeat what the other says.",
        one=one,
        other=other,
    )


def judged_by_clash(cluster: ClusterSnapshot, clashes: Iterable[tuple[Node, Node]]) -> ClusterSnapshot:
    """Return the cluster with the clashes of its nodes as problems: with one of them it is not well."""
    here = {node.node_id for node in cluster.nodes}
    mine = [pair for pair in clashes if here & {node.node_id for node in pair}]
    if not mine:
        return cluster
    return replace(
        cluster, problems=(*problems_of(mine), *cluster.problems), health=worst((cluster.health, Health.WARN))
    )
