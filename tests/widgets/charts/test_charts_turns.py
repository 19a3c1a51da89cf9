"""Plots are painted in turns of the event loop: which, when, and that none is forgotten. How long a turn lasts is the
benchmarks' business (budget 13)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication, QScrollArea, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from tests.widgets.chart_data import NOW, columns_with, image_of, series, spec
from widgets.charts.page import ChartsPage
from widgets.charts.plots.plot import Plot
from widgets.common import turns
from widgets.common.look.theme import apply_theme, curve_color, theme
from widgets.common.turns import Turns

Painted = list[str]
KEYS = ("a", "b", "c", "d")


@pytest.fixture(autouse=True)
def one_a_turn(qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let a turn do one piece of work however fast the machine is."""
    monkeypatch.setattr(turns, "TURN_S", 0.0)
    apply_theme(qapp, "light")
    yield
    apply_theme(qapp, "light")


@pytest.fixture
def make_page(qtbot: QtBot) -> Callable[..., ChartsPage]:
    windows: list[QWidget] = []  # the test holds the page only, and Python lets go of what nobody holds

    def make(*keys: str, height: int = 700) -> ChartsPage:
        window = QWidget()
        windows.append(window)
        qtbot.addWidget(window)
        window.resize(1000, 800)
        page = ChartsPage(window)
        page.resize(900, height)
        page.set_specs([spec(key) for key in keys])
        page.set_range(NOW - 900, NOW, live=True)
        for key in keys:
            page.set_series(key, "db1", series(np.full(900, 3.0)))
        window.show()
        qtbot.waitExposed(window)
        settle(page)
        return page

    return make


def settle(page: ChartsPage) -> None:
    deliver()  # what is uncovered asks for its turn only when Qt has it painted
    while page.painting:
        QApplication.processEvents()
    deliver()


def deliver() -> None:
    """Deliver what Qt has posted, paint events among it, without a turn of any timer."""
    for _ in range(5):
        QApplication.sendPostedEvents()


def tick(page: ChartsPage, second: int) -> None:
    for plot in page.specs():
        page.append(plot.key, "db1", series([3.0], end=NOW + second))
    page.set_range(NOW - 900 + second, NOW + second, live=True)


def paints(page: ChartsPage, monkeypatch: pytest.MonkeyPatch) -> Painted:
    """Return the list into which the key of each plot goes whose curves are painted from now on."""
    painted: Painted = []

    def watch(key: str, plot: Plot) -> None:
        paint = plot.paint_picture

        def noted() -> None:
            painted.append(key)
            paint()

        monkeypatch.setattr(plot, "paint_picture", noted)

    for each in page.specs():
        watch(each.key, page.card(each.key).plot)
    return painted


def test_that_a_tick_paints_one_plot_a_turn_and_every_plot_once(
    make_page: Callable[..., ChartsPage], monkeypatch: pytest.MonkeyPatch
) -> None:
    page = make_page(*KEYS)
    painted = paints(page, monkeypatch)
    tick(page, 1)
    before = 0
    while page.painting:
        QApplication.processEvents()
        assert len(painted) - before <= 1
        before = len(painted)
    assert painted == list(KEYS)
    assert {page.card(key).plot.state.end for key in KEYS} == {NOW + 1}


def test_that_a_plot_that_asked_once_more_before_it_was_destroyed_holds_nothing_up(
    make_page: Callable[..., ChartsPage],
) -> None:
    page = make_page(*KEYS)
    plot = page.card("a").plot
    page.set_specs([spec(key) for key in KEYS[1:]])
    plot.refresh()  # its own timer does so until it is gone
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    assert not isValid(plot)
    for _ in range(3 * len(KEYS)):  # the others took its room: each has a plot and a legend to paint
        QApplication.processEvents()
    assert not page.painting


def test_that_a_newer_tick_is_painted_instead_of_the_one_that_still_waits(
    make_page: Callable[..., ChartsPage], monkeypatch: pytest.MonkeyPatch
) -> None:
    page = make_page(*KEYS)
    painted = paints(page, monkeypatch)
    tick(page, 1)
    while len(painted) < 2:
        QApplication.processEvents()
    tick(page, 2)
    settle(page)
    assert painted == ["a", "b", "c", "d", "a", "b"]


