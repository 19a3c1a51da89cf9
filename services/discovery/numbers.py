"""The three numbers on a node's card that matter for its kind, each with its own health (metrics reference)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from services.discovery.async_view import Link, gap_of, gap_words, lag_of
from services.discovery.judge import disk_health
from services.discovery.model import TransferEdge
from services.discovery.nodes import Node
from services.discovery.transfers import DONOR
from services.discovery.words import duration, number, percent, size
from services.types import Health
from services.words import mark, tr

Number = tuple[str, str, Health]
NOT_KNOWN = mark("not known")

IST_WARN_S = 4 * 3600.0
PAUSED_WARN, PAUSED_BAD = 0.01, 0.10
RELAY_WARN_B = 10 * 10**9


def _graded(value: float, warn: float, bad: float) -> Health:
    return Health.BAD if value > bad else (Health.WARN if value > warn else Health.GOOD)


def galera_numbers(node: Node, rates: Mapping[str, float], joining: TransferEdge | None) -> tuple[Number, ...]:
    """Return receive queue, flow control and IST reach; what a joiner received; a full disk pushes the last one out."""
    coming = _joining(joining) if joining is not None else ()
    if coming or (joining is not None and not node.sql_fresh):
        return coming  # what the node said before it left says nothing of a joiner
    galera = node.galera
    if galera is None:
        return ()
    found = [_queue(node), _flow_control(node, rates), _ist(rates)]
    return _with_disk(node, tuple(n for n in found if n is not None))


def _queue(node: Node) -> Number | None:
    galera = node.galera
    if galera is None or galera.recv_queue is None:
        return None
    limit = galera.flow_control_high
    health = Health.GOOD
    if limit and galera.local_state != DONOR:
        health = _graded(galera.recv_queue, limit * 0.5, limit)
    return (mark("receive queue"), number(galera.recv_queue), health)


def _flow_control(node: Node, rates: Mapping[str, float]) -> Number | None:
    if node.galera is not None and node.galera.local_state == DONOR:
        return (mark("flow control"), tr("none: desynced"), Health.GOOD)
    share = rates.get("flow_control_share")
    return None if share is None else (mark("flow control"), percent(share), _graded(share, PAUSED_WARN, PAUSED_BAD))


def _ist(rates: Mapping[str, float]) -> Number | None:
    reach = rates.get("ist_reach_s")
    if reach is None:
        return None
    # However short, it only warns: nothing fails before a node goes away.
    return (mark("IST reach"), duration(reach), Health.WARN if reach < IST_WARN_S else Health.GOOD)


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


def replica_numbers(node: Node, links: Sequence[Link], rates: Mapping[str, float]) -> tuple[Number, ...]:
    """Return lag, GTID gap and relay log of a replica; of several channels the worst."""
    lags = [lag_of(link, rates)[0] for link in links]
    beyond = [lag - link.channel.delay_s for lag, link in zip(lags, links, strict=True) if lag is not None]
    known = [lag for lag in lags if lag is not None]
    if len(known) < len(links):
        lag: Number = (mark("lag"), tr(NOT_KNOWN), Health.BAD)
    else:
        lag = (mark("lag"), duration(max(known)), _graded(max(beyond), 10, 60))
    found = [lag]
    gaps = [g for link in links if (g := gap_of(link)) is not None]
    if gaps:
        found.append((mark("GTID gap"), gap_words(sum(gaps)), Health.GOOD))
    relay = [link.channel.relay_log_space for link in links if link.channel.relay_log_space is not None]
    if relay:
        found.append((mark("relay log"), size(sum(relay)), Health.WARN if sum(relay) > RELAY_WARN_B else Health.GOOD))
    return _with_disk(node, tuple(found))


def source_numbers(node: Node, replicas: int, rates: Mapping[str, float]) -> tuple[Number, ...]:
    """Return what matters on a server that replicates to others, or stands alone."""
    found: list[Number] = []
    if replicas:
        found.append((mark("replicas"), number(replicas), Health.GOOD))
    if (written := rates.get("binlog_bytes_per_s")) is not None:
        found.append(("binlog", f"{size(written)}/s", Health.GOOD))
    if node.server is not None and node.server.uptime_s is not None:
        found.append((mark("up"), duration(node.server.uptime_s), Health.GOOD))
    return _with_disk(node, tuple(found))


def _with_disk(node: Node, found: tuple[Number, ...]) -> tuple[Number, ...]:
    disk = node.machine.data_disk if node.machine is not None else None
    health = disk_health(disk)
    if disk is not None and disk.free is not None and health in {Health.BAD, Health.WARN}:
        return (*found[:2], (mark("data disk"), tr("{size} free", size=size(disk.free)), health))
    return found[:3]
