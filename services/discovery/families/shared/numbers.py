"""The numbers on the card of a replica, a source or a server alone, each with its own health (metrics reference)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from services.discovery.families.shared.channels import (
    LAG_BAD_S,
    LAG_WARN_S,
    Link,
    by_gtid,
    gap_health,
    gap_of,
    gap_words,
    lag_of,
)
from services.discovery.judgement.judge import disk_health
from services.discovery.nodes import Node
from services.discovery.words import number, size
from services.i18n import mark, tr
from services.moments import duration
from services.types import Health

Number = tuple[str, str, Health]
NOT_KNOWN = mark("not known")

RELAY_WARN_B = 10 * 10**9


def graded(value: float, warn: float, bad: float) -> Health:
    """Return GOOD up to `warn`, WARN up to `bad`."""
    return Health.BAD if value > bad else (Health.WARN if value > warn else Health.GOOD)


def lag_health(link: Link, lag: float) -> Health:
    """Return the colour of a lag beyond the delay that is meant; of one that can't be read, what is small is well."""
    delay = link.channel.delay_s
    if delay is None:
        return Health.GOOD if lag <= LAG_WARN_S else Health.UNKNOWN
    return graded(lag - delay, LAG_WARN_S, LAG_BAD_S)


def replica_numbers(node: Node, links: Sequence[Link], rates: Mapping[str, float]) -> tuple[Number, ...]:
    """Return lag, GTID gap and relay log of a replica; of several channels the worst."""
    lags = [lag_of(link, rates)[0] for link in links]
    known = [lag for lag in lags if lag is not None]
    if len(known) < len(links):
        lag: Number = (mark("lag"), tr(NOT_KNOWN), Health.UNKNOWN)
    else:
        lag = (
            mark("lag"),
            duration(max(known)),
            max((lag_health(link, lag) for link, lag in zip(links, known, strict=True)), key=lambda h: h.severity),
        )
    found = [lag]
    found += _gap(links, lag[2])
    relay = [link.channel.relay_log_space for link in links if link.channel.relay_log_space is not None]
    if relay:
        found.append((mark("relay log"), size(sum(relay)), Health.WARN if sum(relay) > RELAY_WARN_B else Health.GOOD))
    return with_disk(node, tuple(found))


def _gap(links: Sequence[Link], lag: Health) -> list[Number]:
    """Return the transactions that all channels still have to execute; one that can't be told makes the sum unknown."""
    gaps = [(link, gap_of(link)) for link in links]
    known = [(link, gap) for link, gap in gaps if gap is not None]
    if len(known) == len(gaps):
        health = max((gap_health(link, gap, lag) for link, gap in known), key=lambda h: h.severity)
        return [(mark("GTID gap"), gap_words(sum(gap for _, gap in known)), health)]
    if any(by_gtid(link.channel) for link, gap in gaps if gap is None):
        return [(mark("GTID gap"), tr(NOT_KNOWN), Health.UNKNOWN)]
    return []


def source_numbers(
    node: Node, replicas: int, rates: Mapping[str, float], semi_sync: Number | None = None
) -> tuple[Number, ...]:
    """Return what matters on a server that replicates to others, or stands alone."""
    found: list[Number] = []
    if replicas:
        found.append((mark("replicas"), number(replicas), Health.GOOD))
    if semi_sync is not None:
        found.append(semi_sync)
    if (written := rates.get("binlog_bytes_per_s")) is not None:
        found.append(("binlog", f"{size(written)}/s", Health.GOOD))
    if node.server is not None and node.server.uptime_s is not None:
        found.append((mark("up"), duration(node.server.uptime_s), Health.GOOD))
    return with_disk(node, tuple(found))


def with_disk(node: Node, found: tuple[Number, ...]) -> tuple[Number, ...]:
    """Return the three that are shown; a full disk pushes the last one out. What is old is neither good nor bad."""
    if not node.sql_fresh:
        found = tuple((label, value, Health.UNKNOWN) for label, value, _ in found)
    disk = node.machine.data_disk if node.machine is not None and node.ssh_fresh else None
    health = disk_health(disk)
    if disk is not None and disk.free is not None and health in {Health.BAD, Health.WARN}:
        return (*found[:2], (mark("data disk"), tr("{size} free", size=size(disk.free)), health))
    return found[:3]
