"""Fills the charts of resources/charts.toml with a cluster and a node: titles, curves, limits, where the data is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from services.discovery.model import ClusterSnapshot, NodeView
from services.drawing.cluster import ordered_nodes
from services.i18n import tr
from services.sampling.metrics.charts import ChartTemplate, CurveTemplate, load_charts
from services.types import ONLY_NAMED, VOTES
from widgets.charts.model import ChartSpec, CurveSpec, LimitBand, LimitLine
from widgets.common.look.text import format_bytes
from widgets.common.nodes import curve_indexes

Place = tuple[str, str]
"""(server, metric) behind a curve."""


@dataclass(frozen=True, slots=True)
class ChartPlan:
    """The page's charts, and for (chart key, curve key) the place of its data."""

    specs: tuple[ChartSpec, ...]
    places: dict[tuple[str, str], Place]


@dataclass(frozen=True, slots=True)
class _Subject:
    """Whom the page is about; `capacity` in bytes where it is known."""

    cluster: ClusterSnapshot
    node: NodeView
    capacity: float | None


def chart_plan(cluster: ClusterSnapshot, node: NodeView, capacity: float | None) -> ChartPlan:
    """Return the page for `cluster` with `node` in focus; `capacity` of its redo log in bytes when known."""
    subject = _Subject(cluster, node, capacity)
    specs: list[ChartSpec] = []
    places: dict[tuple[str, str], Place] = {}
    for template in load_charts():
        if not _has_use_for(template, cluster, node):
            continue
        curves = _node_curves(template, node) if template.scope == "node" else _all_curves(template, subject)
        specs.append(_spec(template, subject, tuple(curve for curve, _ in curves)))
        places |= {(template.key, curve.key): place for curve, place in curves}
    return ChartPlan(tuple(specs), places)


def _has_use_for(template: ChartTemplate, cluster: ClusterSnapshot, node: NodeView) -> bool:
    """Return whether the cluster can fill a chart; one it never can would only push the others down."""
    if ONLY_NAMED in cluster.kind.traits or (template.never and template.never in cluster.kind.traits):
        return False
    if template.each and not _devices(template, node):
        return False
    if template.needs == "replica":  # where members vote, replicas are some that hang on it
        return bool(cluster.replication) or VOTES not in cluster.kind.traits
    return template.needs in {"", *cluster.kind.traits}


Curves = list[tuple[CurveSpec, Place]]


def devices_of(node: NodeView) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of a node's disks and of its network devices, as far as they are known."""
    machine = node.facts.machine if node.facts is not None else None
    return (machine.disk_devices, machine.net_devices) if machine is not None else ((), ())


def _devices(template: ChartTemplate, node: NodeView) -> tuple[str, ...]:
    disks, nets = devices_of(node)
    return {"disk": disks, "net": nets}.get(template.each, ())


def _node_curves(template: ChartTemplate, node: NodeView) -> Curves:
    if template.each:
        return [_of_device(curve, device, node) for device in _devices(template, node) for curve in template.curve]
    return [(_curve(curve, curve.metric), (node.host, curve.metric)) for curve in template.curve]


def _all_curves(template: ChartTemplate, subject: _Subject) -> Curves:
    """Return one curve a node, in the order of their names, each in its node's colour."""
    curve = template.curve[0]
    found: Curves = []
    indexes = curve_indexes(subject.cluster)
    for node in _nodes(template, subject.cluster):
        named = CurveSpec(
            node.node_id,
            tr(curve.label, node=node.name),
            indexes[node.node_id],
            unit=curve.unit,
            drawing=curve.drawing,
            band=curve.band,
            hint=tr(curve.hint),
        )
        found.append((named, (node.host, curve.metric)))
    return found


def _nodes(template: ChartTemplate, cluster: ClusterSnapshot) -> Sequence[NodeView]:
    watched = [node for node in ordered_nodes(cluster) if node.host]
    if template.needs == "replica":
        replicas = {edge.replica_id for edge in cluster.replication}
        return [node for node in watched if node.node_id in replicas]
    return watched


def _curve(curve: CurveTemplate, key: str) -> CurveSpec:
    return CurveSpec(
        key,
        tr(curve.label),
        curve.color_index,
        curve.token,
        curve.unit,
        curve.axis,
        curve.drawing,
        curve.band,
        tr(curve.hint),
    )


def _of_device(curve: CurveTemplate, device: str, node: NodeView) -> tuple[CurveSpec, Place]:
    metric = curve.metric.replace("{device}", device)
    named = replace(_curve(curve, metric), label=tr(curve.label, device=device))
    return named, (node.host, metric)


def _spec(template: ChartTemplate, subject: _Subject, curves: tuple[CurveSpec, ...]) -> ChartSpec:
    top = subject.capacity if template.y_max_metric else template.y_max
    capacity = format_bytes(subject.capacity) if subject.capacity else tr("not known")
    bands: tuple[LimitBand, ...] = ()
    if top is not None:
        bands = tuple(
            LimitBand(tr(b.label), b.start_share * top, None if b.end_share is None else b.end_share * top, b.token)
            for b in template.band
        )
    return ChartSpec(
        template.key,
        tr(template.title, node=subject.node.name),
        curves,
        tr(template.subtitle, capacity=capacity),
        template.unit,
        template.kind,
        y_max=top,
        right_unit=template.right_unit,
        bands=bands,
        limits=tuple(LimitLine(tr(limit.label), limit.value, limit.token) for limit in template.limit),
        empty=tr(template.empty),
        hint=tr(template.hint),
    )
