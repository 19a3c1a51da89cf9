"""MongoDB: a quorum a replica set, or the sets, config servers and mongos of a sharded cluster."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from services.discovery.families.making import Card, Making
from services.discovery.families.mongodb import reported
from services.discovery.families.mongodb.claims import claims, home, leads, places, set_id
from services.discovery.families.mongodb.contents import empty_problems, metadata_problems
from services.discovery.families.mongodb.edges import edges_of
from services.discovery.families.mongodb.judge import Judge
from services.discovery.families.mongodb.kind import REPLICA_SET, SHARDED, speaks
from services.discovery.families.mongodb.numbers import member_numbers, process_numbers
from services.discovery.families.mongodb.places import Directory, facts_of, names_of, own_name, without_found
from services.discovery.families.mongodb.problems import GRAVITY
from services.discovery.families.mongodb.quorum import agreement_of, components_of, set_problems, silent_of
from services.discovery.families.mongodb.sharded import (
    role_words,
    sharded_name,
    sharded_problems,
    shards_of,
    title_of,
)
from services.discovery.families.mongodb.views import SetOf, set_of
from services.discovery.families.port import Lead, Lent, Parts
from services.discovery.families.shared.channels import Link
from services.discovery.families.shared.placeholders import carry_placeholders
from services.discovery.judgement.judge import Around
from services.discovery.model import SPARE, ClusterSnapshot, EstateSnapshot, NodeView
from services.discovery.nodes import Node
from services.discovery.words import names
from services.facts.model import NodeFacts, Problem
from services.i18n import tr
from services.types import ClusterKind, Health, worst


class MongoDb:
    """One replica set, or one sharded cluster, by the id that its metadata have."""

    kinds = (REPLICA_SET, SHARDED)
    quorum_words = reported.WORDS

    def speaks(self, facts: NodeFacts) -> bool:
        """Return whether it is a process of MongoDB."""
        return speaks(facts)

    def leads(self, facts: NodeFacts) -> Iterable[Lead]:
        """Return members, shards, config servers and mongos that a process names."""
        return leads(facts)

    def fellows(self, facts: NodeFacts) -> Iterable[str]:
        """Return the places that a process names as those of its cluster."""
        return (place.name for place, _ in places(facts.mongo)) if facts.mongo is not None else ()

    def home(self, facts: NodeFacts) -> str:
        """Return the id of its cluster."""
        return home(facts)

    def live_id(self, facts: NodeFacts) -> tuple[str, ...]:
        """Return its set and its name in it."""
        return reported.live_id(facts)

    def told(self, facts: NodeFacts) -> tuple[object, ...]:
        """Return what two answers of one process can't differ in."""
        return reported.self_report(facts)

    def addresses(self, facts: NodeFacts) -> Iterable[str]:
        """Return how its set calls it."""
        return (name,) if facts.mongo is not None and (name := own_name(facts.mongo)) else ()

    def segment(self, _facts: NodeFacts) -> int | None:
        """Return None: tags are no segments."""
        return None

    def sampled(self, _facts: NodeFacts) -> Mapping[str, float]:
        """Return nothing: the poll's numbers are sampled already (services/sampling/mongo_poll.py)."""
        return {}

    def lent(self, _facts: NodeFacts) -> Lent | None:
        """Return None: an oplog is read, not lent; its window is told on the card."""
        return None

    def moving(self, _facts: NodeFacts) -> bool:
        """Return False: an initial sync is a state of the member's own."""
        return False

    def lost(self, old: NodeFacts, new: NodeFacts, name: str) -> str:
        """Return that it rolled back, which may be over between two looks."""
        return reported.lost(old, new, name)

    def claims(self, nodes: Sequence[Node], previous: EstateSnapshot | None, at: float) -> dict[str, list[Node]]:
        """Return the processes by their cluster, with the members that only others spoke of."""
        clusters = claims(nodes, previous)
        carry_placeholders(clusters, self.kinds, previous, at, names_of)
        return {cluster_id: without_found(members) for cluster_id, members in clusters.items()}

    def takes(self, members: Sequence[Node], _links: Sequence[Link]) -> ClusterKind | None:
        """Return which of the two a claimed cluster is; None: a process alone is a single server.

        A member that may tell nothing of its set is in one all the same, and is not good by serving.
        """
        told_ = [facts for node in members if (facts := facts_of(node)) is not None]
        if not any(f.set is not None or f.cluster is not None or f.server.role == "member" for f in told_):
            return None
        sharded = any(facts.server.role == "router" or facts.server.config for facts in told_)
        return SHARDED if sharded else REPLICA_SET

    def parts(self, cluster_id: str, members: list[Node], making: Making) -> Parts:
        """Return the sets of one cluster, and the processes beside them."""
        old = making.old(cluster_id)
        directory = Directory(members)
        sets = _sets(members, directory, making.at)
        components = tuple(part for one in sets for part in components_of(one))
        everyone = list(members)
        everyone += [n for one in sets for n in one.nodes if all(n is not known for known in everyone)]
        for node in everyone:
            node.cluster = cluster_id
        everyone.sort(key=lambda n: (n.facts is None, n.name.lower(), n.node_id))
        making.recall(everyone)
        judge = Judge(sets)
        shown = tuple(_card(node, everyone, sets, judge, making) for node in everyone)
        agreement = agreement_of(sets, components, old.at if old is not None else None)
        return Parts(everyone, shown, edges_of(sets), components, agreement)

    def name(self, cluster_id: str, nodes: Sequence[Node], making: Making) -> str:
        """Return what it was called, else its set's name, of a sharded cluster its shards'."""
        old = making.old(cluster_id)
        if old is not None:
            return old.name
        told_ = [facts for node in nodes if (facts := facts_of(node)) is not None]
        sets = (f.set.name if f.set is not None else f.server.set_name for f in told_)
        return sharded_name(nodes) or next((name for name in sets if name), cluster_id)

    def problems(self, _name: str, parts: Parts) -> Sequence[Problem]:
        """Return what is wrong with its sets, then with the cluster of them."""
        sets = _sets(list(parts.nodes), Directory(parts.nodes), max((n.at for n in parts.nodes), default=0.0))
        found = [problem for one in sets for problem in (*set_problems(one), *empty_problems(one))]
        return [*found, *sharded_problems(parts.nodes), *metadata_problems(parts.nodes)]

    def health(self, parts: Parts) -> Health:
        """Return the worst of the nodes and of what is wrong with all of them.

        A set without a majority, or with two, is bad by itself.
        """
        titles = {c.title for c in parts.components}
        if any(sum(c.primary for c in parts.components if c.title == title) != 1 for title in titles):
            return Health.BAD
        wrong = (GRAVITY.get(problem.code, Health.GOOD) for problem in self.problems("", parts))
        return worst((*wrong, *(n.health for n in parts.shown if n.role != SPARE)))

    def silent(self, nodes: Sequence[Node]) -> Sequence[Node]:
        """Return the members of which nothing is known: each may be part of a majority."""
        directory = Directory(nodes)
        return [n for one in _sets(list(nodes), directory, 0.0) for n in silent_of(one)]

    def size(self, cluster: ClusterSnapshot) -> int | None:
        """Return how many processes are in a part with a majority, or stand beside the sets and answer."""
        inside = {m for c in cluster.components if c.primary for m in c.members}
        if cluster.components and not inside:
            return None
        return len(inside) + sum(n.health is Health.GOOD for n in cluster.nodes if not n.component and n.host)

    def missing(self, cluster: ClusterSnapshot, told: Mapping[str, str]) -> str:
        """Return how many there are, and who is missing."""
        inside = {m for c in cluster.components if c.primary for m in c.members}
        absent = sorted(
            n.name for n in cluster.nodes if n.node_id not in inside and n.health is not Health.GOOD and n.role != SPARE
        )
        who = tr(": {names} missing", names=names(absent)) if absent else ""
        return tr("The cluster has {size} of the {nodes} expected by the inventory{who}.", who=who, **told)


def _sets(members: list[Node], directory: Directory, at: float) -> list[SetOf]:
    """Return the replica sets among these nodes, the config servers' last."""
    found: dict[str, list[Node]] = {}
    for node in members:
        facts = facts_of(node)
        if facts is not None and facts.set is not None:
            found.setdefault(set_id(facts.set), []).append(node)
    shards = shards_of(members)
    sets = [set_of(key, title_of(nodes, shards), nodes, directory, at) for key, nodes in found.items()]
    return sorted(sets, key=lambda s: (s.newest is not None and s.newest.config_servers, s.name, s.key))


def _card(node: Node, everyone: Sequence[Node], sets: Sequence[SetOf], judge: Judge, making: Making) -> NodeView:
    one = next((s for s in sets if any(n is node for n in s.nodes)), None)
    observers = [view.observer for view in one.views] if one is not None else []
    called = {n.node_id: n.name for n in everyone}
    seen = sorted(called[o] for o in set(node.seen_by) if o != node.node_id and o in called)
    numbers = member_numbers(node, one) if one is not None else process_numbers(node)
    card = Card(role_words(node, one), numbers if node.sql_fresh else (), "mongo.ops")
    return making.view(node, Around(observers, seen), card, judge)
