"""What is odd about a cluster as a whole, beyond the health of its nodes: sentences with a stable code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from services.discovery.families.port import QuorumWords
from services.discovery.families.shared.channels import Link
from services.discovery.model import Component, NodeView, ReplicationEdge
from services.discovery.nodes import Node
from services.discovery.words import joined, names
from services.facts.machine.machine import CLOCK_LIMIT_S
from services.facts.model import Problem
from services.i18n import tr
from services.types import Health


def common_problems(nodes: Sequence[Node], edges: Sequence[ReplicationEdge], links: Sequence[Link]) -> list[Problem]:
    """Return what may be odd about any cluster, beyond what its family says of it as a group."""
    found = _server_ids(nodes, links) if edges else []
    return [*found, *_clocks(nodes), *_told_by_nodes(nodes)]


def apart_from_others(
    node: NodeView, components: Sequence[Component], everyone: Sequence[NodeView], words: QuorumWords
) -> NodeView:
    """Return a member of one of two parts with a majority as what it is, however well it feels: bad, and why."""
    own = next((c for c in components if c.primary and node.node_id in c.members), None)
    if own is None:
        return node
    others = [m for c in components if c.primary and c is not own and c.title == own.title for m in c.members]
    if not others:
        return node  # a part of another group, or apart from one that only takes itself for a primary
    who = names(sorted(n.name for n in everyone if n.node_id in others))
    text = tr(words.apart, names=who)
    return replace(node, health=Health.BAD, reason=joined(text, node.reason))


def _server_ids(nodes: Sequence[Node], links: Sequence[Link]) -> list[Problem]:
    """Return replicas of one source, or a replica and its source, with the same server_id: they cut each other off."""
    here = {n.node_id for n in nodes}
    families: dict[str, list[Node]] = {}
    for link in links:
        if link.replica.node_id in here:
            family = families.setdefault(link.source.node_id, [link.source])
            if link.replica not in family:
                family.append(link.replica)
    found: dict[tuple[str, ...], Problem] = {}
    for family in families.values():
        by_number: dict[int, list[str]] = {}
        for node in family:
            if node.server is not None and node.server.server_id:
                by_number.setdefault(node.server.server_id, []).append(node.name)
        for number, sharing in by_number.items():
            if len(sharing) > 1:
                text = tr(
                    "{names} have the same server_id {number}: replication drops events or breaks.",
                    names=names(sorted(sharing)),
                    number=number,
                )
                found[tuple(sorted(sharing))] = Problem("replication", text, "server-id-shared")
    return list(found.values())


def _clocks(nodes: Sequence[Node]) -> list[Problem]:
    off = [
        tr("{name} by {offset:+.1f} s", name=n.name, offset=n.machine.clock_offset_s)
        for n in nodes
        if n.machine is not None
        and n.ssh_fresh
        and n.machine.clock_offset_s is not None
        and abs(n.machine.clock_offset_s) > CLOCK_LIMIT_S
    ]
    if not off:
        return []
    return [Problem("clock", tr("Clocks differ from this workstation's: {names}.", names=names(off)), "clock-skew")]


def _told_by_nodes(nodes: Sequence[Node]) -> list[Problem]:
    """Return what the facts of single nodes complain of beyond being reached, with the node's name."""
    return [
        Problem(p.part, tr("{name}: {sentence}", name=n.name, sentence=p.sentence), p.code)
        for n in nodes
        if n.facts is not None
        for p in n.facts.problems
        if p.part in {"galera", "group", "gtid", "datadir", "heartbeat"} and n.sql_fresh
    ]
