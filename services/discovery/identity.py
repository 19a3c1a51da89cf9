"""Which host is which node: identities outlive restarts, and names alone never make two things one.

A node is tied to its host's key (the inventory's or the discovered one). What proves a host to be a node that was known
under another key is its server's own identity: the uuid it has in its group right now, or server uuid and machine id
together. The ids it had before are its history. Two hosts that share a server_uuid (a copied data directory) or a
machine-id (a cloned image) stay two nodes; only what can't be shared, the live group uuid or the same process on the
same machine, makes two keys one, and only while nothing else that they say differs (clash.py). A host that a
person wrote down never gives way to one that was found, and to another that is written only when they are proven one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from services.addresses import is_ip
from services.discovery.clash import clashes_among, contradict, problems_of, proven_one
from services.discovery.families.registry import registered
from services.discovery.known_as import addresses_among
from services.discovery.model import EstateSnapshot, NodeView, place_of
from services.discovery.naming import names_of
from services.discovery.nodes import MOST_HISTORY, STALE_S, Node
from services.facts.model import NodeFacts, Problem
from services.i18n import tr
from services.types import Reach


@dataclass(frozen=True, slots=True)
class Identities:
    """The nodes that stand for hosts, the keys that were another name of one of them, and what is odd.

    `clashes`: pairs of nodes that show one identity and contradict each other (clash.py).
    """

    nodes: tuple[Node, ...]
    aliases: Mapping[str, str]
    problems: tuple[Problem, ...]
    clashes: tuple[tuple[Node, Node], ...] = ()


def identified(
    previous: EstateSnapshot | None,
    facts: Mapping[str, NodeFacts],
    at: float,
    names: Mapping[str, str],
    stale_s: float = STALE_S,
) -> Identities:
    """Return one node a server.

    Args:
        names: host key -> what a person calls it; a host of the inventory has its own name there (naming.py).
        stale_s: so long an answer counts.
    """
    before = [n for c in previous.clusters for n in c.nodes] if previous is not None else []
    by_host = {n.host: n for n in before if n.host}
    aliases = aliases_among(facts, frozenset(by_host), frozenset(facts) & frozenset(names))
    nodes: list[Node] = []
    taken: set[str] = set()
    shown = {host: one for host, one in facts.items() if host not in aliases}
    own, addresses = names_of(shown, names), addresses_among(shown)
    for host, one in shown.items():
        old = by_host.get(host) or _moved(one, before, facts, taken)
        node_id = _unused(old.node_id if old is not None else host, taken)
        taken.add(node_id)
        nodes.append(
            Node(
                node_id=node_id,
                name=names.get(host) or own[host],
                facts=one,
                at=at,
                previous=old,
                history=history_of(old, one),
                address=_shown_address(one),
                addresses=addresses[host],
                stale_s=stale_s,
                segment=_segment(one, old),
            )
        )
    problems = [
        Problem(
            "identity",
            tr("{other} and {host} are the same server; it is shown once, as {host}.", other=other, host=host),
            "same-server",
        )
        for other, host in aliases.items()
    ]
    clashes = clashes_among(nodes)
    return Identities(tuple(nodes), aliases, (*problems, *problems_of(clashes), *_shared(nodes)), clashes)


def _segment(facts: NodeFacts, old: NodeView | None) -> int | None:
    told = registered().segment(facts)
    return old.segment if told is None and old is not None else told


def _unused(wanted: str, taken: set[str]) -> str:
    candidate, number = wanted, 2
    while candidate in taken:
        candidate, number = f"{wanted}#{number}", number + 1
    return candidate


def _shown_address(facts: NodeFacts) -> str:
    if not facts.address or (":" in facts.address and not is_ip(facts.address)):
        return facts.address
    return place_of(facts.address, facts.server.port if facts.server is not None else None)


def history_of(old: NodeView | None, facts: NodeFacts) -> tuple[str, ...]:
    """Return the ids this node has had, oldest first: the server's uuid and every uuid in its group."""
    known = list(old.uuid_history) if old is not None else []
    for uuid in (
        facts.server.server_uuid if facts.server is not None else "",
        *registered().live_id(facts)[-1:],
    ):
        if uuid and uuid not in known:
            known.append(uuid)
    return tuple(known[-MOST_HISTORY:])


