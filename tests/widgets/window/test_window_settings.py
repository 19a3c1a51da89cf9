"""Settings that do what they say, a window that stands as it stood, text of another size."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app.window.main_window import PAGES, Sides
from app.window.settings.door import SettingsDoor, about, limit_fault
from app.window.settings.keeper import Keeper
from app.window.settings.window_state import WindowState
from app.window.window_run import DEFAULT_SIZE, TITLE_BAR, fitting_size
from services.workstation.preferences import FILE, Preferences, read_preferences, write_preferences
from tests.widgets import builders as b
from tests.widgets.fake_sources import FakeLiveSource, OpenWindow, open_window
from widgets.common.controls.labels import ElidedLabel
from widgets.common.look.fonts import text_percent
from widgets.common.look.theme import apply_text_size, current_theme
from widgets.settings.names import SETTINGS
from widgets.settings.page import SettingsPage

CONTROL = Qt.KeyboardModifier.ControlModifier


class Opened:
    """A window with its settings, kept in a folder of the test."""

    def __init__(self, made: OpenWindow, qapp: QApplication, folder: Path) -> None:
        self.window, self.controller, self.ops = made.window, made.controller, made.ops
        self.path = folder / FILE
        self.keeper = Keeper(self.path)
        self.standing = WindowState(made.window, self.keeper, qapp, None)
        signals = SimpleNamespace(connect=lambda _slot: None)
        session: Any = SimpleNamespace(controller=made.controller, ready=signals)
        options = Namespace(inventory=folder / "estate.toml", data=folder)
        self.door = SettingsDoor(made.window, made.ops, self.keeper, self.standing, options, session)

    @property
    def kept(self) -> Preferences:
        return read_preferences(self.path)

    def page(self, qtbot: QtBot) -> SettingsPage:
        self.window.acts["settings"]()
        found = self.window.findChild(SettingsPage)
        assert found is not None
        qtbot.waitUntil(lambda: not self.ops.busy())
        return found


@pytest.fixture(autouse=True)
def usual_text(qapp: QApplication) -> Iterator[None]:
    yield
    apply_text_size(qapp, 100)


@pytest.fixture
def opened(qtbot: QtBot, qapp: QApplication, tmp_path: Path) -> Iterator[Opened]:
    with open_window(qapp, FakeLiveSource(b.estate(b.sst_running(), b.tree_with_broken()))) as made:
        with qtbot.waitActive(made.window):
            made.window.activateWindow()
        yield Opened(made, qapp, tmp_path)


def chosen(box: Any, value: object) -> None:
    box.setCurrentIndex(box.findData(value))
    box.activated.emit(box.currentIndex())


def test_that_control_and_comma_show_the_settings_and_escape_goes_back(qtbot: QtBot, opened: Opened) -> None:
    opened.window.show_page("charts")
    qtbot.keyClick(opened.window, Qt.Key.Key_Comma, CONTROL)
    assert opened.window.page() == "settings"
    qtbot.waitUntil(lambda: not opened.ops.busy())
    qtbot.keyClick(opened.page(qtbot), Qt.Key.Key_Escape)
    assert opened.window.page() == "charts"
    button = next(w for w in opened.window.top.findChildren(QPushButton) if w.text() == "Settings")
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert opened.window.page() == "settings"
    assert button.isChecked()


def test_that_the_keys_go_into_the_settings_wherever_they_were_and_the_pages_stay(qtbot: QtBot, opened: Opened) -> None:
    opened.window.tree.focus_rows()
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Comma, CONTROL)
    page = opened.page(qtbot)
    held = QApplication.focusWidget()
    assert held is page or (held is not None and page.isAncestorOf(held))
    titles = [
        tab.text() for tab in opened.window.top.findChildren(QPushButton) if tab.isVisible() and tab.isCheckable()
    ]
    assert titles == ["Topology", "Charts", "Procedures", "Journal", "Settings"]
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
    assert page.theme.hasFocus() or page.isAncestorOf(QApplication.focusWidget())


def test_that_settings_of_a_demo_say_that_they_are_not_kept(qtbot: QtBot, opened: Opened) -> None:
    opened.keeper.path = None
    said = [label.text() for label in opened.page(qtbot).findChildren(QLabel)]
    assert "Settings are not stored: changes made here end with this window, as always in the demo." in said


def test_that_every_setting_is_kept_as_it_is_made(qtbot: QtBot, opened: Opened) -> None:
    page = opened.page(qtbot)
    chosen(page.theme, "dark")
    assert (current_theme().name, opened.kept.theme) == ("dark", "dark")
    chosen(page.text, 125)
    assert (text_percent(), opened.kept.text_percent) == (125, 125)
    chosen(page.interval, 2)
    page.days.setValue(30)
    page.gib.setValue(7)
    assert (opened.kept.interval_s, opened.kept.keep_days, opened.kept.most_gib) == (2, 30, 7)
    field = page.limit_fields["drain_limit"]
    field.setText("5 min")
    field.editingFinished.emit()
    assert opened.kept.limits == {"drain_limit": "5 min"}
    field.setText("soon")
    field.editingFinished.emit()
    assert opened.kept.limits == {"drain_limit": "5 min"}
    assert "Write a time like 90 s, 2 min or 1 h." in [w.text() for w in page.findChildren(QLabel)]
    field.setText("")
    field.editingFinished.emit()
    assert opened.kept.limits == {}


def test_that_a_theme_of_the_palette_is_kept_and_shown_in_the_settings(qtbot: QtBot, opened: Opened) -> None:
    page = opened.page(qtbot)
    assert page.theme.currentData() == "system"
    from app.window.finder import _switch_theme

    _switch_theme()
    assert page.theme.currentData() == opened.kept.theme == current_theme().name == "dark"


def test_that_the_estate_of_last_time_can_be_forgotten(qtbot: QtBot, opened: Opened) -> None:
    opened.keeper.change(inventory="/estates/own.toml")
    page = opened.page(qtbot)
    qtbot.mouseClick(page.forget, Qt.MouseButton.LeftButton)
    assert opened.kept.inventory == ""


@pytest.mark.parametrize(
    ("usable", "said"),
    [
        (True, "can be stored there"),
        (
            False,
            "No usable desktop keyring was found",
        ),
    ],
)
def test_that_the_page_says_where_passwords_are_kept(qtbot: QtBot, opened: Opened, usable: bool, said: str) -> None:
    page = opened.page(qtbot)
    page.show_keyring("Some keyring", usable)
    assert any(said in words.text() for words in page.findChildren(QLabel))


def test_that_about_is_copied_with_versions_licence_and_folder(
    qtbot: QtBot, qapp: QApplication, opened: Opened
) -> None:
    page = opened.page(qtbot)
    qtbot.mouseClick(page.copy, Qt.MouseButton.LeftButton)
    copied = qapp.clipboard().text()
    for words in ("Version: ", "Python: 3.", "Qt: 6.", "Licence: Apache-2.0", f"Data folder: {opened.path.parent}"):
        assert words in copied
    assert dict(about(Namespace(), Keeper())).get("Data folder") is None


def test_that_a_limit_is_a_time_with_its_unit() -> None:
    assert [bool(limit_fault(text)) for text in ("90 s", "1 h 20 min", "5", "soon", "-3 min")] == [
        False, False, True, True, True,
    ]  # fmt: skip


def test_that_size_page_and_panels_are_kept_when_the_window_goes(qtbot: QtBot, opened: Opened) -> None:
    window = opened.window
    window.resize(1100, 700)
    window.panels.setSizes([260, 400, 380])
    window.panels.splitterMoved.emit(260, 1)
    window.acts["tree"]()
    assert opened.kept.tree_hidden
    window.show_page("journal")
    window.close()
    kept = opened.kept
    assert (kept.width, kept.height, kept.maximised, kept.page) == (1100, 700, False, "journal")
    assert (kept.tree_width, kept.inspector_width, kept.tree_hidden) == (260, window.panels.widths().inspector, True)


def test_that_a_window_stands_as_it_stood(qtbot: QtBot, qapp: QApplication, tmp_path: Path) -> None:
    from app.window.main_window import MainWindow

    kept = Preferences(page="charts", inspector_hidden=True, tree_width=310)
    write_preferences(tmp_path / FILE, kept)
    window = MainWindow(sides=Sides(kept.tree_width, 316))
    qtbot.addWidget(window)
    window.resize(1280, 800)
    standing = WindowState(window, Keeper(tmp_path / FILE), qapp, None)
    window.add_page("charts", QWidget())
    standing.show_page()
    window.show()
    assert window.page() == "charts"
    window.show_page("topology")
    standing.show_page()
    assert window.page() == "topology"
    assert not window.inspector.isVisible()
    assert window.tree.width() == 310


@pytest.mark.parametrize("percent", [100, 150, 200])
@pytest.mark.parametrize("hidden", [(False, False), (True, False), (False, True)])
def test_that_the_first_frame_has_its_parts_where_the_furnished_window_has_them(
    qtbot: QtBot, qapp: QApplication, percent: int, hidden: tuple[bool, bool]
) -> None:
    from app.window.main_window import MainWindow

    window = MainWindow(bare=True, sides=Sides(), percent=percent, hidden=hidden)
    qtbot.addWidget(window)
    window.resize(1280, 800)
    window.show()
    grounds = [part for part in window.centralWidget().children() if isinstance(part, QWidget)]
    before = [ground.geometry() for ground in grounds if ground.isVisible()]
    apply_text_size(qapp, percent)
    for _ in (*window.furnish(), *window.reveal()):
        pass
    window.panels.set_hidden(*hidden)
    QApplication.processEvents()
    parts = (window.top, window.tree, window.pages.parentWidget(), window.inspector, window.status)
    after = [QRect(part.mapTo(window, QPoint()), part.size()) for part in parts if part.isVisible()]
    assert before == after


def test_that_the_size_of_last_time_never_leaves_the_screen() -> None:
    area = SimpleNamespace(width=lambda: 1280, height=lambda: 800)
    screen: Any = SimpleNamespace(availableGeometry=lambda: area)
    assert fitting_size(screen, (2500, 1400)) == (1280, 800 - TITLE_BAR)
    assert fitting_size(screen, (1000, 700)) == (1000, 700)
    assert fitting_size(None, (0, 700)) == DEFAULT_SIZE


def test_that_control_plus_minus_and_zero_scale_the_text_of_the_whole_window(qtbot: QtBot, opened: Opened) -> None:
    window = opened.window
    before = {place: words_height(place) for place in (window.top, window.tree, window.inspector, window.status)}
    strip, zoom = window.centralWidget().height(), window.topology.canvas.zoom
    for key, expected in ((Qt.Key.Key_Plus, 110), (Qt.Key.Key_Equal, 125), (Qt.Key.Key_Minus, 110)):
        qtbot.keyClick(window, key, CONTROL)
        assert text_percent() == opened.kept.text_percent == expected
    opened.standing.set_text(200)
    qtbot.keyClick(window, Qt.Key.Key_Plus, CONTROL)
    assert text_percent() == 200
    QApplication.processEvents()
    for place, height in before.items():
        assert words_height(place) >= 1.5 * height
    assert window.centralWidget().height() == strip
    qtbot.keyClick(window, Qt.Key.Key_0, CONTROL)
    QApplication.processEvents()
    assert text_percent() == 100
    assert window.topology.canvas.zoom == pytest.approx(zoom)
    assert {place: words_height(place) for place in before} == before


def words_height(place: QWidget) -> int:
    return max(words.fontMetrics().height() for words in place.findChildren(QLabel) if words.text())


@pytest.mark.parametrize(
    ("page", "percent"),
    [
        pytest.param(page, percent, marks=[] if percent == 150 or page == shown else [pytest.mark.long])
        for percent, shown in ((100, "topology"), (125, "charts"), (150, ""))
        for page, _ in PAGES
    ],
)
def test_that_no_words_are_cut_off_or_overlap_up_to_150_percent(
    qtbot: QtBot, qapp: QApplication, opened: Opened, page: str, percent: int
) -> None:
    """A test run takes every page in the largest text, and one page in each smaller one."""
    opened.window.resize(1280, 800)
    opened.standing.set_text(percent)
    opened.window.show_page(page)
    qtbot.waitUntil(lambda: not opened.ops.busy() and opened.window.page() == page)
    qtbot.waitUntil(lambda: cut_words(opened.window) == [])  # a layout settles within a few turns
    assert opened.window.size().toTuple() == (1280, 800)
    for part in (opened.window.top, opened.window.status):
        children = [w for w in part.children() if isinstance(w, QWidget) and w.isVisible()]
        for left, right in pairwise(sorted(children, key=lambda w: w.x())):
            assert left.geometry().right() < right.geometry().left() + 1
        assert all(part.rect().contains(child.geometry()) for child in children)


def cut_words(window: QWidget) -> list[str]:
    """Return the words of labels and buttons in sight that have no room for all of them."""
    cut = []
    for words in window.findChildren(QLabel):
        if not words.isVisible() or isinstance(words, ElidedLabel) or not words.text():
            continue
        wide = words.fontMetrics().boundingRect(words.text()).width() if not words.wordWrap() else 0
        high = words.heightForWidth(words.width()) if words.wordWrap() else words.fontMetrics().height()
        if words.contentsRect().width() + 2 < wide or words.height() + 1 < high:
            cut.append(words.text())
    for button in window.findChildren(QPushButton):
        words = button.fontMetrics().horizontalAdvance(button.text())
        if button.isVisible() and type(button) is QPushButton and button.width() < words:
            cut.append(button.text())
    return cut


def test_that_each_setting_which_the_palette_finds_is_in_sight_and_has_the_keys(qtbot: QtBot, opened: Opened) -> None:
    opened.window.resize(960, 600)
    page = opened.page(qtbot)
    for name in SETTINGS:
        opened.window.setting_wanted.emit(name)
        place = page.place_of(name)
        assert place is not None, name
        assert not place.visibleRegion().isEmpty(), name
        if place.focusPolicy() & Qt.FocusPolicy.TabFocus:
            assert place.hasFocus() or place.isAncestorOf(QApplication.focusWidget() or page), name
