"""The three numbers on the card of a Galera node, each with its own health (metrics reference)."""

from __future__ import annotations

from collections.abc import Mapping

from services.discovery.families.shared.numbers import Number, graded, with_disk
from services.discovery.model import IST_REACH, TransferEdge
from services.discovery.nodes import Node
from services.discovery.words import number, percent, size
from services.facts.galera.whole import DONOR
from services.i18n import mark, tr
from services.moments import duration
from services.types import Health

IST_WARN_S = 4 * 3600.0
MAX_SHOWN_S = 7 * 86_400.0
"""An idle server's cache reaches for ever: so much is said of it."""
PAUSED_WARN, PAUSED_BAD = 0.01, 0.10


def galera_numbers(node: Node, rates: Mapping[str, float], joining: TransferEdge | None) -> tuple[Number, ...]:
    """Return receive queue, flow control and IST reach; what a joiner received; a full disk pushes the last one out."""
    coming = _joining(joining) if joining is not None else ()
    if coming or (joining is not None and not node.sql_fresh):
        return coming  # what the node said before it left says nothing of a joiner
    galera = node.galera
    if galera is None:
        return ()
    found = [_queue(node), _flow_control(node, rates), _ist(rates)]
    return with_disk(node, tuple(n for n in found if n is not None))


def _queue(node: Node) -> Number | None:
    galera = node.galera
    if galera is None or galera.recv_queue is None:
        return None
    limit = galera.flow_control_high
    health = Health.GOOD
    if limit and galera.local_state != DONOR:
        health = graded(galera.recv_queue, limit * 0.5, limit)
    return (mark("receive queue"), number(galera.recv_queue), health)


def _flow_control(node: Node, rates: Mapping[str, float]) -> Number | None:
    if node.galera is not None and node.galera.local_state == DONOR:
        return (mark("flow control"), tr("none: desynced"), Health.GOOD)
    share = rates.get("flow_control_share")
    return None if share is None else (mark("flow control"), percent(share), graded(share, PAUSED_WARN, PAUSED_BAD))


def _ist(rates: Mapping[str, float]) -> Number | None:
    reach = rates.get("ist_reach_s")
    if reach is None:
        return None
    # However short, it only warns: nothing fails before a node goes away.
    words = tr("a week or more") if reach >= MAX_SHOWN_S else duration(reach)
    return (IST_REACH, words, Health.WARN if reach < IST_WARN_S else Health.GOOD)


def _joining(edge: TransferEdge) -> tuple[Number, ...]:
    found: list[Number] = []
    if edge.kind != "SST" and edge.seqno_done is not None and edge.seqno_last is not None:
        first = edge.seqno_first or edge.seqno_done
        done, whole = max(0, edge.seqno_done - first + 1), max(1, edge.seqno_last - first + 1)
        found.append(
            (
                mark("write sets"),
                tr("{part} of {whole}", part=number(min(done, whole)), whole=number(whole)),
                Health.GOOD,
            )
        )
    if edge.bytes_done is not None:
        done_words = size(edge.bytes_done)
        if edge.bytes_total:
            done_words = tr("{part} of {whole}", part=done_words, whole=size(edge.bytes_total))
        found.append((mark("received"), done_words, Health.GOOD))
    if edge.rate is not None and edge.rate > 0:
        found.append((mark("rate"), f"{size(edge.rate)}/s", Health.GOOD))
    if edge.eta_s is not None:
        found.append((mark("left"), tr("about {span}", span=duration(edge.eta_s)), Health.GOOD))
    return tuple(found[:3])