def _moved(facts: NodeFacts, before: list[NodeView], now: Mapping[str, NodeFacts], taken: set[str]) -> NodeView | None:
    """Return the node that this host was under another key: that key is gone now, and its identity is here."""
    for old in before:
        if not old.host or old.host in now or old.node_id in taken or old.facts is None:
            continue
        if set(registered().live_id(facts)[-1:]) & set(old.uuid_history) or _same_install(facts, old.facts):
            return old
    return None


def _same_install(one: NodeFacts, other: NodeFacts) -> bool:
    """Return whether both are the same installation: machine id and port, and server uuid where there is one."""
    if one.machine is None or other.machine is None or one.server is None or other.server is None:
        return False
    return (
        bool(one.machine.machine_id)
        and one.machine.machine_id == other.machine.machine_id
        and one.server.port == other.server.port
        and one.server.server_uuid == other.server.server_uuid
    )


def aliases_among(
    facts: Mapping[str, NodeFacts], known: frozenset[str] = frozenset(), written: frozenset[str] = frozenset()
) -> dict[str, str]:
    """Return key -> key for hosts that are another name of the same running server: nothing they say differs.

    The first key counts: one that a person wrote down before one that was found, one already known before a new one,
    one that answers before one that does not.
    """
    aliases: dict[str, str] = {}
    owners: dict[object, list[str]] = {}
    ordered = sorted(facts, key=lambda host: (host not in written, host not in known, facts[host].reach is Reach.NONE))
    for host in ordered:
        own = marks(facts[host])
        for first in (first for mark in own for first in owners.get(mark, ())):
            if _are_one(facts[first], facts[host], (first in written, host in written)):
                aliases[host] = first
                break
        else:
            for mark in own:
                owners.setdefault(mark, []).append(host)
    return aliases


def _are_one(first: NodeFacts, other: NodeFacts, written: tuple[bool, bool]) -> bool:
    """Return whether `other` is shown as `first`; `written`: which of them a person wrote down."""
    if all(written):
        return proven_one(first, other)
    mute = {Reach.NONE, Reach.SSH_ONLY}
    if written[0] and first.reach in mute and other.reach not in mute:
        return False  # one that answers is not hidden behind one that does not
    return not contradict(first, other)


def marks(facts: NodeFacts) -> tuple[object, ...]:
    """Return what two different running servers can't share; nothing while the host does not answer."""
    found: list[object] = []
    live = registered().live_id(facts)
    if live and facts.reach in {Reach.FULL, Reach.SQL_ONLY}:
        found.append(live)
    machine, server = facts.machine, facts.server
    if machine is not None and machine.machine_id and machine.process_pid and machine.hostname and server is not None:
        found.append(
            ("process", machine.machine_id, machine.hostname, machine.process_pid, server.port, server.server_uuid)
        )
    return tuple(found)


def _shared(nodes: list[Node]) -> list[Problem]:
    """Return a problem for each server uuid that several nodes have: replication between them can't be told apart."""
    owners: dict[str, list[str]] = {}
    for node in nodes:
        if node.server is not None and node.server.server_uuid:
            owners.setdefault(node.server.server_uuid, []).append(node.name)
    return [
        Problem(
            "identity",
            tr(
                "{names} have the same server_uuid {uuid}: a copied data directory kept its auto.cnf.",
                names=" and ".join(sharing),
                uuid=uuid,
            ),
            "server-uuid-shared",
        )
        for uuid, sharing in owners.items()
        if len(sharing) > 1
    ]
