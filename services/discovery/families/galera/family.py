"""Galera clusters: components, quorum, transfers, and the replicas behind the group."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from services.discovery.families.galera import reported
from services.discovery.families.galera.claims import MEMBERSHIP, fellows, home, leads
from services.discovery.families.galera.judge import own_word
from services.discovery.families.galera.kind import GALERA, speaks
from services.discovery.families.galera.members import Directory
from services.discovery.families.galera.numbers import galera_numbers
from services.discovery.families.galera.quorum import quorum_problems, silent_of
from services.discovery.families.galera.transfers import transfers_of
from services.discovery.families.galera.views import View, agreement_of, components_of, rates_senders, views_of
from services.discovery.families.making import Card, Making, role_of
from services.discovery.families.port import Lead, Lent, Parts
from services.discovery.families.shared.channels import Link, edges_of
from services.discovery.families.shared.claiming import claimed
from services.discovery.families.shared.placeholders import carry_placeholders
from services.discovery.families.shared.replicas import replica_view
from services.discovery.judgement.judge import Around
from services.discovery.model import ARBITRATOR, SPARE, ClusterSnapshot, EstateSnapshot, NodeView, TransferEdge
from services.discovery.nodes import Node
from services.discovery.words import names
from services.facts.model import NodeFacts, Problem
from services.i18n import tr
from services.types import ClusterKind, Health, worst


class Galera:
    """One Galera cluster a state UUID."""

    kinds = (GALERA,)
    quorum_words = reported.WORDS

    def speaks(self, facts: NodeFacts) -> bool:
        """Return whether it tells of a group."""
        return speaks(facts)

    def leads(self, facts: NodeFacts) -> Iterable[Lead]:
        """Return the members that a host names, then those of its configuration."""
        return leads(facts)

    def fellows(self, facts: NodeFacts) -> Iterable[str]:
        """Return the addresses of members that a host names."""
        return fellows(facts)

    def home(self, facts: NodeFacts) -> str:
        """Return the state UUID."""
        return home(facts)

    def live_id(self, facts: NodeFacts) -> tuple[str, ...]:
        """Return the id that no other running server has in its group."""
        return reported.live_id(facts)

    def told(self, facts: NodeFacts) -> tuple[object, ...]:
        """Return what two answers of one server can't differ in."""
        return reported.self_report(facts)

    def addresses(self, facts: NodeFacts) -> Iterable[str]:
        """Return wsrep_node_address."""
        return [facts.galera.node_address] if facts.galera is not None else []

    def segment(self, facts: NodeFacts) -> int | None:
        """Return gmcast.segment."""
        return reported.segment(facts)

    def sampled(self, facts: NodeFacts) -> Mapping[str, float]:
        """Return gcache.size and flow control's limit."""
        return reported.sampled(facts)

    def lent(self, facts: NodeFacts) -> Lent | None:
        """Return the write sets in gcache."""
        return reported.lent(facts)

    def moving(self, facts: NodeFacts) -> bool:
        """Return whether it is joining, joined or a donor."""
        return reported.moving(facts)

    def lost(self, _old: NodeFacts, _new: NodeFacts, _name: str) -> str:
        """Return '': no server of this family tells of one."""
        return ""

    def claims(self, nodes: Sequence[Node], previous: EstateSnapshot | None, at: float) -> dict[str, list[Node]]:
        """Return the nodes by state UUID, with the members that only others spoke of."""
        clusters = claimed(nodes, previous, MEMBERSHIP)
        carry_placeholders(clusters, self.kinds, previous, at)
        return clusters

    def takes(self, _members: Sequence[Node], _links: Sequence[Link]) -> ClusterKind | None:
        """Return None: a member of a group is claimed."""
        return None

    def parts(self, cluster_id: str, members: list[Node], making: Making) -> Parts:
        """Return one Galera cluster with the replicas behind it."""
        old = making.old(cluster_id)
        group = [n for n in members if not n.behind]
        behind = [n for n in members if n.behind]
        directory = Directory(cluster_id, group, making.at)
        views = views_of(directory)
        everyone = sorted(directory.nodes, key=lambda n: (n.facts is None, n.name.lower(), n.node_id))
        making.recall(everyone)
        senders = rates_senders(making.rates, everyone)
        components = components_of(views, everyone, senders, old.components if old is not None else ())
        in_view = {o.node_id for v in views for o in v.observers}
        outside = [n for n in everyone if n.sql_fresh and n.galera is not None and n.node_id not in in_view]
        agreement = agreement_of(views, components, outside, old.at if old is not None else None)
        transfers = transfers_of(everyone, old, making.rates, making.at)
        shown = _cards(everyone, views, transfers, making)
        shown += [replica_view(n, making) for n in behind]
        edges = edges_of(making.links_of([*everyone, *behind]), making.rates)
        return Parts(everyone, tuple(shown), edges, components, agreement, transfers)

    def name(self, cluster_id: str, nodes: Sequence[Node], making: Making) -> str:
        """Return wsrep_cluster_name, else what it was called, else the head of its UUID."""
        own = sorted({n.galera.cluster_name for n in nodes if n.galera is not None and n.galera.cluster_name})
        old = making.old(cluster_id)
        return own[0] if own else old.name if old is not None else cluster_id[:8]

    def problems(self, name: str, parts: Parts) -> Sequence[Problem]:
        """Return what is wrong with the Primary Component."""
        return quorum_problems(name, parts.nodes, parts.components)

    def health(self, parts: Parts) -> Health:
        """Return the worst of the nodes; without a primary component, or with two, it is bad by itself."""
        if parts.components and sum(1 for c in parts.components if c.primary) != 1:
            return Health.BAD
        return worst(tuple(n.health for n in parts.shown if n.role != SPARE))

    def silent(self, nodes: Sequence[Node]) -> Sequence[Node]:
        """Return the data nodes of which nothing is known: each may be a Primary Component of its own."""
        return silent_of(nodes)

    def size(self, cluster: ClusterSnapshot) -> int | None:
        """Return what the primary component counts, the group's own word.

        Without one the quorum is the trouble, not the number.
        """
        return max((c.size or len(c.members) for c in cluster.components if c.primary), default=None)

    def missing(self, cluster: ClusterSnapshot, told: Mapping[str, str]) -> str:
        """Return how many there are: a group that answers and does not count a node misses it."""
        members = {member for c in cluster.components if c.primary for member in c.members}
        absent = sorted(n.name for n in cluster.nodes if n.node_id not in members and not _beside(n))
        who = tr(": {names} missing", names=names(absent)) if absent else ""
        return tr("The primary component has {size} of the {nodes} expected by the inventory{who}.", who=who, **told)


