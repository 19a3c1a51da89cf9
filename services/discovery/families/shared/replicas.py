"""The card of a server that replicates, is replicated from, or does neither."""

from __future__ import annotations

from collections.abc import Sequence

from services.discovery.families.making import Card, Making, role_of
from services.discovery.families.shared.channels import Link, edges_of
from services.discovery.families.shared.numbers import replica_numbers, source_numbers
from services.discovery.families.shared.semi_sync import source_number, source_verdict
from services.discovery.families.shared.writing import unwritten
from services.discovery.judgement import states
from services.discovery.judgement.judge import Around
from services.discovery.judgement.replication_known import channels_doubt, replicas_doubt
from services.discovery.judgement.states import DISK_FULL, State
from services.discovery.model import NodeView, ReplicationEdge
from services.discovery.nodes import Node
from services.discovery.words import joined
from services.i18n import tr, tr_n
from services.types import Health, worst


def replica_view(node: Node, making: Making) -> NodeView:
    """Return the card of a server in no group."""
    upstream = [li for li in making.links if li.replica is node]
    replicas = sum(1 for li in making.links if li.source is node)
    rates = making.rates.get(node.host, {})
    waits = source_verdict(node, replicates=bool(upstream), replicas=replicas)
    writes = unwritten(node, making.links)
    mark_of = source_number(node, waits[0])
    numbers = replica_numbers(node, upstream, rates) if upstream else source_numbers(node, replicas, rates, mark_of)
    card = Card(role_of(node), numbers, "repl.lag" if upstream else "commit.rate")
    view = making.view(node, Around(), card)
    if not node.sql_fresh or node.facts is None:
        return view
    alone = _alone(node, view.reason) if not upstream and not replicas else (Health.GOOD, "")
    return _replicating(view, making, upstream, replicas, (alone, waits, writes))


def _alone(node: Node, sentence: str) -> tuple[Health, str]:
    """Return health and sentence of a server that nothing ties to another: was it asked for what would?"""
    channels, seen = channels_doubt(node, needed=True), replicas_doubt(node)
    doubt = joined("" if channels in sentence else channels, seen)
    return (Health.UNKNOWN if channels or seen else Health.GOOD), doubt


def _replicating(
    view: NodeView, making: Making, upstream: Sequence[Link], replicas: int, as_source: Sequence[tuple[Health, str]]
) -> NodeView:
    """Return the node with the words of its channels: a server alone says only that it serves.

    Args:
        as_source: healths and sentences of it as a source.
    """
    edges = edges_of(upstream, making.rates)
    bad = max(edges, key=lambda e: e.health.severity, default=None)
    state = _state(upstream, replicas, bad)
    health = worst((view.health, *(told for told, _ in as_source), *(e.health for e in edges)))
    if view.health is Health.BAD:  # the node's own trouble is the word, replication the reason
        full = DISK_FULL.called(tr(DISK_FULL.word, state=tr(state.word)))
        state = {DISK_FULL.code: full, states.OFFLINE_MODE.code: states.OFFLINE_MODE}.get(view.code, state)
    of_channel = bad.reason if bad is not None and bad.reason not in view.reason else ""
    return making.told(view, state, health, joined(view.reason, of_channel, *(why for _, why in as_source)))


def _state(upstream: Sequence[Link], replicas: int, bad: ReplicationEdge | None) -> State:
    if not upstream:
        return states.SOURCE if replicas else states.SERVING
    if bad is not None and bad.health is Health.BAD:
        if bad.sql_running.lower() != "yes":
            return states.SQL_STOPPED
        if bad.io_running.lower() in {"connecting", "preparing"}:
            return states.IO_CONNECTS
        if bad.io_running.lower() != "yes":
            return states.IO_STOPPED
    sources = sorted({li.source.name for li in upstream})
    return states.REPLICA.called(tr_n("replica of {name}", "replica of {n} sources", len(sources), name=sources[0]))
