"""MySQL Group Replication: a quorum of members, with one primary or several, and the replicas behind it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from services.discovery.families.group_replication import reported
from services.discovery.families.group_replication.claims import MEMBERSHIP, fellows, home, leads
from services.discovery.families.group_replication.judge import Judge
from services.discovery.families.group_replication.kind import GROUP_REPLICATION, speaks
from services.discovery.families.group_replication.numbers import group_numbers
from services.discovery.families.group_replication.quorum import group_problems, silent_of
from services.discovery.families.group_replication.views import (
    IN_THE_GROUP,
    Directory,
    View,
    agreement_of,
    components_of,
    state_of,
    views_of,
    word_of,
)
from services.discovery.families.making import Card, Making, role_of
from services.discovery.families.port import Lead, Lent, Parts
from services.discovery.families.shared.channels import Link, edges_of
from services.discovery.families.shared.claiming import claimed
from services.discovery.families.shared.placeholders import carry_placeholders
from services.discovery.families.shared.replicas import replica_view
from services.discovery.judgement.judge import Around
from services.discovery.model import SPARE, ClusterSnapshot, EstateSnapshot, NodeView
from services.discovery.nodes import Node
from services.discovery.words import names
from services.facts.model import NodeFacts, Problem
from services.i18n import mark, tr
from services.types import ClusterKind, Health, worst

_ROLES = {"PRIMARY": mark("primary"), "SECONDARY": mark("secondary")}


class GroupReplication:
    """One group a group name."""

    kinds = (GROUP_REPLICATION,)
    quorum_words = reported.WORDS

    def speaks(self, facts: NodeFacts) -> bool:
        """Return whether it tells of a group."""
        return speaks(facts)

    def leads(self, facts: NodeFacts) -> Iterable[Lead]:
        """Return the members that a host names, then the seeds of its configuration."""
        return leads(facts)

    def fellows(self, facts: NodeFacts) -> Iterable[str]:
        """Return the hosts of members that a host names."""
        return fellows(facts)

    def home(self, facts: NodeFacts) -> str:
        """Return the group's name."""
        return home(facts)

    def live_id(self, facts: NodeFacts) -> tuple[str, ...]:
        """Return the id that no other running server has in its group."""
        return reported.live_id(facts)

    def told(self, facts: NodeFacts) -> tuple[object, ...]:
        """Return what two answers of one server can't differ in."""
        return reported.self_report(facts)

    def addresses(self, _facts: NodeFacts) -> Iterable[str]:
        """Return none: its table names it as its server does."""
        return ()

    def segment(self, _facts: NodeFacts) -> int | None:
        """Return None: a group has none."""
        return None

    def sampled(self, facts: NodeFacts) -> Mapping[str, float]:
        """Return the queues of the member."""
        return reported.sampled(facts)

    def lent(self, _facts: NodeFacts) -> Lent | None:
        """Return None: what it missed is fetched as binary logs, which this does not measure."""
        return None

    def moving(self, _facts: NodeFacts) -> bool:
        """Return False: how far its recovery is stands in its own tables."""
        return False

    def lost(self, _old: NodeFacts, _new: NodeFacts, _name: str) -> str:
        """Return '': no server of this family tells of one."""
        return ""

    def claims(self, nodes: Sequence[Node], previous: EstateSnapshot | None, at: float) -> dict[str, list[Node]]:
        """Return the nodes by the name of their group, with the members that only others spoke of."""
        clusters = claimed(nodes, previous, MEMBERSHIP)
        carry_placeholders(clusters, self.kinds, previous, at)
        return clusters

    def takes(self, _members: Sequence[Node], _links: Sequence[Link]) -> ClusterKind | None:
        """Return None: a member of a group is claimed."""
        return None

    def parts(self, cluster_id: str, members: list[Node], making: Making) -> Parts:
        """Return one group with the replicas behind it."""
        old = making.old(cluster_id)
        behind = [n for n in members if n.behind]
        directory = Directory(cluster_id, [n for n in members if not n.behind], making.at)
        views = views_of(directory)
        everyone = sorted(directory.nodes, key=lambda n: (n.facts is None, n.name.lower(), n.node_id))
        making.recall(everyone)
        components = components_of(views, everyone)
        called = {n.node_id: n.name for n in everyone}
        agreement = agreement_of(views, components, called, old.at if old is not None else None)
        shown = [_card(node, everyone, views, making) for node in everyone]
        shown += [replica_view(n, making) for n in behind]
        edges = edges_of(making.links_of([*everyone, *behind]), making.rates)
        return Parts(everyone, tuple(shown), edges, components, agreement)

    def name(self, cluster_id: str, nodes: Sequence[Node], making: Making) -> str:
        """Return what it was called, else the head of its UUID: a group has no other name; a member's without one."""
        old = making.old(cluster_id)
        if old is not None or not nodes or not cluster_id.startswith(f"{MEMBERSHIP.prefix}:"):
            return old.name if old is not None else cluster_id[:8]
        return nodes[0].name

    def problems(self, name: str, parts: Parts) -> Sequence[Problem]:
        """Return what is wrong with the majority."""
        return group_problems(name, parts.nodes, parts.components)

    def health(self, parts: Parts) -> Health:
        """Return the worst of the nodes; without a part that has a majority, or with two, it is bad by itself.

        Where states that nobody knows leave open whether there is one, it is as its members are: not known.
        """
        majorities = sum(1 for c in parts.components if c.primary)
        left_open = not majorities and any(n.sql_fresh and word_of(n) for n in parts.nodes)
        if parts.components and majorities != 1 and not left_open:
            return Health.BAD
        return worst(tuple(n.health for n in parts.shown if n.role != SPARE))

    def silent(self, nodes: Sequence[Node]) -> Sequence[Node]:
        """Return the members of which nothing is known: each may be part of a majority."""
        return silent_of(nodes)

    def size(self, cluster: ClusterSnapshot) -> int | None:
        """Return how many members the part with the majority reaches; without one the quorum is the trouble."""
        return max((len(c.members) for c in cluster.components if c.primary), default=None)

    def missing(self, cluster: ClusterSnapshot, told: Mapping[str, str]) -> str:
        """Return how many there are, and whom the group does not reach."""
        members = {member for c in cluster.components if c.primary for member in c.members}
        absent = sorted(n.name for n in cluster.nodes if n.node_id not in members and not _beside(n))
        who = tr(": {names} missing", names=names(absent)) if absent else ""
        return tr("The group has {size} of the {nodes} expected by the inventory{who}.", who=who, **told)


