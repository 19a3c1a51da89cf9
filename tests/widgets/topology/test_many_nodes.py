"""What a window does for each node does not grow with the number of the others."""

from __future__ import annotations

import pytest

import app.window.charts.chart_plan as planning
from services.discovery.model import ClusterSnapshot, NodeView
from services.drawing.cluster import ordered_nodes
from tests.widgets.builders import many
from widgets.common import nodes
from widgets.common.nodes import curve_index


def test_that_the_charts_of_a_cluster_sort_its_nodes_as_often_for_many_as_for_few(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sorts: list[int] = []

    def counted(cluster: ClusterSnapshot) -> tuple[NodeView, ...]:
        sorts.append(len(cluster.nodes))
        return ordered_nodes(cluster)

    monkeypatch.setattr(nodes, "ordered_nodes", counted)
    monkeypatch.setattr(planning, "ordered_nodes", counted)
    counts = []
    for size in (3, 60):
        cluster = many(size)
        sorts.clear()
        plan = planning.chart_plan(cluster, cluster.nodes[0], None)
        counts.append(len(sorts))
        ids = {node.node_id for node in cluster.nodes}
        curves = [curve for spec in plan.specs for curve in spec.curves if curve.key in ids]
        assert len(curves) >= size
        assert [curve.color_index for curve in curves] == [curve_index(cluster, curve.key) for curve in curves]
    assert counts[0] == counts[1]
