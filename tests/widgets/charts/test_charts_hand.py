"""Hand and keyboard on the charts page: isolate, crosshair, cursor, zoom, pan, ranges."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, Qt
from PySide6.QtGui import QHelpEvent, QPainter, QRegion, QWheelEvent
from PySide6.QtWidgets import QApplication, QPushButton, QToolTip
from pytestqt.qtbot import QtBot

from tests.widgets.chart_data import NOW, series, settle, spec
from widgets.charts.model import ChartSpec, CurveSpec
from widgets.charts.page import ChartsPage
from widgets.common.look.theme import apply_theme

MakePage = Callable[..., ChartsPage]


@pytest.fixture
def make_page(qtbot: QtBot, qapp: QApplication) -> MakePage:
    apply_theme(qapp, "light")

    def make(*specs: ChartSpec, width: int = 900, height: int = 420, span: float = 900.0) -> ChartsPage:
        page = ChartsPage()
        qtbot.addWidget(page)
        page.resize(width, height)
        page.set_title("orders")
        page.set_specs(specs)
        page.set_range(NOW - span, NOW, live=True)
        page.show()
        qtbot.waitExposed(page)
        return page

    return make


def test_that_a_click_on_the_legend_isolates_and_a_double_click_shows_all(make_page: MakePage, qtbot: QtBot) -> None:
    page = make_page(spec(curves=3))
    for key in page.card("flow").legend.items:
        page.set_series("flow", key, series(np.full(900, 3.0)))
    settle(qtbot)
    card = page.card("flow")
    qtbot.mouseClick(card.legend.items["db2"], Qt.MouseButton.LeftButton)
    assert [curve.key for curve in card.plot.state.drawn_curves()] == ["db2"]
    qtbot.mouseDClick(card.legend.items["db1"], Qt.MouseButton.LeftButton)
    assert len(card.plot.state.drawn_curves()) == 3
    qtbot.keyClick(card.legend.items["db3"], Qt.Key.Key_Space)
    assert [curve.key for curve in card.plot.state.drawn_curves()] == ["db3"]


def test_that_the_crosshair_is_linked_and_every_legend_says_its_value_there(make_page: MakePage, qtbot: QtBot) -> None:
    page = make_page(spec("a"), spec("b"))
    page.set_series("a", "db1", series(np.arange(900.0) / 10))
    page.set_series("b", "db1", series(np.where(np.arange(900) < 500, np.nan, 50.0)))
    settle(qtbot)
    plot = page.card("a").plot
    at = plot.time_at(plot.x_at(NOW - 499.0))
    plot.hovered.emit(at)
    settle(qtbot)
    assert page.card("b").plot._cursor == at
    assert page.card("a").legend.texts() == ("db1 40 %",)
    assert page.card("b").legend.texts() == ("db1 –",)
    plot.hovered.emit(None)
    settle(qtbot)
    assert page.card("b").legend.texts() == ("db1 50 %",)


def test_that_a_click_in_a_plot_puts_the_cursor_there_and_escape_takes_it_away(
    make_page: MakePage, qtbot: QtBot
) -> None:
    page = make_page(spec())
    page.set_series("flow", "db1", series(np.full(900, 3.0)))
    settle(qtbot)
    plot = page.card("flow").plot
    target = QPoint(round(plot.x_at(NOW - 300)), 50)
    with qtbot.waitSignal(page.cursor_moved) as moved:
        qtbot.mouseClick(plot, Qt.MouseButton.LeftButton, pos=target)
    assert moved.args[0] == pytest.approx(NOW - 300, abs=3)
    with qtbot.waitSignal(page.cursor_moved) as moved:
        qtbot.keyClick(page, Qt.Key.Key_Left)
    assert moved.args[0] == pytest.approx(NOW - 304.5, abs=4)
    with qtbot.waitSignal(page.cursor_moved) as moved:
        qtbot.keyClick(page, Qt.Key.Key_Escape)
    assert moved.args[0] is None


def drag(qtbot: QtBot, plot, first: float, last: float, modifier=Qt.KeyboardModifier.NoModifier, y: int = 60) -> None:
    a, b = (QPoint(round(plot.x_at(at)), y) for at in (first, last))
    qtbot.mousePress(plot, Qt.MouseButton.LeftButton, modifier, a)
    qtbot.mouseMove(plot, QPoint((a.x() + b.x()) // 2, y))
    qtbot.mouseMove(plot, b)
    qtbot.mouseRelease(plot, Qt.MouseButton.LeftButton, modifier, b)


def test_that_dragging_a_span_zooms_all_charts_into_it_and_a_double_click_goes_back(
    make_page: MakePage, qtbot: QtBot
) -> None:
    page = make_page(spec("a"), spec("b"))
    settle(qtbot)
    plot = page.card("a").plot
    with qtbot.waitSignal(page.range_changed) as changed:
        drag(qtbot, plot, NOW - 600, NOW - 300)
    start, end, live = changed.args
    assert (start, end) == (pytest.approx(NOW - 600, abs=5), pytest.approx(NOW - 300, abs=5))
    assert not live
    assert page.card("b").plot.state.start == start
    with qtbot.waitSignal(page.range_changed) as changed:
        qtbot.mouseDClick(plot, Qt.MouseButton.LeftButton, pos=QPoint(100, 60))
    assert changed.args == [NOW - 900, NOW, True]


def test_that_shift_drag_pans_into_the_past_and_end_returns_to_the_present(make_page: MakePage, qtbot: QtBot) -> None:
    page = make_page(spec())
    settle(qtbot)
    with qtbot.waitSignal(page.range_changed):
        drag(qtbot, page.card("flow").plot, NOW - 600, NOW - 300, Qt.KeyboardModifier.ShiftModifier)
    assert not page.view().live
    assert page.view().end == pytest.approx(NOW - 300, abs=8)
    settle(qtbot)
    assert " to " in page.header_texts()[1]
    with qtbot.waitSignal(page.range_changed) as changed:
        qtbot.keyClick(page, Qt.Key.Key_End)
    assert changed.args == [NOW - 900, NOW, True]


def test_that_the_wheel_zooms_around_the_pointer(make_page: MakePage, qtbot: QtBot) -> None:
    page = make_page(spec())
    page.set_range(NOW - 5000, NOW - 4100, live=False, now=NOW)
    plot = page.card("flow").plot
    point = QPointF(plot.x_at(NOW - 4500), 60)
    wheel = QWheelEvent(
        point,
        plot.mapToGlobal(point),
        QPoint(),
        QPoint(0, 120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(plot, wheel)
    assert page.view().span == pytest.approx(720)
    assert plot.time_at(point.x()) == pytest.approx(NOW - 4500, abs=0.5)


def test_that_plus_and_minus_zoom_and_shift_arrows_pan_by_keyboard(make_page: MakePage, qtbot: QtBot) -> None:
    page = make_page(spec())
    qtbot.keyClick(page, Qt.Key.Key_Plus)
    assert page.view().span == pytest.approx(720)
    assert page.view().live
    qtbot.keyClick(page, Qt.Key.Key_Left, Qt.KeyboardModifier.ShiftModifier)
    assert page.view().end == pytest.approx(NOW - 72)
    qtbot.keyClick(page, Qt.Key.Key_0)
    assert page.view().span == pytest.approx(900)


def test_that_the_range_buttons_choose_the_span(make_page: MakePage, qtbot: QtBot) -> None:
    page = make_page(spec())
    hour = next(b for b in page.findChildren(QPushButton) if b.text() == "6 h")
    with qtbot.waitSignal(page.range_changed) as changed:
        qtbot.mouseClick(hour, Qt.MouseButton.LeftButton)
    assert changed.args == [NOW - 6 * 3600, NOW, True]
    settle(qtbot)
    assert hour.isChecked()
    assert page.header_texts() == ("orders", "last 6 h · one second a point · all nodes")


@pytest.mark.qt_log_ignore("does not support raise", extend=True)
def test_that_the_pointer_over_a_legend_learns_what_its_curve_is(make_page: MakePage, qtbot: QtBot) -> None:
    curve = CurveSpec("db1", "db1", hint="wsrep_flow_control_paused_ns")
    page = make_page(ChartSpec("flow", "Flow", (curve,), unit="%"))
    page.set_series("flow", "db1", series(np.full(900, 3.0), end=NOW - 60))
    settle(qtbot)
    item = page.card("flow").legend.items["db1"]
    place = QPoint(6, 6)
    QApplication.sendEvent(item, QHelpEvent(QEvent.Type.ToolTip, place, item.mapToGlobal(place)))
    text = QToolTip.text()
    QToolTip.hideText()
    for words in ("db1 3 %, 1 min ago", "No newer sample.", "wsrep_flow_control_paused_ns"):
        assert words in text


@pytest.mark.parametrize("room", [0, -40], ids=["as wide as it wants", "name cut"])
def test_that_a_value_painted_alone_looks_as_if_all_of_the_item_were_painted(
    make_page: MakePage, qtbot: QtBot, room: int
) -> None:
    page = make_page(spec())
    page.set_series("flow", "db1", series(np.full(900, 88.25)))
    settle(qtbot)
    legend = page.card("flow").legend
    item = legend.items["db1"]
    item.resize(item.width() + room, item.height())
    legend.update()
    settle(qtbot)
    before = legend.grab().toImage()
    changed: list[QRegion] = []
    legend.paintEvent = lambda event: changed.append(event.region())  # type: ignore[method-assign]
    page.append("flow", "db1", series([1.0], end=NOW + 1))
    settle(qtbot)
    del legend.paintEvent
    assert len(changed) == 1
    painter = QPainter(before)
    legend.render(painter, changed[0].boundingRect().topLeft(), changed[0])
    painter.end()
    assert before == legend.grab().toImage()
    assert (changed[0].boundingRect() != item.geometry()) == (room == 0)


def test_that_a_second_paints_plots_and_legends_and_nothing_behind_them(make_page: MakePage, qtbot: QtBot) -> None:
    page = make_page(spec())
    for key in page.card("flow").legend.items:
        page.set_series("flow", key, series(np.full(900, 88.25)))
    settle(qtbot)
    painted: set[str] = set()

    class Watch(QObject):
        def eventFilter(self, who: QObject, event: QEvent) -> bool:
            if event.type() is QEvent.Type.Paint:
                painted.add(type(who).__name__)
            return False

    watch = Watch()
    QApplication.instance().installEventFilter(watch)
    for key in page.card("flow").legend.items:
        page.append("flow", key, series([1.0], end=NOW + 1))
    page.set_range(NOW - 899, NOW + 1, live=True)
    settle(qtbot)
    QApplication.instance().removeEventFilter(watch)
    assert painted == {"Plot", "Legend"}


def test_that_an_item_of_a_legend_that_has_the_keys_is_seen_and_spoken(make_page: MakePage, qtbot: QtBot) -> None:
    page = make_page(spec())
    page.set_series("flow", "db1", series(np.full(900, 3.0)))
    settle(qtbot)
    legend = page.card("flow").legend
    item = legend.items["db1"]
    without = legend.grab(item.geometry()).toImage()
    item.setFocus()
    settle(qtbot)
    assert item.hasFocus()
    assert legend.grab(item.geometry()).toImage() != without
    assert item.accessibleName().endswith("db1 3 %")
    item.clearFocus()
    settle(qtbot)
    assert legend.grab(item.geometry()).toImage() == without
