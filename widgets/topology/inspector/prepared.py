"""What the inspector shows of a node, made ready on any thread: values that the window only puts in place."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QRectF

from services.discovery.model import ClusterSnapshot, NodeView
from widgets.common.nodes import curve_index, is_silent, is_stale
from widgets.common.spark import Spark
from widgets.topology.inspector.content import Content, ExtraRows, content

NO_CURVE = Spark((), QRectF())


@dataclass(frozen=True, slots=True)
class Curve:
    """The curve of a node's own metric: made for a place, painted there."""

    spark: Spark
    caption: str
    color: int
    stale: bool


@dataclass(frozen=True, slots=True)
class Told:
    """All that the inspector shows of one node, made ready on any thread. `grey`: its head is no longer the present."""

    node_id: str
    content: Content
    grey: bool
    curve: Curve


def prepared_content(
    cluster: ClusterSnapshot,
    node: NodeView,
    at: float,
    extra: ExtraRows,
    spark: Spark = NO_CURVE,
    caption: str = "",
    *,
    live: bool = True,
) -> Told:
    """Make ready what the inspector shows of `node` as of `at` (UTC epoch seconds).

    Args:
        extra: section title ("Replication", "Machine", "Settings that matter") -> (label, value, health) rows that
            only the samplers know; they stand first in their section.
        spark: the node's curve; `caption` says what and how long ("receive queue, last 10 min").
        live: whether `at` is the present of a live estate.
    """
    stale = is_stale(node, at)
    curve = Curve(spark, caption, curve_index(cluster, node.node_id), stale)
    return Told(node.node_id, content(cluster, node, at, extra, live=live), stale and not is_silent(node), curve)
