"""What a run does on purpose is no fault: a node that it has stopped is told calmly, everything else as it is. Pure.

A run says which node it moves (services/procedures/journal/taken_down.py). Only what follows from that is calm: a
server that is off, or on its way off or on. A unit that failed, data that are inconsistent, another node: these stay
as bad as they are, and so does the node itself once the run has failed or says that it is back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from services.discovery.expected import SMALLER
from services.discovery.judgement.states import OFF, STARTED_BY_RUN, STOPPED_BY_RUN
from services.discovery.model import SPARE, ClusterSnapshot, EstateSnapshot, NodeView
from services.i18n import tr
from services.types import Health, worst


@dataclass(frozen=True, slots=True)
class OnPurpose:
    """A node that a run moves now: by which of its steps (from 1), and whether that one brings it up."""

    host: str
    run_id: str
    step: int
    steps: int
    starts: bool = False


def told_on_purpose(
    estate: EstateSnapshot, purposes: Sequence[OnPurpose], previous: EstateSnapshot | None = None
) -> EstateSnapshot:
    """Return the estate with what runs do on purpose told as that; since when is carried over from `previous`."""
    if not purposes:
        return estate
    before = {n.host: n for c in previous.clusters for n in c.nodes} if previous is not None else {}
    by_host = {one.host: (one, before.get(one.host)) for one in purposes}
    return replace(estate, clusters=tuple(_cluster(cluster, by_host) for cluster in estate.clusters))


def _cluster(cluster: ClusterSnapshot, by_host: Mapping[str, tuple[OnPurpose, NodeView | None]]) -> ClusterSnapshot:
    nodes = tuple(_node(node, *by_host[node.host]) if node.host in by_host else node for node in cluster.nodes)
    away = sum(new.health is not old.health for old, new in zip(cluster.nodes, nodes, strict=True))
    if not away:
        return replace(cluster, nodes=nodes)
    problems = cluster.problems
    if cluster.size is not None and cluster.expected is not None and cluster.size + away >= cluster.expected:
        problems = tuple(p for p in problems if p.code != SMALLER)
    told = replace(cluster, nodes=nodes, problems=problems)
    if sum(component.primary for component in cluster.components) != 1 and cluster.components:
        return told  # no Primary Component, or two: that is bad whoever is away
    short = Health.WARN if any(p.code == SMALLER for p in problems) else Health.GOOD
    return replace(told, health=worst((short, *(node.health for node in nodes if node.role != SPARE))))


def _node(node: NodeView, purpose: OnPurpose, before: NodeView | None) -> NodeView:
    words = tr("run {run}, step {n} of {steps}", run=purpose.run_id, n=purpose.step, steps=purpose.steps)
    if node.health in {Health.GOOD, Health.TRANSFER} or node.code not in OFF or _failed(node):
        return replace(node, on_purpose=words)
    state = STARTED_BY_RUN if purpose.starts else STOPPED_BY_RUN
    same = before is not None and before.code == state.code
    return replace(
        node,
        state=state.word,
        code=state.code,
        state_since=before.state_since if same and before is not None else node.state_since,
        health=Health.TRANSFER,
        reason=words,
        numbers=(),
        on_purpose=words,
    )


def _failed(node: NodeView) -> bool:
    machine = node.facts.machine if node.facts is not None else None
    return machine is not None and machine.unit_state.startswith("failed")
