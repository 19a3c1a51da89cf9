"""A large screen is used: nothing stays small or cut beside empty ground; a laptop keeps its measures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from services.discovery.model import ClusterSnapshot, EstateSnapshot
from services.events import Event
from services.types import Health
from tests.widgets import builders as b
from tests.widgets import builders_procedures as p
from tests.widgets.fake_sources import FakeLiveSource, OpenWindow, open_window
from widgets.common.controls.labels import ElidedLabel
from widgets.common.look.theme import apply_text_size, apply_theme
from widgets.procedures.page import ProceduresPage
from widgets.procedures.run.side import SidePanel
from widgets.procedures.values import Curve
from widgets.timeline.strip import EventStrip
from widgets.topology.canvas import Canvas
from widgets.topology.view import TopologyView

LAPTOP, LARGE = (1280, 800), (2560, 1440)
LONG = "db-orders-eu-central-1a-0001"


def long_named() -> ClusterSnapshot:
    cluster = b.healthy()
    return replace(cluster, nodes=tuple(replace(n, name=LONG) if n.node_id == "db2" else n for n in cluster.nodes))


@pytest.fixture
def opened(qapp: QApplication) -> Iterator[OpenWindow]:
    with open_window(qapp, FakeLiveSource(estate())) as made:
        yield made


def estate() -> EstateSnapshot:
    return b.estate(long_named())


def at_size(opened: OpenWindow, qtbot: QtBot, size: tuple[int, int]) -> None:
    opened.window.resize(*size)
    qtbot.wait(60)


def cut(place: QWidget) -> list[str]:
    """Return the words below `place` that are shown cut."""
    shown = [made for made in place.findChildren(ElidedLabel) if made.isVisible()]
    assert shown
    return [made.text() for made in shown if made.shown_text() != made.text()]


def test_that_a_laptop_keeps_its_measures_and_a_large_screen_gives_the_panels_more(
    opened: OpenWindow, qtbot: QtBot
) -> None:
    at_size(opened, qtbot, LAPTOP)
    assert (opened.window.tree.width(), opened.window.inspector.width()) == (232, 316)
    at_size(opened, qtbot, LARGE)
    assert opened.window.tree.width() > 300
    assert opened.window.inspector.width() > 400
    at_size(opened, qtbot, LAPTOP)
    assert (opened.window.tree.width(), opened.window.inspector.width()) == (232, 316)


@pytest.mark.parametrize("percent", [100, 150])
def test_that_words_of_the_drawing_are_not_smaller_where_hidden_panels_give_it_more_room(
    qtbot: QtBot, qapp: QApplication, percent: int
) -> None:
    cluster = long_named()
    nodes = tuple(replace(node, name=f"{LONG}.example.net") for node in cluster.nodes)
    with open_window(qapp, FakeLiveSource(b.estate(replace(cluster, nodes=nodes)))) as opened:
        at_size(opened, qtbot, (1280, 900))
        try:
            apply_text_size(qapp, percent)
            opened.window.panels.set_hidden(tree=True, inspector=True)
            qtbot.wait(60)
            assert opened.window.topology.canvas.zoom >= 0.99 * percent / 100
        finally:
            apply_text_size(qapp, 100)


def test_that_an_edge_drawn_by_a_person_stays_and_the_other_panel_still_follows_the_window(
    opened: OpenWindow, qtbot: QtBot
) -> None:
    at_size(opened, qtbot, LAPTOP)
    window = opened.window
    assert window.panels.widths() == (0, 0)
    window.panels.setSizes([280, 1280 - 280 - 316 - 2, 316])
    window.panels.splitterMoved.emit(280, 1)
    assert window.panels.widths() == (280, 0)
    at_size(opened, qtbot, LARGE)
    assert window.tree.width() == 280
    assert window.inspector.width() > 400


def test_that_the_inspectors_words_and_the_headers_are_whole_on_a_large_screen(
    opened: OpenWindow, qtbot: QtBot
) -> None:
    at_size(opened, qtbot, LARGE)
    # the provider's options are one line of some thousand characters: no screen holds them
    assert [words for words in cut(opened.window.inspector) if "=" not in words] == []
    assert cut(opened.window.topology) == []


@pytest.fixture
def drawing(qtbot: QtBot, qapp: QApplication) -> TopologyView:
    apply_theme(qapp, "light")
    page = TopologyView()
    qtbot.addWidget(page)
    page.show()
    qtbot.waitExposed(page)
    return page


def drawn(page: TopologyView, cluster: ClusterSnapshot, width: int, height: int) -> Canvas:
    page.resize(width, height)
    page.show_snapshot(cluster, {}, b.AT)
    QApplication.processEvents()
    return page.canvas


def test_that_three_nodes_take_most_of_the_width_of_a_large_screen(drawing: TopologyView) -> None:
    canvas = drawn(drawing, b.healthy(), 1818, 1240)
    assert canvas.content_rect().width() * canvas.zoom > 0.55 * canvas.viewport().width()
    middle = canvas.mapFromScene(canvas.content_rect().center()).x()
    assert abs(middle - canvas.viewport().width() / 2) < 0.1 * canvas.viewport().width()


def test_that_a_long_name_is_whole_where_there_is_room_and_no_card_leaves_the_drawing(drawing: TopologyView) -> None:
    for width, fits in ((700, False), (1818, True)):
        canvas = drawn(drawing, long_named(), width, 1000)
        item = canvas.item("db2")
        assert item is not None
        assert (item.width >= item.wanted_width()) is fits
        assert canvas.zoom >= 0.95
        assert canvas.viewport().rect().contains(canvas.mapFromScene(canvas.content_rect()).boundingRect())
        for node_id, box in canvas.placement.nodes.items():
            made = canvas.item(node_id)
            assert made is not None
            assert (made.x(), made.width) == (box.x, box.w)


def test_that_cards_keep_their_width_while_their_words_get_shorter(drawing: TopologyView) -> None:
    before = drawn(drawing, long_named(), 1818, 1000).placement
    assert drawn(drawing, b.healthy(), 1818, 1000).placement.bounds == before.bounds
    assert drawn(drawing, b.healthy(), 700, 1000).placement.bounds.w < before.bounds.w


def test_that_the_cards_of_procedures_reach_from_side_to_side(qtbot: QtBot, qapp: QApplication) -> None:
    apply_theme(qapp, "light")
    page = ProceduresPage(lambda: p.NOW)
    qtbot.addWidget(page)
    page.resize(2328, 1300)
    page.set_procedures(p.ABOUTS)
    page.show()
    qtbot.waitExposed(page)
    rights = [card.mapTo(page, card.rect().topRight()).x() for card in page.cards]
    assert max(rights) > page.width() - 60


@pytest.mark.parametrize(("width", "whole"), [(400, False), (700, True), (2280, True)])
def test_that_a_sentence_on_the_strip_is_whole_where_there_is_room(
    qtbot: QtBot, qapp: QApplication, width: int, whole: bool
) -> None:
    apply_theme(qapp, "light")
    strip = EventStrip()
    qtbot.addWidget(strip)
    sentence = "n3: Joining: receiving state transfer (was SQL does not answer)"
    strip.resize(width, 76)
    strip.set_range(b.AT - 900, b.AT, live=True)
    strip.set_events((Event(b.AT - 700, "state", sentence, Health.BAD),))
    assert (strip.label_texts() == (sentence,)) is whole


def test_that_the_curves_beside_a_run_share_one_time_axis(qtbot: QtBot, qapp: QApplication) -> None:
    apply_theme(qapp, "light")
    side = SidePanel()
    qtbot.addWidget(side)
    side.resize(445, 800)
    side.set_plan(p.plan())
    side.show()
    qtbot.waitExposed(side)
    side.set_series(0, Curve((p.NOW - 300, p.NOW - 10), (1.0, 2.0)))
    side.set_series(1, Curve((p.NOW - 120, p.NOW), (1.0, 2.0)))
    for at in (p.NOW - 300, p.NOW - 77, p.NOW):
        assert len({plot.x_at(at) for plot in side.plots}) == 1
    assert side.plots[0].x_at(p.NOW - 10) < side.plots[0].x_at(p.NOW)
