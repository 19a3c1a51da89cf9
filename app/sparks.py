"""The sparks of a cluster's nodes: live from memory, of a recording read by a worker and shown when they are there."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.discovery.model import ClusterSnapshot, NodeView
from services.facts.model import NodeFacts
from widgets.bridge.ops import Ops
from widgets.bridge.source import EstateSource

if TYPE_CHECKING:  # numpy stands behind it
    from services.series import Series

SPARK_S = 60.0
_OLD_S = 5.0
"""A host that is silent has no new facts; its minute passes all the same."""

Spark = tuple[float, ...]
Wanted = tuple[tuple[str, str, str], ...]
"""(node id, host, metric) of each node that has a spark."""


@dataclass(frozen=True, slots=True)
class _Newest:
    """A live node's spark: computed at this moment from the samples up to these facts."""

    facts: NodeFacts | None
    metric: str
    at: float
    values: Spark


class Sparks:
    """Knows the newest sparks (GUI thread only). `arrived` is called when a worker brought others than `of` gave."""

    def __init__(self, source: EstateSource, ops: Ops, arrived: Callable[[], None]) -> None:
        self._source = source
        self._ops = ops
        self._arrived = arrived
        self._live: dict[str, _Newest] = {}
        self._asked: tuple[Wanted, float] = ((), 0.0)
        self._read: tuple[Wanted, Mapping[str, Spark]] = ((), {})

    def of(self, cluster: ClusterSnapshot, at: float) -> Mapping[str, Spark]:
        """Return the last minute before `at` of each node's own metric by node id.

        Of a recording: what is known of these nodes, {} before anything is; `arrived` follows with what is so at `at`.
        """
        nodes = [node for node in cluster.nodes if node.spark_metric and node.host]
        if self._source.is_live:
            self._live = {node.node_id: self._newest(node, at) for node in nodes}
            return {node_id: newest.values for node_id, newest in self._live.items()}
        wanted = tuple((node.node_id, node.host, node.spark_metric) for node in nodes)
        if (wanted, at) != self._asked:
            self._asked = wanted, at
            source = self._source
            self._ops.run("sparks", lambda: (wanted, _read(source, wanted, at)), self._take)
        return self._read[1] if self._read[0] == wanted else {}

    def _newest(self, node: NodeView, at: float) -> _Newest:
        """Return a node's spark from memory, computed once for each of its polls: other hosts' make snapshots too."""
        known = self._live.get(node.node_id)
        if known and known.facts is node.facts and known.metric == node.spark_metric and at - known.at < _OLD_S:
            return known
        series = self._source.tail(node.host, node.spark_metric, at - SPARK_S)
        return _Newest(node.facts, node.spark_metric, at, _known(series))

    def _take(self, found: tuple[Wanted, Mapping[str, Spark]]) -> None:
        if found != self._read:
            self._read = found
            self._arrived()


def _read(source: EstateSource, wanted: Wanted, at: float) -> Mapping[str, Spark]:
    """Read the sparks of a recording (on a worker): at most two points a second, so that none is averaged."""
    points = round(2 * SPARK_S)
    return {node_id: _known(source.series(host, metric, at - SPARK_S, at, points)) for node_id, host, metric in wanted}


def _known(series: Series) -> Spark:
    return tuple(float(value) for value in series.value if not math.isnan(value))