@pytest.mark.parametrize("change", ["resize", "theme", "shown", "uncovered"])
def test_that_what_qt_wants_painted_comes_from_pictures_and_the_curves_follow_in_turns(
    make_page: Callable[..., ChartsPage], monkeypatch: pytest.MonkeyPatch, qapp: QApplication, change: str
) -> None:
    page = make_page(*KEYS)
    if change == "shown":
        page.hide()
        tick(page, 1)
        settle(page)
    painted = paints(page, monkeypatch)
    {
        "resize": lambda: page.resize(1000, 720),
        "theme": lambda: apply_theme(qapp, "dark"),
        "shown": page.show,
        "uncovered": page.update,
    }[change]()
    deliver()
    assert not painted
    settle(page)
    assert sorted(painted) == ([] if change == "uncovered" else list(KEYS))


def test_that_a_dark_page_shows_no_bright_plot_while_its_plots_wait(
    make_page: Callable[..., ChartsPage], qapp: QApplication
) -> None:
    page = make_page("a")
    plot = page.card("a").plot
    apply_theme(qapp, "dark")
    deliver()
    assert not plot.fresh
    assert image_of(plot).pixelColor(plot.width() // 2, 2) == theme("dark").panel


def test_that_no_curve_is_painted_where_nobody_looks_until_somebody_does(
    make_page: Callable[..., ChartsPage], monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = tuple(f"chart{number}" for number in range(8))
    page = make_page(*keys, height=420)
    page.set_side_by_side(True)
    settle(page)
    painted = paints(page, monkeypatch)
    tick(page, 1)
    settle(page)
    assert painted == ["chart0", "chart1", "chart2", "chart3"]
    area = page.findChild(QScrollArea)
    assert area is not None
    area.verticalScrollBar().setValue(area.verticalScrollBar().maximum())
    settle(page)
    assert painted[4:] == ["chart4", "chart5", "chart6", "chart7"]
    page.hide()
    tick(page, 2)
    settle(page)
    assert len(painted) == 8


def test_that_legends_out_of_sight_say_the_newest_values_too(make_page: Callable[..., ChartsPage]) -> None:
    page = make_page(*(f"chart{number}" for number in range(8)), height=420)
    page.append("chart7", "db1", series([7.5], end=NOW + 1))
    page.set_range(NOW - 899, NOW + 1, live=True)
    settle(page)
    assert page.card("chart7").legend.texts() == ("db1 7.5 %",)


def test_that_what_is_in_sight_goes_first() -> None:
    done: list[str] = []
    queue = Turns()
    for name in ("below", "seen", "beside"):
        queue.ask(_Worker(name, done, seen=name == "seen"))
    queue.finish()
    assert done == ["seen", "below", "beside"]
    assert not queue.waiting


def test_that_a_picture_of_the_page_can_have_all_of_it_at_once(
    make_page: Callable[..., ChartsPage], monkeypatch: pytest.MonkeyPatch
) -> None:
    page = make_page(*KEYS)
    painted = paints(page, monkeypatch)
    tick(page, 1)
    page.paint_now()
    assert sorted(painted) == list(KEYS)
    assert not page.painting
    assert page.card("d").legend.texts() == ("db1 3 %",)


def test_that_a_picture_of_a_plot_that_was_never_shown_has_its_curve(qtbot: QtBot) -> None:
    plot = Plot(spec())
    qtbot.addWidget(plot)
    plot.resize(400, 160)
    plot.set_view(NOW - 900, NOW)
    plot.set_series("db1", series(np.full(900, 3.0)))
    frame = plot.frame_rect()
    seen = columns_with(image_of(plot), curve_color(0), frame.top(), frame.bottom())
    assert len(seen) > 0.9 * frame.width()


def test_that_a_chart_that_left_the_page_is_painted_no_more(make_page: Callable[..., ChartsPage]) -> None:
    page = make_page(*KEYS)
    tick(page, 1)
    page.set_specs([spec("a")])
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    settle(page)
    assert page.card("a").plot.fresh


def test_that_a_chart_that_left_asks_for_no_turn_before_it_is_deleted(
    make_page: Callable[..., ChartsPage], qtbot: QtBot, qapp: QApplication
) -> None:
    page = make_page("a")
    page.set_range(NOW - 86_400, NOW, live=True)
    settle(page)
    left = page.card("a").plot
    page.append("a", "db1", series([3.0], end=NOW + 1))  # a tenth of a pixel: painted in a fifth of a second
    page.set_specs([spec("b")])
    qtbot.wait(250)
    apply_theme(qapp, "dark")
    assert left not in page._turns._queue


class _Worker:
    """Work that notes when it was done, and is in sight or not."""

    def __init__(self, name: str, done: list[str], *, seen: bool) -> None:
        self._name, self._done, self._seen = name, done, seen

    def in_sight(self) -> bool:
        return self._seen

    def take_turn(self) -> None:
        self._done.append(self._name)
