"""Two hosts that show the identity of one server and contradict each other: neither is believed to be it. Pure.

A server can repeat what another says of itself, its uuid in the group included. Whoever does so would take the other's
place in the picture, and the other, with what ails it, would be gone from it. So two hosts are one server only while
nothing that both say differs; otherwise both stay, and it is not known which of them is who. Two hosts that a person
wrote down are one only when both answer at one moment and say the same, how they fare included: one of them silent, or
heard at another time, is no proof, and nobody's word makes a host disappear that somebody wants to be told of.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations

from services.discovery.families.registry import registered
from services.discovery.judgement.judge import disk_health
from services.discovery.model import ClusterSnapshot
from services.discovery.nodes import Node
from services.discovery.words import joined
from services.facts.model import MachineFacts, NodeFacts, Problem
from services.i18n import tr
from services.types import Health, Reach, worst

CLASH = "identity-clash"
_START_APART_S = 10.0
ONE_MOMENT_S = 5.0
"""Two answers further apart than this are not of one moment: each host is asked every second, by its own thread."""
_ANSWERS = frozenset({Reach.FULL, Reach.SQL_ONLY})


def contradict(one: NodeFacts, other: NodeFacts) -> bool:
    """Return whether two answers can't be of one running server: something that both say differs.

    The state in the group is part of it: of one server two readings of one moment agree, and what differs for the
    second in which it changes is told as a clash for that second, which is the side on which to err.
    """
    groups = registered().told(one), registered().told(other)
    both = groups[0].keys() & groups[1].keys()  # what one of them tells nothing of is no contradiction
    pairs = (
        *zip(_told(one), _told(other), strict=True),
        *((groups[0][part], groups[1][part]) for part in both),
    )
    if any(mine not in ("", None) and yours not in ("", None) and mine != yours for mine, yours in pairs):
        return True
    began, too = _began(one), _began(other)
    return began is not None and too is not None and abs(began - too) > _START_APART_S


def proven_one(one: NodeFacts, other: NodeFacts) -> bool:
    """Return whether two hosts that a person wrote down are one server: both answer, at one moment, and say the same.

    Whoever repeats another's answers whole, and as fast as they change, hides nothing of it: what is shown is true.
    """
    if not {one.reach, other.reach} <= _ANSWERS or contradict(one, other):
        return False
    if None in (one.sql_at, other.sql_at, _began(one), _began(other)):
        return False
    return abs((one.sql_at or 0.0) - (other.sql_at or 0.0)) <= ONE_MOMENT_S and _fares(one) == _fares(other)


def _began(facts: NodeFacts) -> float | None:
    return facts.server.started_at if facts.server is not None else None


def _fares(facts: NodeFacts) -> tuple[object, ...]:
    """Return how a server fares, as far as it may hide what ails another; what SSH tells may be one's alone."""
    server = facts.server
    switches = (server.read_only, server.super_read_only, server.datadir) if server is not None else ()
    channels, semi = facts.replication, facts.semi_sync
    return (
        *switches,
        registered().told(facts),
        tuple(
            (c.name, c.source_host, c.source_port, c.io_running, c.sql_running, c.io_errno, c.sql_errno)
            for c in (channels.channels if channels is not None else ())
        ),
        (semi.source_active, semi.replica_active) if semi is not None else None,
        frozenset(p.code for p in facts.problems if p.part not in {"ssh", "machine", "log", "clock"}),
    )


def _told(facts: NodeFacts) -> tuple[object, ...]:
    server, machine = facts.server, facts.machine
    return (
        *((server.hostname, server.port, server.server_id, server.server_uuid, server.server_uid, server.version_text)
          if server is not None else (None,) * 6),
        *((machine.machine_id, machine.hostname, _disk(machine)) if machine is not None else (None,) * 3),
    )  # fmt: skip


def _disk(machine: MachineFacts) -> Health | None:
    health = disk_health(machine.data_disk)
    return None if health is Health.UNKNOWN else health


def clashes_among(nodes: Sequence[Node]) -> tuple[tuple[Node, Node], ...]:
    """Return the pairs of hosts that show one uuid of a group while both answer."""
    owners: dict[tuple[str, ...], list[Node]] = {}
    for node in nodes:
        if node.facts is not None and node.facts.reach in _ANSWERS:
            owners.setdefault(registered().live_id(node.facts), []).append(node)
    return tuple(pair for live, sharing in owners.items() if live for pair in combinations(sharing, 2))


def problems_of(clashes: Iterable[tuple[Node, Node]]) -> tuple[Problem, ...]:
    """Return one problem of the estate a clash."""
    return tuple(Problem("identity", sentence_of(one.name, other.name), CLASH) for one, other in clashes)


def sentence_of(one: str, other: str) -> str:
    """Return what is said of two hosts that clash, wherever it is said."""
    return tr(
        "{one} and {other} report the same identity in the group and contradict each other: which one is the "
        "member is not known. One may have a copied data directory, or relay the other's answers.",
        one=one,
        other=other,
    )


def judged_by_clash(cluster: ClusterSnapshot, clashes: Iterable[tuple[Node, Node]]) -> ClusterSnapshot:
    """Return the cluster with the clashes of its nodes as problems: with one of them it is not well, nor are they."""
    here = {node.node_id for node in cluster.nodes}
    mine = [pair for pair in clashes if here & {node.node_id for node in pair}]
    if not mine:
        return cluster
    doubted = {node.node_id: sentence_of(one.name, other.name) for one, other in mine for node in (one, other)}
    nodes = tuple(
        replace(
            node,
            health=worst((node.health, Health.WARN)),
            reason=joined(*(text for text in (node.reason, doubted[node.node_id]) if text)),
        )
        if node.node_id in doubted
        else node
        for node in cluster.nodes
    )
    problems, health = (*problems_of(mine), *cluster.problems), worst((cluster.health, Health.WARN))
    return replace(cluster, nodes=nodes, problems=problems, health=health)
