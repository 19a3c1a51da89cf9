"""From everybody's facts to one picture of the estate. Pure: the same facts and past give the same snapshot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from services.discovery.clash import judged_by_clash
from services.discovery.expected import judged_by_size
from services.discovery.families.families import Families
from services.discovery.families.making import Making, Rates
from services.discovery.families.port import Family
from services.discovery.families.registry import registered
from services.discovery.families.shared.channels import links_of
from services.discovery.families.shared.trees import assign_trees, one_host
from services.discovery.identity import identified
from services.discovery.judgement.cluster_problems import apart_from_others, common_problems
from services.discovery.model import TWO_PRIMARIES, ClusterSnapshot, EstateSnapshot, Unasked, stands_alone
from services.discovery.nodes import STALE_S, Node
from services.discovery.unasked import with_unasked
from services.discovery.written import Written, joined_as_written
from services.facts.model import NodeFacts
from services.types import SEVERAL_GROUPS, ClusterKind, Flavour, Reach

NO_RATES: Rates = {}
AS_FOUND: Written = {}


@dataclass(frozen=True, slots=True)
class Look:
    """A look that asked each host once, from `began` to `at`: who answered early in it was not silent since."""

    began: float
    at: float

    @property
    def took_s(self) -> float:
        """Return how long it took; nothing where the clock was set back meanwhile."""
        return max(0.0, self.at - self.began)


def updated_estate(
    previous: EstateSnapshot | None,
    facts: Mapping[str, NodeFacts],
    at: float | Look,
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
        at: now, UTC epoch seconds, or the single look that asked each host once.
        names: host key or cluster id -> what a person calls it; every host of the inventory by its name there.
        rates: host key -> derived rates: "flow_control_share" (0 to 1), "ist_reach_s", "lag_s", "network_in_per_s",
            "flow_control_sent" (1/s), "binlog_bytes_per_s".
        expected: host key of a seed -> how many nodes its cluster should have.
        unasked: hosts that were named and that nobody said may be asked (crawl.py).
        written: host key -> the cluster that a person wrote it into.
    """
    shown, measured, asked = names or {}, rates or NO_RATES, registered()
    stale_s = STALE_S + (at.took_s if isinstance(at, Look) else 0.0)
    at = at.at if isinstance(at, Look) else at
    found = identified(previous, facts, at, shown, stale_s)
    nodes = [node for node in found.nodes if not node.only_named]
    groups: dict[str, list[Node]] = {}
    owners: dict[str, Family] = {}
    for family in asked.concerned(nodes, previous):
        claims = family.claims([node for node in nodes if not node.cluster], previous, at)
        groups |= claims
        owners |= dict.fromkeys(claims, family)
    links = links_of(nodes, at)
    trees = assign_trees(nodes, links, groups, previous)
    alone = joined_as_written(groups, trees, links, written, asked.fellows)
    alone |= {one_host(node): (node,) for node in found.nodes if node.only_named}  # nobody's member: it was not read
    making = Making(previous, links, measured, shown, at)
    clusters = [_group(cluster_id, owners[cluster_id], members, making) for cluster_id, members in groups.items()]
    for cluster_id, members in alone.items():
        kind, family = _kind_of(members, making, asked)
        clusters.append(_cluster(cluster_id, kind, family, list(members), making))
    called = {node.host: node.name for node in found.nodes}
    waiting = tuple(replace(one, by=tuple(called.get(by, by) for by in one.by)) for one in unasked)
    clusters = with_unasked(clusters, waiting, previous, at)
    clusters = [judged_by_clash(judged_by_size(cluster, expected or {}, asked), found.clashes) for cluster in clusters]
    # A server that a person wrote down twice is drawn once and counted as often as it is written.
    twice = sum(host in shown for host in found.aliases)
    asked_for = [n.facts for n in nodes if n.facts is not None]
    reached = sum(facts.reach not in {Reach.NONE, Reach.NOT_TRIED} for facts in asked_for)
    return EstateSnapshot(
        at=at,
        clusters=in_order(clusters),
        problems=found.problems,
        hosts_total=len(asked_for) + twice,
        hosts_answering=reached + twice,
        unasked=waiting,
    )


def in_order(clusters: Sequence[ClusterSnapshot]) -> tuple[ClusterSnapshot, ...]:
    """Return clusters as they are drawn: by name, servers that stand alone last."""
    return tuple(sorted(clusters, key=lambda c: (stands_alone(c), c.name.lower(), c.cluster_id)))


def _group(cluster_id: str, family: Family, members: list[Node], making: Making) -> ClusterSnapshot:
    """Return a cluster that a family claims: of the kind that it says, else of that it was, else of its first.

    One of several groups stays so while but one of them answers.
    """
    told, old = family.takes(members, making.links), making.old(cluster_id)
    before = old.kind if old is not None and old.kind in family.kinds else None
    stays = before is not None and (told is None or SEVERAL_GROUPS in before.traits)
    kind = before if stays else told
    return _cluster(cluster_id, kind or family.kinds[0], family, members, making)


def _cluster(
    cluster_id: str, kind: ClusterKind, family: Family, members: list[Node], making: Making
) -> ClusterSnapshot:
    """Return one cluster: what its family makes of it, and what is said of every cluster alike."""
    parts = family.parts(cluster_id, members, making)
    name = making.names.get(cluster_id) or family.name(cluster_id, parts.nodes, making)
    problems = (*family.problems(name, parts), *common_problems(parts.nodes, parts.edges, making.links))
    shown = parts.shown
    if any(problem.code == TWO_PRIMARIES for problem in problems):
        shown = tuple(apart_from_others(node, parts.components, shown, family.quorum_words) for node in shown)
    answered = [
        n.facts.sql_at for n in parts.nodes if n.facts is not None and n.facts.sql_at is not None and n.sql_fresh
    ]
    old = making.old(cluster_id)
    flavour, version = _product(parts.nodes)
    return ClusterSnapshot(
        cluster_id=cluster_id,
        kind=kind,
        name=name,
        at=max(answered, default=old.at if old is not None else making.at),
        flavour=flavour,
        version=version,
        nodes=shown,
        components=parts.components,
        replication=parts.edges,
        transfers=parts.transfers,
        views=parts.agreement.views,
        observers_agree=parts.agreement.agree,
        agreement=parts.agreement.sentence,
        health=family.health(replace(parts, shown=shown)),
        problems=problems,
        silent=tuple(n.node_id for n in family.silent(parts.nodes)),
    )


def _kind_of(members: Sequence[Node], making: Making, families: Families) -> tuple[ClusterKind, Family]:
    """Return of which kind nodes are that no group claims, and whose that is."""
    links = making.links_of(members)
    return next((kind, one) for one in families.takers(members) if (kind := one.takes(members, links)) is not None)


def _product(nodes: Sequence[Node]) -> tuple[Flavour, str]:
    """Return the product and the newest version among the nodes; "10.11.18 to 11.8.6" when they differ."""
    servers = [n.server for n in nodes if n.server is not None and n.server.version]
    if not servers:
        return Flavour.UNKNOWN, ""
    low, high = min(servers, key=lambda s: s.version_key), max(servers, key=lambda s: s.version_key)
    return high.flavour, high.version if low.version == high.version else f"{low.version} to {high.version}"
