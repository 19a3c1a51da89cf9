"""Another theme while the window stands: all of it is in the new one at once, and goes on being painted.

Read from the screen, as a person does: a widget that is asked for its picture paints it whether it is shown or not.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.window.main_window import PAGES, MainWindow
from app.window.steering.pages import SteeringPages
from tests.widgets import builders as b
from tests.widgets.fake_sources import FakeLiveSource, OpenWindow, open_window
from widgets.charts.legend import LegendItem
from widgets.common.commands.palette import CommandPalette
from widgets.common.look.theme import current_theme, theme


@pytest.fixture
def opened(qtbot: QtBot, qapp: QApplication) -> Iterator[OpenWindow]:
    with open_window(qapp, FakeLiveSource(b.estate(b.sst_running(), b.tree_with_broken()))) as made:
        for key, _ in (*PAGES, PAGES[0]):
            made.window.show_page(key)
            qapp.processEvents()
        yield made


def on_screen(window: MainWindow) -> QImage:
    """Return what the screen shows of a window."""
    return window.screen().grabWindow(window.winId()).toImage()


def part_of(shown: QImage, window: MainWindow, part: QWidget) -> QImage:
    ratio = shown.width() / window.width()
    place = part.mapTo(window, part.rect().topLeft())
    return shown.copy(*(round(n * ratio) for n in (place.x(), place.y(), part.width(), part.height())))


def darkness(picture: QImage) -> float:
    """Return the share of dark points, of some hundreds all over a picture."""
    points = [(x, y) for x in range(2, picture.width(), 7) for y in range(2, picture.height(), 7)]
    return sum(QColor(picture.pixel(x, y)).lightness() < 90 for x, y in points) / len(points)


def panels(window: MainWindow) -> list[QWidget]:
    parts = (window.top, window.tree, window.inspector, window.status)
    return [*parts, *(page(window, place) for place in range(window.pages.count()))]


def page(window: MainWindow, place: int) -> QWidget:
    found = window.pages.widget(place)
    assert found is not None
    inner = found.currentWidget() if isinstance(found, SteeringPages) else None
    return inner or found  # where two pages share a place each of them is a panel


def typed_dark(qtbot: QtBot, qapp: QApplication, window: MainWindow) -> None:
    """The way of a person: palette, 'dark', Enter."""
    window.palette_wanted.emit()
    palette = window.findChild(CommandPalette)
    assert palette is not None
    qtbot.waitUntil(palette.isVisible)
    focus = palette.focusProxy() or qapp.focusWidget()
    assert focus is not None
    QTest.keyClicks(focus, "dark")
    QTest.keyClick(focus, Qt.Key.Key_Return)


def test_that_every_panel_in_sight_is_on_the_screen_in_the_new_theme_without_a_resize(
    qtbot: QtBot, qapp: QApplication, opened: OpenWindow
) -> None:
    window = opened.window
    in_sight = [panel for panel in panels(window) if panel.isVisible()]
    assert len(in_sight) >= 5
    before = on_screen(window)
    assert all(darkness(part_of(before, window, panel)) < 0.2 for panel in in_sight)
    typed_dark(qtbot, qapp, window)
    assert current_theme().name == "dark"
    assert {theme("dark").text.name() in panel.styleSheet() for panel in panels(window)} == {True}
    for panel in in_sight:
        qtbot.waitUntil(lambda panel=panel: darkness(part_of(on_screen(window), window, panel)) > 0.6)


def test_that_the_clock_goes_on_after_a_change_of_theme(qtbot: QtBot, qapp: QApplication, opened: OpenWindow) -> None:
    window = opened.window
    typed_dark(qtbot, qapp, window)
    qtbot.waitUntil(lambda: darkness(part_of(on_screen(window), window, window.status)) > 0.6)
    before = part_of(on_screen(window), window, window.status)

    def another_time_is_seen() -> bool:
        # said anew each time: the window's own tick puts back what stood there, on a busy machine before it is painted
        window.status.show_facts("3 of 3 hosts answer", "", "23:59:59 UTC")
        return part_of(on_screen(window), window, window.status) != before

    qtbot.waitUntil(another_time_is_seen)


def test_that_the_window_takes_paint_at_once(qtbot: QtBot, qapp: QApplication, opened: OpenWindow) -> None:
    typed_dark(qtbot, qapp, opened.window)
    everything = (opened.window, *opened.window.findChildren(QWidget))
    assert all(widget.updatesEnabled() for widget in everything if not isinstance(widget, LegendItem))  # its legend's
