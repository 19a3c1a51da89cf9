"""The sparks of a cluster's nodes: made on a worker, live from memory, of a recording from its file."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING

from services.discovery.model import ClusterSnapshot, NodeView
from services.facts.model import NodeFacts
from widgets.bridge.source import EstateSource
from widgets.common.spark import Spark
from widgets.topology.node_item import SPARK_AREA

if TYPE_CHECKING:  # numpy stands behind it
    from services.series import Series

SPARK_S = 60.0
_OLD_S = 5.0
"""A host that is silent has no new facts; its minute passes all the same."""

Wanted = tuple[tuple[str, str, str], ...]
"""(node id, host, metric) of each node that has a spark."""


@dataclass(frozen=True, slots=True)
class _Newest:
    """A live node's spark: computed at this moment from the samples up to these facts."""

    facts: NodeFacts | None
    metric: str
    at: float
    spark: Spark


class Sparks:
    """Knows the newest sparks (one worker's thread only)."""

    def __init__(self, source: EstateSource) -> None:
        self._source = source
        self._live: dict[str, _Newest] = {}
        self._read: tuple[Wanted, float] = ((), 0.0)
        self._found: Mapping[str, Spark] = {}

    def of_now(self, cluster: ClusterSnapshot, at: float) -> Mapping[str, Spark]:
        """Return, live, the last minute before `at` of each node's own metric by node id."""
        self._live = {node.node_id: self._newest(node, at) for node in _sparked(cluster)}
        return {node_id: newest.spark for node_id, newest in self._live.items()}

    def known(self, cluster: ClusterSnapshot) -> Mapping[str, Spark]:
        """Return, of a recording, what was read last of these nodes, {} before anything was."""
        return self._found if self._read[0] == _wanted(cluster) else {}

    def read(self, cluster: ClusterSnapshot, at: float) -> Mapping[str, Spark]:
        """Return, of a recording, the last minute before `at`, read once: two points a second, none averaged."""
        wanted, points = _wanted(cluster), round(2 * SPARK_S)
        if self._read != (wanted, at):
            source = self._source
            self._found = {
                node_id: spark_of(source.series(host, metric, at - SPARK_S, at, points), at)
                for node_id, host, metric in wanted
            }
            self._read = wanted, at
        return self._found

    def _newest(self, node: NodeView, at: float) -> _Newest:
        """Return a node's spark from memory, computed once for each of its polls: other hosts' make snapshots too."""
        known = self._live.get(node.node_id)
        if known and known.facts is node.facts and known.metric == node.spark_metric and at - known.at < _OLD_S:
            return known
        series = self._source.tail(node.host, node.spark_metric, at - SPARK_S)
        return _Newest(node.facts, node.spark_metric, at, spark_of(series, at))


def _sparked(cluster: ClusterSnapshot) -> list[NodeView]:
    return [node for node in cluster.nodes if node.spark_metric and node.host]


def _wanted(cluster: ClusterSnapshot) -> Wanted:
    return tuple((node.node_id, node.host, node.spark_metric) for node in _sparked(cluster))


def spark_of(series: Series, at: float) -> Spark:
    """Return the minute before `at` as it was: what ended in it, began in it or was away is not stretched over it."""
    known = [(float(t), float(value)) for t, value in zip(series.t, series.value, strict=True) if not math.isnan(value)]
    gaps = [later - earlier for (earlier, _), (later, _) in pairwise(known)]
    apart = median(gaps) if gaps else 0.0
    if apart <= 0.0:
        return Spark(tuple(value for _, value in known), SPARK_AREA)
    values = [math.nan] * _missing(known[0][0] - (at - SPARK_S), apart)
    for (_, value), gap in zip(known, [*(gap - apart for gap in gaps), at - known[-1][0]], strict=True):
        values += [value, *[math.nan] * _missing(gap, apart)]
    return Spark(values, SPARK_AREA)


def _missing(gap_s: float, apart_s: float) -> int:
    """Return how many points a gap would have had; a late answer is none."""
    return round(min(gap_s, SPARK_S) / apart_s) if gap_s > _OLD_S else 0
