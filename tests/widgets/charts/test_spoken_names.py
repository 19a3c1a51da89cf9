"""What a screen reader says: every chart, curve, node, spark and mark with what it is of."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QRectF
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from tests.widgets import builders as b
from tests.widgets.fake_sources import FakeLiveSource, OpenWindow, open_window
from widgets.charts.legend import LegendItem
from widgets.charts.page import ChartsPage
from widgets.charts.plots.plot import Plot
from widgets.common.controls.boxes import HealthMark
from widgets.common.spark import Spark
from widgets.topology.inspector.prepared import prepared_content


@pytest.fixture
def opened(qtbot: QtBot, qapp: QApplication) -> Iterator[OpenWindow]:
    with open_window(qapp, FakeLiveSource(b.estate(b.sst_running(), b.tree_with_broken()))) as made:
        yield made


def test_that_plots_and_legends_are_named_after_their_chart_and_their_curves(qtbot: QtBot, opened: OpenWindow) -> None:
    opened.controller.select_node("db2")
    opened.window.show_page("charts")
    page = opened.window.findChild(ChartsPage)
    assert page is not None
    qtbot.waitUntil(lambda: bool(page.specs()) and not opened.ops.busy())
    for spec in page.specs():
        card = page.card(spec.key)
        plot, items = card.findChild(Plot), card.findChildren(LegendItem)
        assert plot is not None
        assert plot.accessibleName().startswith(spec.title)
        for curve, item in zip(spec.curves, items, strict=True):
            assert curve.label in plot.accessibleName()
            assert item.accessibleName().startswith(f"{spec.title}, {curve.label} ")
    names = [item.accessibleName() for item in page.findChildren(LegendItem)]
    assert len(set(names)) == len(names)


def test_that_the_drawing_says_whose_it_is_and_which_node_is_looked_at(opened: OpenWindow) -> None:
    canvas = opened.window.topology.canvas
    opened.controller.select_node("db1")
    cluster = opened.controller.cluster()
    assert cluster is not None
    assert canvas.accessibleName() == f"Topology of {cluster.name}, db1"
    opened.controller.select_node("db2")
    assert canvas.accessibleName() == f"Topology of {cluster.name}, db2"


def test_that_the_inspectors_mark_and_curve_name_their_node(opened: OpenWindow) -> None:
    inspector = opened.window.inspector
    opened.controller.select_node("db1")
    cluster, node = opened.controller.cluster(), opened.controller.node()
    assert cluster is not None
    assert node is not None
    for values in ((1.0, 2.0, 3.0), (1.0, 2.0, 4.0)):
        spark = Spark(values, QRectF(0, 0, 200, 40))
        inspector.show_node(prepared_content(cluster, node, b.AT, {}, spark, "receive queue, last 60 s"))
        inspector.rows("Replication")
    mark = inspector.findChild(HealthMark)
    assert mark is not None
    assert mark.accessibleName().endswith(", db1")
    assert "receive queue, last 60 s, db1" in [w.accessibleName() for w in inspector.findChildren(QWidget)]
