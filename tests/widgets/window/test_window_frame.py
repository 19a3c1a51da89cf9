"""The window's frame by keyboard and eye: pages, palette, theme, focus, status, stalls, closing. On fake sources."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from itertools import pairwise

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QComboBox, QLabel, QLineEdit, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app.window.main_window import PAGES, MainWindow
from services.discovery.model import EstateSnapshot
from services.errors import AuthFailed
from services.events import Event
from services.types import Health
from tests.widgets import builders as b
from tests.widgets.color_math import contrast
from tests.widgets.fake_sources import FakeLiveSource, OpenWindow, open_window
from widgets.common.commands.palette import CommandPalette
from widgets.common.controls.labels import ElidedLabel
from widgets.common.look.theme import current_theme
from widgets.frame.status_line import zone_name
from widgets.frame.top_bar import SearchField


@pytest.fixture
def source() -> FakeLiveSource:
    return FakeLiveSource(b.estate(b.sst_running(), b.tree_with_broken()))


@pytest.fixture
def opened(qtbot: QtBot, qapp: QApplication, source: FakeLiveSource) -> Iterator[OpenWindow]:
    with open_window(qapp, source) as made:
        yield made


def page_button(window: MainWindow, title: str) -> QPushButton:
    return next(b for b in window.top.findChildren(QPushButton) if b.text() == title)


def palette(opened: OpenWindow) -> CommandPalette:
    found = opened.window.findChild(CommandPalette)
    assert found is not None
    return found


@pytest.mark.parametrize("number", [1, 2, 3])
def test_that_alt_and_a_number_bring_a_page_to_the_front(qtbot: QtBot, opened: OpenWindow, number: int) -> None:
    qtbot.keyClick(opened.window, Qt.Key(Qt.Key.Key_0 + number), Qt.KeyboardModifier.AltModifier)
    key, title = PAGES[number - 1]
    qtbot.waitUntil(lambda: opened.window.page() == key)  # the procedures' libraries come when they are asked for
    assert page_button(opened.window, title).isChecked()


def test_that_the_page_in_front_stands_on_the_accents_tint_in_both_themes(
    qapp: QApplication, source: FakeLiveSource
) -> None:
    for theme in ("light", "dark"):
        with open_window(qapp, source, theme) as opened:
            image = page_button(opened.window, "Topology").grab().toImage()
            assert image.pixelColor(image.width() // 2, 3) == current_theme().accent_tint
            assert contrast(current_theme().accent, current_theme().accent_tint) >= 4.5


def test_that_choosing_a_page_moves_no_button(opened: OpenWindow) -> None:
    places = [page_button(opened.window, title).x() for _, title in PAGES]
    for key, _ in PAGES:
        opened.window.show_page(key)
        QApplication.processEvents()
        assert [page_button(opened.window, title).x() for _, title in PAGES] == places


def test_that_a_page_that_is_still_loading_is_shown_when_it_is_there(qtbot: QtBot, qapp: QApplication) -> None:
    window = MainWindow()
    qtbot.addWidget(window)
    window.show_page("charts")
    assert window.page() == "topology"
    window.add_page("charts", QWidget())
    assert window.page() == "charts"


def test_that_the_palette_goes_to_a_node_by_a_few_letters(qtbot: QtBot, opened: OpenWindow) -> None:
    qtbot.keyClick(opened.window, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    assert palette(opened).isVisible()
    palette(opened).type_text("db3")
    field = palette(opened).findChild(QLineEdit)
    assert field is not None
    qtbot.keyClick(field, Qt.Key.Key_Return)
    node = opened.controller.node()
    assert node is not None
    assert node.name == "db3"
    assert not palette(opened).isVisible()


def test_that_the_palette_goes_to_pages_and_runs_actions(qtbot: QtBot, opened: OpenWindow) -> None:
    for letters, done in (
        ("journal", lambda: opened.window.page() == "journal"),
        ("light and dark", lambda: current_theme().dark),
    ):
        opened.window.palette_wanted.emit()
        palette(opened).type_text(letters)
        field = palette(opened).findChild(QLineEdit)
        assert field is not None
        qtbot.keyClick(field, Qt.Key.Key_Return)
        assert done()


def test_that_escape_leaves_the_palette(qtbot: QtBot, opened: OpenWindow) -> None:
    opened.window.palette_wanted.emit()
    field = palette(opened).findChild(QLineEdit)
    assert field is not None
    qtbot.keyClick(field, Qt.Key.Key_Escape)
    assert not palette(opened).isVisible()


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Space])
def test_that_the_search_field_is_pressed_by_keyboard(qtbot: QtBot, opened: OpenWindow, key: Qt.Key) -> None:
    field = opened.window.findChild(SearchField)
    assert field is not None
    qtbot.keyClick(field, key)
    assert palette(opened).isVisible()


def tab_stops(window: QWidget, most: int = 80) -> list[QWidget]:
    stops: list[QWidget] = []
    for _ in range(most):
        QTest.keyClick(window.focusWidget() or window, Qt.Key.Key_Tab)
        now = QApplication.focusWidget()
        if now is None or now in stops:
            break
        stops.append(now)
    return stops


@pytest.mark.parametrize("page", [key for key, _ in PAGES])
def test_that_tab_reaches_bar_tree_page_and_strip_and_everything_it_reaches_has_a_name(
    qtbot: QtBot, opened: OpenWindow, page: str
) -> None:
    opened.window.show_page(page)
    qtbot.waitUntil(lambda: not opened.ops.busy() and opened.window.page() == page)
    qtbot.wait(50)  # the cards come a turn later
    opened.window.top.findChildren(QPushButton)[0].setFocus()
    stops = tab_stops(opened.window)
    inside = [w for w in stops if opened.window.isAncestorOf(w)]
    assert any(opened.window.top.isAncestorOf(w) for w in inside)
    assert any(opened.window.tree.isAncestorOf(w) for w in inside)
    assert any(opened.window.pages.isAncestorOf(w) for w in inside)
    assert any(w.accessibleName() == "Time axis and events" for w in inside)
    nameless = [w for w in inside if not (w.accessibleName() or _own_words(w))]
    assert nameless == []


def _own_words(widget: QWidget) -> str:
    if isinstance(widget, QAbstractButton):
        return widget.text()
    if isinstance(widget, QLineEdit):
        return widget.placeholderText()
    return widget.currentText() if isinstance(widget, QComboBox) else ""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_that_the_focus_is_seen_on_a_page_button(qapp: QApplication, source: FakeLiveSource, theme: str) -> None:
    with open_window(qapp, source, "light" if theme == "light" else "dark") as opened:
        button = page_button(opened.window, "Charts")
        opened.window.tree.focus_rows()
        qapp.processEvents()
        before = button.grab().toImage()
        button.setFocus()
        qapp.processEvents()
        assert button.grab().toImage() != before


def test_that_the_arrows_walk_tree_and_canvas(qtbot: QtBot, opened: OpenWindow) -> None:
    opened.controller.select_node("db1")
    opened.window.tree.focus_rows()
    focus = opened.window.focusWidget()
    assert focus is not None
    qtbot.keyClick(focus, Qt.Key.Key_Down)
    assert opened.window.tree.selected() == "db2"
    assert opened.window.topology.canvas.selected == "db2"
    opened.window.topology.canvas.setFocus()
    qtbot.keyClick(opened.window.topology.canvas, Qt.Key.Key_Left)
    assert opened.window.tree.selected() == "db1"


def test_that_an_error_says_what_happened_what_is_safe_and_what_to_try_until_dismissed(
    qtbot: QtBot, opened: OpenWindow
) -> None:
    messages = opened.window.messages
    messages.say_error(
        AuthFailed("The server refused the login.", host="db1", try_=("Check the password.",)), "Dismiss"
    )
    assert messages.text() == "db1: The server refused the login.\nNothing was changed.\nCheck the password."
    assert messages.isVisible()
    assert next(b for b in messages.findChildren(QPushButton)).text() == "Dismiss"


def test_that_the_theme_can_change_while_everything_is_shown(qtbot: QtBot, opened: OpenWindow) -> None:
    from widgets.common.look.theme import apply_theme

    application = QApplication.instance()
    assert isinstance(application, QApplication)
    for name in ("dark", "light", "dark"):
        apply_theme(application, "dark" if name == "dark" else "light")
        for key, _ in PAGES:
            opened.window.show_page(key)
            QApplication.processEvents()
            ground = QColor(opened.window.grab().toImage().pixelColor(4, opened.window.height() // 2))
            assert (ground.lightness() < 128) == (name == "dark")


def test_that_the_status_line_counts_hosts_and_tells_pace_and_zone(opened: OpenWindow) -> None:
    words = " ".join(label.text() for label in opened.window.status.findChildren(QLabel))
    estate = opened.controller.estate
    assert f"{estate.hosts_answering} of {estate.hosts_total} hosts answer" in words
    assert "sampling 1 Hz, 12 ms" in words
    assert words.endswith(zone_name(b.AT))


def test_that_a_zone_is_called_by_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    from PySide6.QtCore import QByteArray, QTimeZone

    monkeypatch.setattr(QTimeZone, "systemTimeZoneId", staticmethod(lambda: QByteArray(b"Europe/Berlin")))
    assert zone_name(b.AT) == "Europe/Berlin"
    monkeypatch.setattr(QTimeZone, "systemTimeZoneId", staticmethod(lambda: QByteArray(b"Etc/UTC")))
    assert "/" not in zone_name(b.AT)


def test_that_a_blocked_event_loop_is_told_to_the_source(
    qtbot: QtBot, opened: OpenWindow, source: FakeLiveSource
) -> None:
    QTimer.singleShot(0, lambda: time.sleep(0.12))
    qtbot.waitUntil(lambda: opened.controller.stalls.over_limit > 0)
    source.present += 2.0
    opened.controller.pump.beat()
    assert source.stalls[-1][1] >= 1


def test_that_closing_leaves_no_thread_and_no_timer(qtbot: QtBot, qapp: QApplication, source: FakeLiveSource) -> None:
    before = set(threading.enumerate())
    with open_window(qapp, source) as opened:
        opened.window.show_page("charts")
        qtbot.waitUntil(lambda: not opened.ops.busy())
        timers = [opened.controller.pump.findChild(QTimer), opened.controller.stalls.findChild(QTimer)]
        assert all(timer is not None and timer.isActive() for timer in timers)
        opened.controller.stop()
        assert not any(timer is not None and timer.isActive() for timer in timers)
    assert {t for t in set(threading.enumerate()) - before if t.name.startswith("pilothouse")} == set()


def test_that_an_estate_nobody_answered_for_says_what_is_waited_for(qapp: QApplication) -> None:
    with open_window(qapp, FakeLiveSource(EstateSnapshot(at=b.AT))) as opened:
        title, text, _ = opened.window.topology.empty_texts()
        assert title == "Waiting for the first answer"
        assert text.startswith("Since ")


def test_that_a_console_that_cannot_write_says_so_until_it_can(opened: OpenWindow, source: FakeLiveSource) -> None:
    source.told = [Event(b.AT, "console", "History cannot be written: the disk is full.", Health.BAD)]
    opened.controller.pump.beat()
    assert opened.window.status.message() == "History cannot be written: the disk is full."
    source.told.append(Event(b.AT + 5, "console", "History is being written again.", Health.GOOD))
    opened.controller.pump.beat()
    assert opened.window.status.message() == ""


@pytest.mark.parametrize("size", [(960, 600), (1280, 800), (2560, 1440)])
def test_that_the_words_of_the_frame_fit_and_do_not_overlap(opened: OpenWindow, size: tuple[int, int]) -> None:
    opened.window.resize(*size)
    QApplication.processEvents()
    for part in (opened.window.top, opened.window.status):
        children = (w for w in part.children() if isinstance(w, QWidget) and w.isVisible())
        shown = sorted(children, key=lambda w: w.x())
        for left, right in pairwise(shown):
            assert left.geometry().right() < right.geometry().left() + 1
        for words in part.findChildren(QLabel):
            fits = isinstance(words, ElidedLabel) or words.width() >= words.sizeHint().width()
            assert fits or not words.isVisible()
