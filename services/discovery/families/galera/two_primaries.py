"""Two Primary Components of one state UUID at the same time: seen, and not settled afterwards. Pure.

After a partition and `pc.bootstrap=YES` (or a bootstrap by hand) on the smaller side both sides count on from one seqno
under one UUID, and nothing that a node tells later shows it (page 00, "The same UUID is not the same history").

A view change is no such thing: for a moment nodes tell different views, but the older view counts those of the newer
(Galera documentation, "Quorum Components": a Primary Component comes out of the one before). So two sides are apart
only where each counts all its members by name and none of the other's, and it is kept only when two looks one after
the other both say so: then at some moment between them both were Primary.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations

from services.discovery.families.galera.kind import GALERA
from services.discovery.model import (
    NOT_SETTLED,
    TWO_PRIMARIES,
    ClusterSnapshot,
    Component,
    EstateSnapshot,
    NodeView,
    NotSettled,
    PrimariesApart,
)
from services.discovery.words import moment
from services.facts.model import Problem
from services.facts.reading import host_port
from services.i18n import tr
from services.types import Health, worst


def apart(components: Sequence[Component]) -> tuple[Component, ...]:
    """Return the Primary Components of one cluster of which each knows nothing of any other; () for none or one."""
    primaries = [c for c in components if c.primary]
    if len(primaries) < 2 or not all(_strangers(a, b) for a, b in combinations(primaries, 2)):
        return ()
    return tuple(primaries)


def _strangers(one: Component, other: Component) -> bool:
    if set(one.members) & set(other.members):
        return False
    # Views are numbered one after the other: two of one number with other members come from two histories.
    same_number = bool(one.view_id) and one.view_id == other.view_id
    return same_number or (_all_named(one) and _all_named(other))


def _all_named(component: Component) -> bool:
    """Return whether no member is left that might be one of the other side."""
    return len(component.members) >= component.size > 0


def primaries_apart(cluster: ClusterSnapshot) -> PrimariesApart | None:
    """Return what one look shows: enough to warn and to wait, not enough to remember (see `seen_twice`)."""
    if cluster.kind != GALERA:
        return None
    found = apart(cluster.components)
    if not found:
        return None
    sides = tuple(sorted(tuple(sorted(_host(cluster, member) for member in c.members)) for c in found))
    answered = [at for c in found for node in _observers(cluster, c) if (at := _asked(node)) is not None]
    sentences = (
        f"{', '.join(sorted(_host(cluster, o) for o in c.observers))} (view {c.view_id or '?'})" for c in found
    )
    evidence = f"each answered Primary, and none counted the others: {'; '.join(sentences)}"
    return PrimariesApart(cluster.cluster_id, cluster.name, max(answered, default=cluster.at), sides, evidence)


def seen_twice(first: ClusterSnapshot, second: ClusterSnapshot) -> PrimariesApart | None:
    """Return the newer look's sides when both looks show them, and every answer of it is newer than all of the first.

    A side that answered Primary in both, while the other answered in between, was Primary at the other's moment.
    """
    before, after = primaries_apart(first), primaries_apart(second)
    if before is None or after is None or before.cluster_uuid != after.cluster_uuid:
        return None
    old = [at for c in apart(first.components) for n in _observers(first, c) if (at := _asked(n)) is not None]
    sides = [_askers(second, c, max(old, default=second.at)) for c in apart(second.components)]
    held = [side for side in before.sides if any(set(side) & asked for asked in sides)]
    crossed = any(sum(bool(set(side) & set(now)) for side in before.sides) > 1 for now in after.sides)
    return after if all(sides) and len(held) > 1 and not crossed else None


def _askers(cluster: ClusterSnapshot, component: Component, after: float) -> set[str]:
    """Return the hosts of a side that answered after this moment."""
    asked = [(node, _asked(node)) for node in _observers(cluster, component)]
    return {_host(cluster, node.node_id) for node, at in asked if at is not None and at > after}


def _observers(cluster: ClusterSnapshot, component: Component) -> tuple[NodeView, ...]:
    return tuple(node for o in component.observers if (node := cluster.node(o)) is not None)


def _asked(node: NodeView) -> float | None:
    return node.facts.sql_at if node.facts is not None else None


def _host(cluster: ClusterSnapshot, node_id: str) -> str:
    node = cluster.node(node_id)
    if node is None:
        return node_id
    # A host that was found and not written down may go by its address today and by its node's name tomorrow.
    galera = node.facts.galera if node.facts is not None else None
    if node.host == host_port(node.address)[0] and galera is not None and galera.node_name:
        return galera.node_name
    return node.host or node.name or node_id


def sides_words(sides: Iterable[Sequence[str]]) -> str:
    """Return 's1, s2 | s3'."""
    return " | ".join(", ".join(side) for side in sides)


def told_until_settled(estate: EstateSnapshot, open_: Sequence[NotSettled]) -> EstateSnapshot:
    """Return the estate with a warning at each cluster of which two Primary Components were seen and not settled.

    While they are seen the snapshot itself says so, in red. A cluster that nobody speaks for now (all its servers are
    down) is told among the problems of the estate, where a host of it belongs to the estate.
    """
    if not open_:
        return estate
    here = {cluster.cluster_id for cluster in estate.clusters}
    hosts = {node.host for cluster in estate.clusters for node in cluster.nodes if node.host}
    lost = [s for s in open_ if s.cluster_uuid not in here and any(set(side) & hosts for side in s.sides)]
    return replace(
        estate,
        clusters=tuple(_told(cluster, open_) for cluster in estate.clusters),
        problems=(*estate.problems, *(_problem(s) for s in lost)),
    )


def _told(cluster: ClusterSnapshot, open_: Sequence[NotSettled]) -> ClusterSnapshot:
    problems = tuple(_problem(s) for s in open_ if s.cluster_uuid == cluster.cluster_id)
    if not problems or any(problem.code == TWO_PRIMARIES for problem in cluster.problems):
        return cluster
    return replace(cluster, problems=(*problems, *cluster.problems), health=worst((cluster.health, Health.WARN)))


def _problem(seen: NotSettled) -> Problem:
    text = tr(
        "Two Primary Components of {name} accepted writes separately (seen until {at}: {sides}). Whether "
        "their data agree is not known until you settle it.",
        name=seen.cluster_name or seen.cluster_uuid,
        at=moment(seen.last_seen),
        sides=sides_words(seen.sides),
    )
    return Problem("galera", text, NOT_SETTLED)
