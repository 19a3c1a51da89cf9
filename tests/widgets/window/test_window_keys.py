"""The window by its keys: the table of shortcuts, its sheet, Space in a replay, Tab in the order of the eye, focus."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QImage, QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app.window.main_window import PAGES
from tests.widgets import builders as b
from tests.widgets.fake_sources import FakeLiveSource, FakeRecording, OpenWindow, open_window
from widgets.common.commands.palette import CommandPalette
from widgets.common.commands.shortcuts import CANVAS, PLACES, STRIP, WINDOW, act_of, written
from widgets.common.look.theme import current_theme
from widgets.frame.shortcut_sheet import ShortcutSheet

ROOT = Path(__file__).resolve().parents[3]
CONTROL, ALT, SHIFT = (
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.AltModifier,
    Qt.KeyboardModifier.ShiftModifier,
)


@pytest.fixture
def opened(qtbot: QtBot, qapp: QApplication) -> Iterator[OpenWindow]:
    with open_window(qapp, FakeLiveSource(b.estate(b.sst_running(), b.tree_with_broken()))) as made:
        with qtbot.waitActive(made.window):
            made.window.activateWindow()
        yield made


@pytest.fixture
def replay(qtbot: QtBot, qapp: QApplication) -> Iterator[tuple[OpenWindow, FakeRecording]]:
    source = FakeRecording()
    with open_window(qapp, source) as made:
        with qtbot.waitActive(made.window):
            made.window.activateWindow()
        yield made, source


def focus() -> QWidget:
    found = QApplication.focusWidget()
    assert found is not None
    return found


def test_that_the_sheet_tells_every_shortcut_of_the_table(qtbot: QtBot, opened: OpenWindow) -> None:
    opened.window.tree.focus_rows()
    before = focus()
    qtbot.keyClick(before, Qt.Key.Key_F1)
    sheet = opened.window.findChild(ShortcutSheet)
    assert sheet is not None
    assert sheet.isVisible()
    said = {label.text() for label in sheet.findChildren(QLabel)}
    for place in PLACES:
        for shortcut in place.shortcuts:
            assert shortcut.words in said
            assert "  ".join(written(key) for key in shortcut.keys) in said
    qtbot.keyClick(focus(), Qt.Key.Key_Tab)
    assert sheet.isAncestorOf(focus())
    qtbot.keyClick(focus(), Qt.Key.Key_Escape)
    assert not sheet.isVisible()
    assert focus() is before


def test_that_every_act_of_the_window_is_bound_to_its_keys(opened: OpenWindow) -> None:
    bound = {*opened.window.acts, "context-menu", "play", "next"}
    assert {shortcut.act for shortcut in WINDOW.shortcuts} == bound


def test_that_keys_are_named_in_the_table_alone() -> None:
    naming = [
        str(path.relative_to(ROOT))
        for folder in ("app", "widgets")
        for path in sorted((ROOT / folder).rglob("*.py"))
        if path.name != "shortcuts.py"
        and re.search(r"QShortcut\(|QKeySequence\(|\((Ctrl|Alt)\+", path.read_text(encoding="utf-8"))
    ]
    assert naming == []


def test_that_shift_counts_only_where_the_table_says_so() -> None:
    def pressed(key: Qt.Key, held: Qt.KeyboardModifier) -> QKeyEvent:
        return QKeyEvent(QKeyEvent.Type.KeyPress, key, held)

    assert act_of(STRIP, pressed(Qt.Key.Key_Left, SHIFT)) == "view-left"
    assert act_of(STRIP, pressed(Qt.Key.Key_Left, Qt.KeyboardModifier.NoModifier)) == "left"
    assert act_of(CANVAS, pressed(Qt.Key.Key_Plus, SHIFT)) == "zoom-in"
    assert act_of(CANVAS, pressed(Qt.Key.Key_0, CONTROL)) == ""


def test_that_control_q_asks_as_closing_does_and_closes(qtbot: QtBot, opened: OpenWindow) -> None:
    asked: list[bool] = []
    opened.window.may_close = lambda: asked.append(True) is not None
    qtbot.keyClick(opened.window, Qt.Key.Key_Q, CONTROL)
    assert asked == [True]
    assert opened.window.isVisible()
    opened.window.may_close = None
    qtbot.keyClick(opened.window, Qt.Key.Key_Q, CONTROL)
    assert not opened.window.isVisible()


@pytest.mark.parametrize("page", ["topology", "charts", "journal"])
def test_that_space_plays_and_pauses_a_recording_on_every_page(
    qtbot: QtBot, replay: tuple[OpenWindow, FakeRecording], page: str
) -> None:
    opened, source = replay
    opened.window.show_page(page)
    for place in (opened.window.tree, opened.window.pages.currentWidget()):
        opened.window.tree.focus_rows() if place is opened.window.tree else place.setFocus()
        before = source.playing
        qtbot.keyClick(focus(), Qt.Key.Key_Space)
        assert source.playing != before


def test_that_space_stays_a_space_in_a_field_and_presses_the_button_that_has_the_focus(
    qtbot: QtBot, replay: tuple[OpenWindow, FakeRecording]
) -> None:
    opened, source = replay
    opened.window.show_page("journal")
    field = opened.window.pages.currentWidget().findChild(QLineEdit)
    field.setFocus()
    qtbot.keyClick(field, Qt.Key.Key_Space)
    assert (field.text(), source.playing) == (" ", False)
    sheet_button = opened.window.top.findChildren(QWidget)[-1]
    sheet_button.setFocus()
    qtbot.keyClick(sheet_button, Qt.Key.Key_Space)
    assert not source.playing


@pytest.mark.parametrize("page", ["topology", "charts", "journal"])
def test_that_space_plays_from_the_start_and_after_a_page_was_chosen_by_the_mouse(
    qtbot: QtBot, replay: tuple[OpenWindow, FakeRecording], page: str
) -> None:
    opened, source = replay
    assert focus() is opened.window.topology.canvas
    title = dict(PAGES)[page]
    chosen = next(part for part in opened.window.top.findChildren(QPushButton) if part.text() == title)
    qtbot.mouseClick(chosen, Qt.MouseButton.LeftButton)
    assert opened.window.page() == page
    before = source.playing
    qtbot.keyClick(focus(), Qt.Key.Key_Space)
    assert source.playing != before
    for key in (Qt.Key.Key_1, Qt.Key.Key_4, Qt.Key.Key_3, Qt.Key.Key_2):
        qtbot.keyClick(focus(), key, ALT)
        before = source.playing
        qtbot.keyClick(focus(), Qt.Key.Key_Space)
        assert source.playing != before


def test_that_a_page_that_tab_went_to_is_shown_by_space_and_enter_and_then_space_plays(
    qtbot: QtBot, replay: tuple[OpenWindow, FakeRecording]
) -> None:
    opened, source = replay
    titles = {part.text(): part for part in opened.window.top.findChildren(QPushButton)}
    for title, page, key in (("Charts", "charts", Qt.Key.Key_Space), ("Journal", "journal", Qt.Key.Key_Return)):
        titles[title].setFocus(Qt.FocusReason.TabFocusReason)
        before = source.playing
        qtbot.keyClick(focus(), key)
        assert (opened.window.page(), source.playing) == (page, before)
        qtbot.keyClick(focus(), Qt.Key.Key_Space)
        assert (opened.window.page(), source.playing) == (page, not before)


def test_that_escape_leaves_settings_that_were_just_opened(qtbot: QtBot, opened: OpenWindow) -> None:
    page = QWidget()
    left: list[int] = []
    page.keyPressEvent = lambda event: left.append(event.key())  # type: ignore[method-assign]
    opened.window.add_page("settings", page)
    opened.window.show_settings()
    qtbot.keyClick(focus(), Qt.Key.Key_Escape)
    assert left == [Qt.Key.Key_Escape]


def test_that_a_page_finds_the_keys_where_they_were_when_it_comes_back(qtbot: QtBot, opened: OpenWindow) -> None:
    opened.window.show_page("journal")
    field = opened.window.pages.currentWidget().findChild(QLineEdit)
    field.setFocus()
    opened.window.show_page("topology")
    assert focus() is opened.window.topology.canvas
    opened.window.show_page("journal")
    assert focus() is field


def regions(opened: OpenWindow) -> list[str]:
    """Return where Tab goes from the bar, each region once, in its order."""
    window = opened.window
    window.top.findChildren(QWidget)[-1].setFocus()
    places = {"bar": window.top, "estate": window.tree, "page": window.pages, "inspector": window.inspector}
    gone: list[str] = []
    for _ in range(80):
        QTest.keyClick(focus(), Qt.Key.Key_Tab)
        inside = next((name for name, place in places.items() if place.isAncestorOf(focus())), "time axis")
        if inside == "bar":
            break
        if inside not in gone[-1:]:
            gone.append(inside)
    return gone


@pytest.mark.parametrize("page", [key for key, _ in PAGES])
def test_that_tab_goes_in_the_order_of_the_eye(qtbot: QtBot, opened: OpenWindow, page: str) -> None:
    opened.window.show_page(page)
    qtbot.waitUntil(lambda: not opened.ops.busy() and opened.window.page() == page)
    qtbot.wait(50)
    with_inspector = ["inspector"] if page == "topology" else []
    assert regions(opened) == ["estate", "page", *with_inspector, "time axis"]


def test_that_shift_and_tab_go_the_same_way_back(qtbot: QtBot, opened: OpenWindow) -> None:
    opened.window.tree.focus_rows()
    there = [focus()]
    for _ in range(8):
        QTest.keyClick(focus(), Qt.Key.Key_Tab)
        there.append(focus())
    for expected in reversed(there[:-1]):
        QTest.keyClick(focus(), Qt.Key.Key_Backtab, SHIFT)
        assert focus() is expected


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_that_the_focus_is_seen_in_tree_and_canvas(qtbot: QtBot, qapp: QApplication, theme: str) -> None:
    source = FakeLiveSource(b.estate(b.healthy()))
    with open_window(qapp, source, "light" if theme == "light" else "dark") as opened:
        with qtbot.waitActive(opened.window):
            opened.window.activateWindow()
        opened.controller.select_node("db1")
        accent = current_theme().accent
        for part, place in ((opened.window.tree, (4, 4)), (opened.window.topology.canvas, (1, 1))):
            opened.window.status.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            opened.window.status.setFocus()
            qapp.processEvents()
            before = part.grab().toImage()
            opened.window.tree.focus_rows() if part is opened.window.tree else part.setFocus()
            qapp.processEvents()
            after = part.grab().toImage()
            changed = [
                (x, y)
                for x in range(after.width())
                for y in range(0, after.height(), place[1])
                if after.pixel(x, y) != before.pixel(x, y)
            ]
            assert changed
            assert any(QColor(after.pixel(*point)) == accent for point in changed)


def test_that_enter_on_a_node_goes_to_its_numbers(qtbot: QtBot, opened: OpenWindow) -> None:
    opened.controller.select_node("db1")
    opened.window.panels.set_hidden(tree=False, inspector=True)
    opened.window.topology.canvas.setFocus()
    qtbot.keyClick(opened.window.topology.canvas, Qt.Key.Key_Return)
    assert opened.window.inspector.isAncestorOf(focus())


@pytest.mark.parametrize(("key", "panel"), [(Qt.Key.Key_B, "tree"), (Qt.Key.Key_I, "inspector")])
def test_that_a_panel_is_hidden_and_shown_by_keys_button_and_palette(
    qtbot: QtBot, opened: OpenWindow, key: Qt.Key, panel: str
) -> None:
    window = opened.window
    part = getattr(window, panel)
    qtbot.keyClick(window, key, CONTROL)
    assert not part.isVisible()
    shown = next(w for w in window.top.findChildren(QWidget) if w.accessibleName().startswith("Show the "))
    qtbot.mouseClick(shown, Qt.MouseButton.LeftButton)
    assert part.isVisible()
    window.palette_wanted.emit()
    palette = window.findChild(CommandPalette)
    assert palette is not None
    palette.type_text(f"show or hide the {'estate' if panel == 'tree' else panel}")
    qtbot.keyClick(focus(), Qt.Key.Key_Return)
    assert not part.isVisible()
    for key_of_page, _ in PAGES:
        window.show_page(key_of_page)
        assert not part.isVisible()


def test_that_the_panel_with_the_focus_is_widened_by_keys_and_the_edge_by_hand(
    qtbot: QtBot, opened: OpenWindow
) -> None:
    window = opened.window
    before = window.tree.width()
    window.tree.focus_rows()
    qtbot.keyClick(focus(), Qt.Key.Key_Right, ALT | SHIFT)
    assert window.tree.width() == before + 24
    window.panels.setSizes([300, 600, 400])
    window.panels.splitterMoved.emit(300, 1)
    assert (window.panels.widths().tree, window.panels.widths().inspector) == (window.tree.width(), 400)
    window.show_page("charts")
    window.show_page("topology")
    assert window.inspector.width() == 400


def drawn(widget: QWidget) -> QImage:
    """Return its picture; that of its place where the widget around it paints it (a legend's items)."""
    if widget.updatesEnabled():
        return widget.grab().toImage()
    return widget.parentWidget().grab(widget.geometry()).toImage()


@pytest.mark.parametrize("page", ["topology", "charts"])
def test_that_whatever_has_the_focus_shows_it(qtbot: QtBot, opened: OpenWindow, page: str) -> None:
    window = opened.window
    window.show_page(page)
    qtbot.waitUntil(lambda: not opened.ops.busy() and window.page() == page)
    qtbot.wait(50)
    window.tree.focus_rows()
    seen: list[QWidget] = []
    while focus() not in seen:
        seen.append(focus())
        here = focus()
        with_focus = drawn(here)
        QTest.keyClick(here, Qt.Key.Key_Tab)
        QApplication.processEvents()
        assert drawn(here) != with_focus, here
    assert len(seen) > 8


def test_that_the_inspectors_button_waits_for_the_drawing(qtbot: QtBot, opened: OpenWindow) -> None:
    opened.window.show_page("charts")
    qtbot.keyClick(opened.window, Qt.Key.Key_I, CONTROL)
    opened.window.show_page("topology")
    assert opened.window.inspector.isVisible()
