"""Snapshots as plain text for a terminal: the same words as the window, the state's shape as one character."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from services.discovery.model import (
    NOT_SETTLED,
    ClusterSnapshot,
    Component,
    EstateSnapshot,
    NodeView,
    ReplicationEdge,
    Unasked,
    kind_words,
)
from services.drawing.cluster import part_name
from services.facts.model import SQL, SSH, Problem
from services.i18n import tr, tr_n
from services.types import Health, Reach

_SHAPE = {Health.GOOD: "●", Health.TRANSFER: "◐", Health.WARN: "▲", Health.BAD: "■", Health.UNKNOWN: "○"}


def estate_text(snapshot: EstateSnapshot) -> str:
    """Return the whole estate, a block per cluster."""
    lines: list[str] = []
    for cluster in snapshot.clusters:
        lines += [*cluster_lines(cluster), ""]
    lines += [f"! {_problem(problem)}" for problem in snapshot.problems]
    lines += unasked_lines(snapshot.unasked)
    lines.append(
        tr("{answering} of {total} hosts answer", answering=snapshot.hosts_answering, total=snapshot.hosts_total)
    )
    return "\n".join(lines) + "\n"


def unasked_lines(unasked: Sequence[Unasked]) -> list[str]:
    """Return who was named and not asked, and the three ways to allow it; [] for nobody."""
    if not unasked:
        return []
    count = len(unasked)
    lines = [
        tr_n("{n} host is named but was not queried:", "{n} hosts are named but were not queried:", count, n=count)
    ]
    lines += [f"  ○ {one.name}  {one.place}  {tr('named by {hosts}', hosts=', '.join(one.by))}" for one in unasked]
    lines.append(
        tr(
            'To query them, add them to the inventory as [[host]], or add networks = ["{address}"] to their '
            "[[cluster]]; only for this command: --also {address}",
            address=unasked[0].address,
        )
    )
    return lines


def cluster_lines(cluster: ClusterSnapshot) -> Iterator[str]:
    """Yield the lines of one cluster: heading, components with their nodes, edges, who saw it."""
    identity = tr(cluster.kind.identity, uuid=cluster.cluster_id) if cluster.kind.identity else ""
    product = f"{cluster.flavour.value} {cluster.version}".strip() if cluster.version else ""
    parts = (kind_words(cluster), product, identity, _silence(cluster))
    yield f"{cluster.name}  {' · '.join(part for part in parts if part)}"
    shown: set[str] = set()
    for component in cluster.components:
        yield f"  {component_sentence(component, cluster)}"
        for node_id in component.members:
            node = cluster.node(node_id)
            if node is not None:
                shown.add(node_id)
                yield from _node_lines(node, "    ")
    for node in cluster.nodes:
        if node.node_id not in shown:
            yield from _node_lines(node, "  ")
    yield from _edge_lines(cluster)
    if cluster.agreement:
        yield f"  {cluster.agreement}"
    for view in cluster.views if not cluster.observers_agree else ():
        yield f"    {view.sentence}"
    for problem in cluster.problems:
        yield f"  ! {_problem(problem)}"


def _silence(cluster: ClusterSnapshot) -> str:
    """Return '■ 0 of 15 hosts answer' where one does not: the worst state, and how many there are."""
    hosts = [node for node in cluster.nodes if node.host]
    silent = sum(node.reach is Reach.NONE for node in hosts)
    if not silent or len(hosts) < 2:
        return ""
    words = tr("{answering} of {total} hosts answer", answering=len(hosts) - silent, total=len(hosts))
    return f"{_SHAPE[cluster.health]} {words}"


def _problem(problem: Problem) -> str:
    """Return what is wrong, with the command that settles what only a person can."""
    command = " (pilothouse settle)" if problem.code == NOT_SETTLED else ""
    return f"{problem.part}: {problem.sentence}{command}"


def component_sentence(component: Component, cluster: ClusterSnapshot) -> str:
    """Return 'Primary component: 3 of 3 votes, may lose 1 at a time, view 12'."""
    name = part_name(component, cluster)
    parts = [tr_n("{votes} of {n} vote", "{votes} of {n} votes", component.votes_known, votes=component.votes)]
    if component.primary and component.may_lose is not None:
        may = component.may_lose
        parts.append(tr("may lose {n} at a time", n=may) if may else tr("may lose none"))
    if component.view_id:
        parts.append(tr("view {view}", view=component.view_id))
    return f"{name}: {', '.join(parts)}"


def _node_lines(node: NodeView, indent: str) -> Iterator[str]:
    numbers = " · ".join(f"{tr(label)} {value}" for label, value, _ in node.numbers)
    role = f" ({tr(node.role)})" if node.role else ""
    yield f"{indent}{_SHAPE[node.health]} {node.name}{role}  {tr(node.state)}  {node.address}  {numbers}".rstrip()
    if node.reason:
        yield f"{indent}  {node.reason}"
    for sentence in _other_reasons(node):
        yield f"{indent}  {sentence}"


def _other_reasons(node: NodeView) -> Iterator[str]:
    """Yield why the ways in fail that the reason of a host that is not reached says nothing of."""
    told = node.reason
    for problem in node.facts.problems if node.facts is not None and node.reach is Reach.NONE else ():
        sentence = problem.bare or problem.sentence
        if problem.part in {SQL, SSH} and sentence.rstrip(".") not in told and told.rstrip(".") not in sentence:
            told = f"{told} {sentence}"
            yield sentence


def _edge_lines(cluster: ClusterSnapshot) -> Iterator[str]:
    for edge in cluster.replication:
        yield f"  {_edge_text(cluster, edge)}"
    for transfer in cluster.transfers:
        kind = transfer.kind or tr("state transfer")
        yield f"  {_name(cluster, transfer.donor_id)} -> {_name(cluster, transfer.joiner_id)}: {kind}"


def _name(cluster: ClusterSnapshot, node_id: str) -> str:
    node = cluster.node(node_id)
    return node.name if node is not None else (node_id or "?")


def _edge_text(cluster: ClusterSnapshot, edge: ReplicationEdge) -> str:
    channel = f" [{edge.channel}]" if edge.channel else ""
    lag = tr("lag unknown") if edge.lag_s is None else tr("lag {lag:.3g} s", lag=edge.lag_s)
    if edge.semi_sync is not None:
        lag = f"{lag} · {tr('semi-sync') if edge.semi_sync else tr('semi-sync fallen back')}"
    text = f"{_name(cluster, edge.source_id)} -> {_name(cluster, edge.replica_id)}{channel}: {lag}"
    return f"{_SHAPE[edge.health]} {text}{f' · {edge.reason}' if edge.reason else ''}"
