"""Nothing the window does by itself holds its event loop up: furnishing and building come in short turns.

A change of theme, which a person asks for, dresses all of it at once. Turns and events are counted; how long they last
is a benchmark's matter (tests/bench/bench_02_first_chart.py).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import chain

import pytest
from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication, QToolTip, QWidget
from pytestqt.qtbot import QtBot

from app.window.main_window import PAGES, MainWindow
from tests.widgets import builders as b
from tests.widgets.fake_sources import FakeLiveSource, OpenWindow, open_window
from widgets.common.look.theme import apply_theme, theme


@pytest.fixture
def opened(qtbot: QtBot, qapp: QApplication) -> Iterator[OpenWindow]:
    with open_window(qapp, FakeLiveSource(b.estate(b.sst_running(), b.tree_with_broken()))) as made:
        for key, _ in (*PAGES, PAGES[0]):
            made.window.show_page(key)
            qapp.processEvents()
        yield made


class Dressings(QObject):
    """Counts how often each widget of a window is told that its style changed; not those that other tests left."""

    def __init__(self, window: QWidget) -> None:
        super().__init__()
        self._ours = {window, *window.findChildren(QWidget)}
        self.of: Counter[int] = Counter()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.StyleChange and watched in self._ours:
            self.of[id(watched)] += 1
        return False


def test_that_no_widget_is_dressed_for_each_of_its_ancestors(qapp: QApplication, opened: OpenWindow) -> None:
    """A sheet of the application would: more than six times a widget, and forty for those of the page in front."""
    assert qapp.styleSheet() == ""
    dressings = Dressings(opened.window)
    qapp.installEventFilter(dressings)
    apply_theme(qapp, "dark")
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