def _beside(node: NodeView) -> bool:
    """Return whether a node stands behind or beside a group, no member of it: a plain server, a spare host."""
    plain = node.facts is not None and node.facts.galera is None and node.facts.server is not None
    return plain or node.role == SPARE


def _cards(
    nodes: Sequence[Node], views: Sequence[View], transfers: Sequence[TransferEdge], making: Making
) -> list[NodeView]:
    observers = [o for v in views for o in v.observers]
    by_id = {n.node_id: n for n in nodes}
    found = []
    seeing: dict[tuple[str, ...], list[Node]] = {}  # members of one view share their observers
    for node in nodes:
        if node.seen_by not in seeing:
            seeing[node.seen_by] = sorted((by_id[o] for o in node.seen_by if o in by_id), key=lambda n: n.name)
        seen = [o.name for o in seeing[node.seen_by] if o is not node]
        around = Around(observers, seen, *_transfer(node, transfers, by_id))
        receiving = next((t for t in transfers if t.active and t.joiner_id == node.node_id), None)
        numbers = galera_numbers(node, making.rates.get(node.host, {}), receiving)
        role = ARBITRATOR if node.arbitrator else role_of(node)
        found.append(making.view(node, around, Card(role, numbers, "galera.recv_queue"), own_word))
    return found


def _transfer(node: Node, transfers: Sequence[TransferEdge], by_id: Mapping[str, Node]) -> tuple[str, str]:
    """Return (words, kind) of the transfer that a node takes part in, ('', '') for none."""
    for edge in transfers:
        if not edge.active:
            continue
        kind = edge.kind or tr("state transfer")
        if edge.donor_id == node.node_id and edge.joiner_id in by_id:
            other = by_id[edge.joiner_id].name
            return tr("{name} sends its state to {other} ({kind})", name=node.name, other=other, kind=kind), edge.kind
        if edge.joiner_id == node.node_id and edge.donor_id in by_id:
            other = by_id[edge.donor_id].name
            words = tr("{name} receives its state from {other} ({kind})", name=node.name, other=other, kind=kind)
            return words, edge.kind
    return "", ""
