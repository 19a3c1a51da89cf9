"""One time axis: a moment stands on one pixel of the screen in every chart, on the event strip and the seek track."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from PySide6.QtCore import QPointF
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from tests.widgets.chart_data import series
from tests.widgets.fake_sources import NOW, FakeLiveSource, FakeRecording, OpenWindow, open_window
from widgets.charts.page import ChartsPage
from widgets.common.look.fonts import text_percent
from widgets.common.time_axis.pixels import pixel
from widgets.timeline.replay_bar import SeekTrack
from widgets.timeline.strip import EventStrip

SIZES = ((960, 600), (1280, 800), (2560, 1440))
SHARES = (0.0, 0.137, 0.5, 0.819, 1.0)


@pytest.fixture(params=["live", "replay"])
def opened(request: pytest.FixtureRequest, qapp: QApplication) -> Iterator[OpenWindow]:
    source = FakeRecording() if request.param == "replay" else FakeLiveSource()
    with open_window(qapp, source) as made:
        made.window.show_page("charts")
        yield made


@pytest.fixture
def replayed(qapp: QApplication) -> Iterator[OpenWindow]:
    with open_window(qapp, FakeRecording()) as made:
        made.window.show_page("charts")
        yield made


def charts_of(opened: OpenWindow) -> ChartsPage:
    return opened.window.findChild(ChartsPage)


def strip_of(opened: OpenWindow) -> EventStrip:
    return opened.window.findChild(EventStrip)


def on_screen(widget: QWidget, x: float) -> int:
    return pixel(widget.mapToGlobal(QPointF(x, 0)).x())


def in_plots(opened: OpenWindow, at: float) -> set[int]:
    page = charts_of(opened)
    plots = [page.card(spec.key).plot for spec in page.specs()]
    assert len(plots) > 5
    return {on_screen(plot, plot.x_at(at)) for plot in plots}


def in_strip(opened: OpenWindow, at: float) -> int:
    strip = strip_of(opened)
    return on_screen(strip, strip.scene().x_of(at) * text_percent() / 100)


def moments(opened: OpenWindow) -> list[float]:
    view = charts_of(opened).view()
    strip = strip_of(opened).view()
    assert (strip.start, strip.end) == (view.start, view.end)
    return [view.start + share * view.span for share in SHARES]


def show_at(opened: OpenWindow, qtbot: QtBot, size: tuple[int, int]) -> None:
    opened.window.resize(*size)
    qtbot.wait(20)


@pytest.mark.parametrize("size", SIZES)
def test_that_a_moment_is_one_pixel_in_every_chart_and_in_the_strip(
    opened: OpenWindow, qtbot: QtBot, size: tuple[int, int]
) -> None:
    show_at(opened, qtbot, size)
    for at in moments(opened):
        assert in_plots(opened, at) == {in_strip(opened, at)}
    for track in opened.window.findChildren(SeekTrack):
        for at in moments(opened):
            assert on_screen(track, track.x_at(at)) == in_strip(opened, at)


def test_that_it_stays_one_pixel_when_text_is_made_larger_and_smaller(
    opened: OpenWindow, qtbot: QtBot, text_size: Callable[[int], None]
) -> None:
    show_at(opened, qtbot, SIZES[1])
    page = charts_of(opened)
    usual = page.edges()
    for percent in (150, 200, 100):
        text_size(percent)
        qtbot.wait(60)
        for at in moments(opened):
            assert in_plots(opened, at) == {in_strip(opened, at)}
        for track in opened.window.findChildren(SeekTrack):
            for at in moments(opened):
                assert on_screen(track, track.x_at(at)) == in_strip(opened, at)
    assert page.edges() == usual


@pytest.mark.parametrize(
    "size", [*SIZES[:1], *(pytest.param(size, marks=pytest.mark.long) for size in SIZES[1:-1]), *SIZES[-1:]]
)
def test_that_it_stays_one_pixel_when_the_words_of_a_scale_get_wider(
    opened: OpenWindow, qtbot: QtBot, size: tuple[int, int]
) -> None:
    """A test run takes the first size and the last."""
    show_at(opened, qtbot, size)
    page = charts_of(opened)
    before = in_strip(opened, page.view().start)
    curve = page.card("load").spec.curves[0].key
    rates = series(np.full(600, 123_456_789.0), end=page.view().end)
    page.set_series("load", curve, rates)
    page.card("load").plot.paint_now()
    qtbot.waitUntil(lambda: in_strip(opened, page.view().start) > before)
    for at in moments(opened):
        assert in_plots(opened, at) == {in_strip(opened, at)}


def test_that_strip_and_charts_stay_one_axis_when_the_window_is_made_smaller_and_larger(
    opened: OpenWindow, qtbot: QtBot
) -> None:
    for size in (*reversed(SIZES), *SIZES):
        show_at(opened, qtbot, size)
        for at in moments(opened):
            assert in_plots(opened, at) == {in_strip(opened, at)}


def test_that_under_another_page_the_strip_is_as_wide_as_can_be(opened: OpenWindow, qtbot: QtBot) -> None:
    strip = strip_of(opened)
    assert strip.scene().left > 60
    opened.window.show_page("journal")
    assert (strip.scene().left, strip.width() - strip.scene().right) == (16, 16)
    opened.window.show_page("charts")
    qtbot.wait(20)
    assert strip.scene().left > 60


@pytest.mark.parametrize("way", ["charts", "strip"])
def test_that_a_recording_zoomed_on_either_is_zoomed_on_both(replayed: OpenWindow, qtbot: QtBot, way: str) -> None:
    page, strip = charts_of(replayed), strip_of(replayed)
    replayed.controller.look_at(NOW - 300.0)
    if way == "charts":
        page._zoom(NOW - 300.0, 0.25)
    else:
        strip._go(strip.view().zoomed(NOW - 300.0, 0.25))
    assert page.view().span == pytest.approx(150.0)
    for at in moments(replayed):
        assert in_plots(replayed, at) == {in_strip(replayed, at)}
    page.go_live()
    assert strip.view().span == pytest.approx(600.0)


def test_that_side_by_side_the_strip_reaches_from_the_first_chart_to_the_last(opened: OpenWindow, qtbot: QtBot) -> None:
    page = charts_of(opened)
    page.set_side_by_side(True)
    qtbot.wait(20)
    view = page.view()
    assert min(in_plots(opened, view.start)) == in_strip(opened, view.start)
    assert max(in_plots(opened, view.end)) == in_strip(opened, view.end)
    assert len(in_plots(opened, view.start)) == 2