def _beside(node: NodeView) -> bool:
    """Return whether a node stands behind or beside a group, no member of it: a plain server, a spare host."""
    plain = node.facts is not None and node.facts.group is None and node.facts.server is not None
    return plain or node.role == SPARE


def _card(node: Node, everyone: Sequence[Node], views: Sequence[View], making: Making) -> NodeView:
    observers = [o for v in views for o in v.observers]
    called = {n.node_id: n.name for n in everyone}
    seen = sorted(called[o] for o in node.seen_by if o != node.node_id)
    numbers = group_numbers(node) if node.sql_fresh else ()
    card = Card(_role(node, observers), numbers, "commit.rate")
    return making.view(node, Around(observers, seen), card, Judge(views))


def _role(node: Node, observers: Sequence[Node]) -> str:
    """Return the role that the member, else the first who sees it, gives it; no primary without a majority."""
    if node.component and not node.component.startswith("primary"):
        return ""
    if node.sql_fresh and state_of(node) not in IN_THE_GROUP:
        return role_of(node)
    told = [node, *observers] if node.sql_fresh else observers
    for observer in told:
        group = observer.facts.group if observer.facts is not None else None
        row = next((m for m in group.members if m.member_id and m.member_id in node.history), None) if group else None
        if row is not None and row.role:
            return _ROLES[row.role] if row.state in {"ONLINE", "RECOVERING"} else ""
    return role_of(node)
