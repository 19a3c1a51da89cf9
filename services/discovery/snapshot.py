"""From everybody's facts to one picture of the estate. Pure: the same facts and past give the same snapshot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from services.discovery.async_view import Link, edges_of, links_of
from services.discovery.clash import judged_by_clash
from services.discovery.expected import judged_by_size
from services.discovery.galera_members import Directory
from services.discovery.galera_view import (
    Agreement,
    View,
    agreement_of,
    components_of,
    rates_senders,
    segment_of,
    views_of,
)
from services.discovery.grouping import (
    assign_async,
    assign_galera,
    carry_placeholders,
    kind_outside_galera,
    root_of,
)
from services.discovery.identity import identified
from services.discovery.judge import ARBITRATOR, DISK_FULL, Around, verdict
from services.discovery.model import (
    SEEN_NOW,
    SPARE,
    ClusterSnapshot,
    Component,
    EstateSnapshot,
    NodeView,
    ReplicationEdge,
    TransferEdge,
    Unasked,
    stands_alone,
)
from services.discovery.nodes import Node
from services.discovery.numbers import galera_numbers, replica_numbers, source_numbers
from services.discovery.quorum import silent_of
from services.discovery.transfers import transfers_of
from services.discovery.troubles import apart_from_others, cluster_problems
from services.discovery.unasked import with_unasked
from services.discovery.words import joined, listing
from services.discovery.written import Written, joined_as_written, written_name
from services.facts.model import NodeFacts
from services.types import ClusterKind, Flavour, Health, Reach, worst
from services.words import english, mark, tr, tr_n

Rates = Mapping[str, Mapping[str, float]]
NO_RATES: Rates = {}
AS_FOUND: Written = {}


def updated_estate(
    previous: EstateSnapshot | None,
    facts: Mapping[str, NodeFacts],
    at: float,
    names: Mapping[str, str] | None = None,
    *,
    rates: Rates | None = None,
    expected: Mapping[str, int] | None = None,
    unasked: Sequence[Unasked] = (),
    written: Written = AS_FOUND,
) -> EstateSnapshot:
    """Return the estate as these facts show it.

    Args:
        previous: the last snapshot: identities, since when a state holds, and lost members are carried over from it.
        facts: host key -> what the host said last; hosts that are gone from here are gone from the picture.
        at: now, UTC epoch seconds.
        names: host key or cluster id -> what a person calls it; every host of the inventory by its name there.
        rates: host key -> derived rates: "flow_control_share" (0 to 1), "ist_reach_s", "lag_s", "network_in_per_s",
            "flow_control_sent" (1/s), "binlog_bytes_per_s".
        expected: host key of a seed -> how many nodes its cluster should have.
        unasked: hosts that were named and that nobody said may be asked (crawl.py).
        written: host key -> the cluster that a person wrote it into.
    """
    shown, measured = names or {}, rates or NO_RATES
    found = identified(previous, facts, at, shown)
    nodes = list(found.nodes)
    galera = assign_galera(nodes, previous)
    carry_placeholders(galera, previous, at)
    links = links_of(nodes, at)
    alone = joined_as_written(galera, assign_async(nodes, links, galera, previous), links, written)
    making = _Making(previous, links, measured, shown, at)
    clusters = [making.galera(cluster_id, members) for cluster_id, members in galera.items()]
    clusters += [making.asynchronous(cluster_id, members) for cluster_id, members in alone.items()]
    called = {node.host: node.name for node in found.nodes}
    waiting = tuple(replace(one, by=tuple(called.get(by, by) for by in one.by)) for one in unasked)
    clusters = with_unasked(clusters, waiting, previous, at)
    clusters = [judged_by_clash(judged_by_size(cluster, expected or {}), found.clashes) for cluster in clusters]
    # A server that a person wrote down twice is drawn once and counted as often as it is written.
    twice = sum(host in shown for host in found.aliases)
    reached = sum(1 for n in found.nodes if n.facts is not None and n.facts.reach not in {Reach.NONE, Reach.NOT_TRIED})
    return EstateSnapshot(
        at=at,
        clusters=in_order(clusters),
        problems=found.problems,
        hosts_total=len(found.nodes) + twice,
        hosts_answering=reached + twice,
        unasked=waiting,
    )


def in_order(clusters: Sequence[ClusterSnapshot]) -> tuple[ClusterSnapshot, ...]:
    """Return clusters as they are drawn: by name, servers that stand alone last."""
    return tuple(sorted(clusters, key=lambda c: (stands_alone(c), c.name.lower(), c.cluster_id)))


class _Making:
    """What every cluster of one snapshot is made from."""

    def __init__(
        self,
        previous: EstateSnapshot | None,
        links: Sequence[Link],
        rates: Rates,
        names: Mapping[str, str],
        at: float,
    ) -> None:
        self._previous = previous
        self._links = links
        self._rates = rates
        self._names = names
        self._at = at
        self._before = {n.node_id: n for c in previous.clusters for n in c.nodes} if previous is not None else {}

    # -- Galera ------------------------------------------------------------------------------------------------------

    def galera(self, cluster_id: str, members: list[Node]) -> ClusterSnapshot:
        """Return one Galera cluster with the replicas behind it."""
        old = self._previous.cluster(cluster_id) if self._previous is not None else None
        group = [n for n in members if not n.behind]
        behind = [n for n in members if n.behind]
        directory = Directory(cluster_id, group, self._at)
        views = views_of(directory)
        everyone = sorted(directory.nodes, key=lambda n: (n.facts is None, n.name.lower(), n.node_id))
        self._recall(everyone)
        components = components_of(
            views, everyone, rates_senders(self._rates, everyone), old.components if old is not None else ()
        )
        in_view = {o.node_id for v in views for o in v.observers}
        silent = [n for n in everyone if n.sql_fresh and n.galera is not None and n.node_id not in in_view]
        agreement = agreement_of(views, components, silent, old.at if old is not None else None)
        transfers = transfers_of(everyone, old, self._rates, self._at)
        shown = self._galera_nodes(everyone, views, transfers)
        shown += [self._async_view(n) for n in behind]
        edges = edges_of(self._links_of({n.node_id for n in (*everyone, *behind)}), self._rates)
        return self._cluster(
            cluster_id, ClusterKind.GALERA, tuple(shown), edges, everyone, components, agreement, transfers
        )

    def _recall(self, nodes: Sequence[Node]) -> None:
        """Give placeholders their past: hosts got theirs by identity."""
        for node in nodes:
            if node.previous is None:
                node.previous = self._before.get(node.node_id)

    def _galera_nodes(
        self, nodes: Sequence[Node], views: Sequence[View], transfers: Sequence[TransferEdge]
    ) -> list[NodeView]:
        observers = [o for v in views for o in v.observers]
        by_id = {n.node_id: n for n in nodes}
        found = []
        seeing: dict[tuple[str, ...], list[Node]] = {}  # members of one view share their observers
        for node in nodes:
            if node.seen_by not in seeing:
                seeing[node.seen_by] = sorted((by_id[o] for o in node.seen_by if o in by_id), key=lambda n: n.name)
            seen = [o.name for o in seeing[node.seen_by] if o is not node]
            around = Around(observers, seen, _transfer_words(node, transfers, by_id))
            receiving = next((t for t in transfers if t.active and t.joiner_id == node.node_id), None)
            numbers = galera_numbers(node, self._rates.get(node.host, {}), receiving)
            role = ARBITRATOR if node.arbitrator else _role(node)
            found.append(self._view(node, around, role, numbers, "galera.recv_queue"))
        return found

    # -- asynchronous ------------------------------------------------------------------------------------------------

    def asynchronous(self, cluster_id: str, members: Sequence[Node]) -> ClusterSnapshot:
        """Return one asynchronous cluster, or a server that stands alone."""
        self._recall(members)
        if written_name(cluster_id):  # a list of a person's: in the order of its names
            members = sorted(members, key=lambda node: node.name.lower())
        links = self._links_of({n.node_id for n in members})
        kind = kind_outside_galera(members, links)
        shown = tuple(self._async_view(n) for n in members)
        answering = sorted(n.name for n in members if n.sql_fresh)
        sentence = tr("Seen from {names}", names=listing(answering)) if answering else tr("No server answers over SQL")
        agreement = Agreement(agree=True, sentence=sentence, views=())
        return self._cluster(cluster_id, kind, shown, edges_of(links, self._rates), members, (), agreement, ())

    def _links_of(self, ids: set[str]) -> list[Link]:
        return [li for li in self._links if li.replica.node_id in ids or li.source.node_id in ids]

    def _async_view(self, node: Node) -> NodeView:
        upstream = [li for li in self._links if li.replica is node]
        replicas = sum(1 for li in self._links if li.source is node)
        rates = self._rates.get(node.host, {})
        numbers = replica_numbers(node, upstream, rates) if upstream else source_numbers(node, replicas, rates)
        view = self._view(node, Around(), _role(node), numbers, "repl.lag" if upstream else "commit.rate")
        if not node.sql_fresh or node.facts is None:
            return view
        return self._replicating(view, upstream, replicas)

    def _replicating(self, view: NodeView, upstream: Sequence[Link], replicas: int) -> NodeView:
        """Return the node with the words of its channels: a server alone says only that it serves."""
        edges = edges_of(upstream, self._rates)
        bad = max(edges, key=lambda e: e.health.severity, default=None)
        state = _async_state(upstream, replicas, bad)
        health = worst((view.health, *(e.health for e in edges)))
        if view.health is Health.BAD:  # the node's own trouble (a full disk) is the word, replication the reason
            state = tr(DISK_FULL, state=tr(state)) if english(view.state).endswith("disk full") else state
        return self._told(view, state, health, joined(view.reason, bad.reason if bad is not None else ""))

    # -- both --------------------------------------------------------------------------------------------------------

    def _view(
        self, node: Node, around: Around, role: str, numbers: tuple[tuple[str, str, Health], ...], spark: str
    ) -> NodeView:
        judged = verdict(node, around)
        bare = NodeView(
            node_id=node.node_id,
            name=self._names.get(node.node_id) or node.name,
            host=node.host,
            address=node.address,
            role=SPARE if node.spare else role,
            component=node.component,
            segment=segment_of(node),
            reach=node.reach,
            numbers=numbers,
            seen_by=tuple(sorted(set(node.seen_by))),
            uuid_history=node.history,
            spark_metric=spark if node.host else "",
            facts=node.facts,
        )
        return self._told(bare, judged.state, judged.health, judged.reason)

    def _told(self, view: NodeView, state: str, health: Health, reason: str) -> NodeView:
        """Return the view with its judgement; a state that is the same as before keeps its beginning."""
        before = self._before.get(view.node_id)
        same = before is not None and before.state == state
        begun = before.state_since if same and before is not None else self._at
        watched = before.watched_since if before is not None else None
        if watched is None and view.reach is not Reach.NOT_TRIED:
            watched = self._at
        told = replace(view, state=state, health=health, reason=reason)
        return replace(told, state_since=begun, watched_since=watched)

    def _cluster(
        self,
        cluster_id: str,
        kind: ClusterKind,
        shown: tuple[NodeView, ...],
        edges: tuple[ReplicationEdge, ...],
        nodes: Sequence[Node],
        components: tuple[Component, ...],
        agreement: Agreement,
        transfers: tuple[TransferEdge, ...],
    ) -> ClusterSnapshot:
        name = self._name(cluster_id, kind, nodes)
        problems = cluster_problems(kind, name, nodes, components, edges, self._links)
        if any(problem.code == SEEN_NOW for problem in problems):
            shown = tuple(apart_from_others(node, components, shown) for node in shown)
        moments = [n.facts.sql_at for n in nodes if n.facts is not None and n.facts.sql_at is not None and n.sql_fresh]
        old = self._previous.cluster(cluster_id) if self._previous is not None else None
        flavour, version = _product(nodes)
        return ClusterSnapshot(
            cluster_id=cluster_id,
            kind=kind,
            name=name,
            at=max(moments, default=old.at if old is not None else self._at),
            flavour=flavour,
            version=version,
            nodes=shown,
            components=components,
            replication=edges,
            transfers=transfers,
            views=agreement.views,
            observers_agree=agreement.agree,
            agreement=agreement.sentence,
            health=_health(kind, shown, components),
            problems=problems,
            silent=tuple(n.node_id for n in silent_of(nodes)) if kind is ClusterKind.GALERA else (),
        )

    def _name(self, cluster_id: str, kind: ClusterKind, nodes: Sequence[Node]) -> str:
        if given := self._names.get(cluster_id):
            return given
        if kind is ClusterKind.GALERA:
            own = sorted({n.galera.cluster_name for n in nodes if n.galera is not None and n.galera.cluster_name})
            old = self._previous.cluster(cluster_id) if self._previous is not None else None
            return own[0] if own else old.name if old is not None else cluster_id[:8]
        return written_name(cluster_id) or root_of(nodes, self._links).name


def _role(node: Node) -> str:
    server = node.server
    if server is None or server.read_only is None:
        return ""
    return mark("read only") if server.read_only or server.super_read_only else ""


def _async_state(upstream: Sequence[Link], replicas: int, bad: ReplicationEdge | None) -> str:
    if not upstream:
        return mark("source") if replicas else mark("serving")
    if bad is not None and bad.health is Health.BAD:
        if bad.sql_running.lower() != "yes":
            return mark("SQL thread stopped")
        if bad.io_running.lower() in {"connecting", "preparing"}:
            return mark("IO thread can't connect")
        if bad.io_running.lower() != "yes":
            return mark("IO thread stopped")
    sources = sorted({li.source.name for li in upstream})
    return tr_n("replica of {name}", "replica of {n} sources", len(sources), name=sources[0])


def _transfer_words(node: Node, transfers: Sequence[TransferEdge], by_id: Mapping[str, Node]) -> str:
    for edge in transfers:
        if not edge.active:
            continue
        kind = edge.kind or tr("state transfer")
        if edge.donor_id == node.node_id and edge.joiner_id in by_id:
            other = by_id[edge.joiner_id].name
            return tr("{name} gives {other} its state ({kind})", name=node.name, other=other, kind=kind)
        if edge.joiner_id == node.node_id and edge.donor_id in by_id:
            other = by_id[edge.donor_id].name
            return tr("{name} receives its state from {other} ({kind})", name=node.name, other=other, kind=kind)
    return ""


def _product(nodes: Sequence[Node]) -> tuple[Flavour, str]:
    """Return the product and the newest version among the nodes; "10.11.18 to 11.8.6" when they differ."""
    servers = [n.server for n in nodes if n.server is not None and n.server.version]
    if not servers:
        return Flavour.UNKNOWN, ""
    low, high = min(servers, key=lambda s: s.version_key), max(servers, key=lambda s: s.version_key)
    return high.flavour, high.version if low.version == high.version else f"{low.version} to {high.version}"


def _health(kind: ClusterKind, shown: Sequence[NodeView], components: Sequence[Component]) -> Health:
    """Return the worst of the nodes; a Galera cluster without a primary component, or with two, is bad by itself."""
    primaries = sum(1 for c in components if c.primary)
    if kind is ClusterKind.GALERA and components and primaries != 1:
        return Health.BAD
    return worst(tuple(n.health for n in shown if n.role != SPARE))
