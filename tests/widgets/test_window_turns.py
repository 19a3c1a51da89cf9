"""Nothing the window does by itself holds its event loop up: dressing, furnishing and building come in short turns.

Turns and events are counted; how long they last is a benchmark's matter (tests/bench/bench_02_first_chart.py).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import chain

import pytest
from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication, QToolTip, QWidget
from pytestqt.qtbot import QtBot

from app.main_window import PAGES, MainWindow
from app.steering_pages import SteeringPages
from tests.widgets import builders as b
from tests.widgets.fake_sources import FakeLiveSource, OpenWindow, open_window
from widgets.common.theme import apply_theme, change_theme, theme
from widgets.common.wardrobe import wardrobe

MOST_TURNS = 60


@pytest.fixture
def opened(qtbot: QtBot, qapp: QApplication) -> Iterator[OpenWindow]:
    with open_window(qapp, FakeLiveSource(b.estate(b.sst_running(), b.tree_with_broken()))) as made:
        for key, _ in (*PAGES, PAGES[0]):
            made.window.show_page(key)
            qapp.processEvents()
        yield made


class Dressings(QObject):
    """Counts how often each widget is told that its style changed."""

    def __init__(self) -> None:
        super().__init__()
        self.of: Counter[int] = Counter()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.StyleChange:
            self.of[id(watched)] += 1
        return False


def panels(window: MainWindow) -> list[QWidget]:
    parts = (window.top, window.tree, window.inspector, window.status)
    return [*parts, *(page(window, place) for place in range(window.pages.count()))]


def page(window: MainWindow, place: int) -> QWidget:
    found = window.pages.widget(place)
    assert found is not None
    inner = found.currentWidget() if isinstance(found, SteeringPages) else None
    return inner or found  # where two pages share a place each of them is a panel


def turns_until_dressed(qapp: QApplication) -> int:
    for turn in range(MOST_TURNS):
        if not wardrobe().changing():
            return turn
        qapp.processEvents()
    raise AssertionError("the theme never arrived")


def test_that_a_change_of_theme_takes_a_turn_a_panel_those_in_sight_first(
    qapp: QApplication, opened: OpenWindow
) -> None:
    hidden = page(opened.window, 1)
    before = hidden.styleSheet()
    change_theme(qapp, "dark")
    in_sight = [panel for panel in panels(opened.window) if panel.isVisible()]
    while not opened.window.updatesEnabled():
        assert hidden.styleSheet() == before
        qapp.processEvents()
    assert all(panel.styleSheet() != before for panel in in_sight)
    assert turns_until_dressed(qapp) >= 1
    assert len({panel.styleSheet() for panel in panels(opened.window)}) == 1


def test_that_the_window_shows_no_half_of_a_theme(qapp: QApplication, opened: OpenWindow) -> None:
    change_theme(qapp, "dark")
    assert not opened.window.updatesEnabled()
    turns_until_dressed(qapp)
    assert opened.window.updatesEnabled()


def test_that_a_page_brought_to_the_front_meanwhile_is_dressed_before_the_window_is_painted(
    qapp: QApplication, opened: OpenWindow
) -> None:
    change_theme(qapp, "dark")
    opened.window.show_page("journal")
    while not opened.window.updatesEnabled():
        qapp.processEvents()
    assert page(opened.window, 2).styleSheet() == opened.window.top.styleSheet()
    assert theme("dark").text.name() in opened.window.top.styleSheet()


def test_that_two_changes_in_a_row_end_in_the_second(qapp: QApplication, opened: OpenWindow) -> None:
    before = opened.window.top.styleSheet()
    change_theme(qapp, "dark")
    qapp.processEvents()
    change_theme(qapp, "light")
    turns_until_dressed(qapp)
    assert {panel.styleSheet() for panel in panels(opened.window)} == {before}
    assert opened.window.updatesEnabled()


def test_that_no_widget_is_dressed_for_each_of_its_ancestors(qapp: QApplication, opened: OpenWindow) -> None:
    """A sheet of the application would: more than six times a widget, and forty for those of the page in front."""
    assert qapp.styleSheet() == ""
    dressings = Dressings()
    qapp.installEventFilter(dressings)
    change_theme(qapp, "dark")
    turns_until_dressed(qapp)
    qapp.removeEventFilter(dressings)
    widgets = len(opened.window.findChildren(QWidget))
    assert sum(dressings.of.values()) < 3 * widgets


@pytest.mark.qt_log_ignore("does not support raise", extend=True)
def test_that_a_tooltip_wears_the_theme_of_the_panel_it_stands_over(qapp: QApplication, opened: OpenWindow) -> None:
    apply_theme(qapp, "dark")
    button = opened.window.tree.findChildren(QWidget)[-1]
    QToolTip.showText(opened.window.pos(), "words", button)
    tip = next(w for w in qapp.topLevelWidgets() if w.inherits("QTipLabel"))
    colors = {tip.grab().toImage().pixelColor(x, y).name() for x in range(tip.width()) for y in range(tip.height())}
    QToolTip.hideText()
    assert theme("dark").panel.name() in colors
    assert theme("light").panel.name() not in colors


def test_that_a_window_painted_bare_is_furnished_in_turns_and_all_of_it_is_painted_then(
    qtbot: QtBot, qapp: QApplication
) -> None:
    apply_theme(qapp, "light")
    window = MainWindow(bare=True)
    qtbot.addWidget(window)
    window.show()
    turns = 0
    for _ in chain(window.furnish(), window.reveal()):
        qapp.processEvents()
        turns += 1
    assert turns >= 8
    assert window.page() == "topology"
    assert all(part.updatesEnabled() for part in (window.top, window.tree, window.topology, window.status))
