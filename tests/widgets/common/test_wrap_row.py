"""A row that goes on below: where its parts stand, what it tells around it, and parts that are deleted under it."""

from __future__ import annotations

import gc
import random
from collections.abc import Callable

import pytest
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import delete, isValid

from widgets.common.controls.boxes import button
from widgets.common.controls.labels import ElidedLabel, label
from widgets.common.controls.wrap_row import WrapRow
from widgets.common.look.theme import apply_theme

ROUNDS = 150


@pytest.fixture(autouse=True)
def _only_its_own_is_collected() -> None:
    """Each collection looks at what the test itself has made, not at a million objects of all tests before it."""
    gc.collect()
    gc.freeze()


class Page(QWidget):
    """A row above the rest of a page; counts how often it is laid out."""

    def __init__(self, row: WrapRow) -> None:
        super().__init__()
        self.asked = 0
        self.rest = QLabel("rest")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(row)
        column.addWidget(self.rest, 1)
        self.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Count."""
        self.asked += event.type() is QEvent.Type.LayoutRequest
        return super().eventFilter(watched, event)


@pytest.fixture
def shown(qtbot: QtBot, qapp: QApplication) -> Callable[[WrapRow, int], Page]:
    """Shows a row in a page of a width."""
    apply_theme(qapp, "light")

    def show(row: WrapRow, width: int) -> Page:
        page = Page(row)
        qtbot.addWidget(page)
        page.resize(width, 400)
        page.show()
        turn(qapp)
        return page

    return show


def turn(qapp: QApplication) -> None:
    """Let everything that was posted be seen to, deletions last."""
    for _ in range(3):
        qapp.processEvents()
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    qapp.processEvents()


def test_that_what_has_no_room_goes_on_below(shown: Callable[[WrapRow, int], Page], qapp: QApplication) -> None:
    parts = [button(f"button {n}") for n in range(4)]
    row = WrapRow(*parts)
    page = shown(row, 2_000)
    assert len({part.y() for part in parts}) == 1
    page.resize(parts[0].width() * 2 + 20, 400)
    turn(qapp)
    assert [part.y() > 0 for part in parts] == [False, False, True, True]
    assert page.rest.y() >= parts[3].geometry().bottom()
    page.resize(2_000, 400)
    turn(qapp)
    assert page.rest.y() == row.height() == parts[0].height()


def test_that_words_which_are_cut_go_below_while_they_can_still_be_read(
    shown: Callable[[WrapRow, int], Page], qapp: QApplication
) -> None:
    words, tools = ElidedLabel("Galera, MariaDB 10.11.14, state 48213904, seen from three"), button("Export")
    page = shown(WrapRow(label("orders", "title"), words, tools), 900)
    assert words.y() < tools.geometry().bottom()
    for width in range(900, 120, -20):
        page.resize(width, 400)
        turn(qapp)
        assert words.width() >= min(120, width), f"{words.width()} of {width}"


def test_that_words_which_are_cut_ask_a_narrow_window_for_no_room(shown: Callable[[WrapRow, int], Page]) -> None:
    row = WrapRow(ElidedLabel("Galera, MariaDB 10.11.14, state 48213904, seen from three"))
    page = shown(row, 900)
    assert page.minimumSizeHint().width() <= 64


def test_that_parts_which_are_hidden_take_no_room(shown: Callable[[WrapRow, int], Page], qapp: QApplication) -> None:
    first, late = button("first"), button("late")
    late.hide()
    row = WrapRow(first, late)
    page = shown(row, 60)
    assert not late.isVisible()
    assert page.rest.y() == first.height()
    late.show()
    turn(qapp)
    assert page.rest.y() > late.y() >= first.height()
    row.add(added := QPushButton("added"))
    assert added.isVisible()


def test_that_words_which_change_each_second_lay_out_no_page(
    shown: Callable[[WrapRow, int], Page], qapp: QApplication
) -> None:
    words = ElidedLabel("18:40:00, last 15 min, one second a point, all nodes")
    page = shown(WrapRow(label("orders", "title"), words, button("Export")), 700)
    page.asked = 0
    for second in range(20):
        words.setText(f"18:40:{second:02d}, last {second} min, one second a point, all nodes, {'m' * second}")
        turn(qapp)
    assert page.asked == 0


def drop(part: QWidget) -> None:
    """Delete as Qt does, at once: the C++ object goes, whatever Python still holds."""
    delete(part)


def test_that_parts_may_be_deleted_at_any_time(shown: Callable[[WrapRow, int], Page], qapp: QApplication) -> None:
    dice = random.Random(200)
    row = WrapRow(label("first"))
    page = shown(row, 300)
    held: list[QWidget] = []
    ways = (QWidget.deleteLater, drop, lambda part: part.setParent(None), QWidget.hide)
    for number in range(ROUNDS):
        made: QWidget = ElidedLabel(f"words {number}") if number % 3 else button(f"button {number}")
        row.add(made)
        held.append(made)
        if dice.random() < 0.5:
            turn(qapp)
        victim = held.pop(dice.randrange(len(held)))
        if isValid(victim):
            victim.setFocus(Qt.FocusReason.TabFocusReason)
            dice.choice(ways)(victim)
        del victim
        page.resize(dice.randrange(80, 600), 400)
        if number % 10 == 0:
            gc.collect()
            row.drop_all()
        row.heightForWidth(page.width())
    turn(qapp)
    row.drop_all()
    turn(qapp)
    assert row.heightForWidth(300) == 0
    assert row.findChildren(QWidget) == []


@pytest.mark.parametrize("way", [QWidget.deleteLater, drop, QWidget.close])
def test_that_its_window_may_be_deleted_at_any_time(qapp: QApplication, way: Callable[[QWidget], object]) -> None:
    apply_theme(qapp, "light")
    for number in range(ROUNDS // 6):
        row = WrapRow(label("orders"), ElidedLabel("words that are cut"), button("Export"))
        page = Page(row)
        page.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        page.resize(100 + number, 200)
        page.show()
        if number % 2:
            turn(qapp)
        row.add(button("late"))  # what it posts is still under way
        way(page)
        if number % 5 == 0:
            gc.collect()
        turn(qapp)
        assert not isValid(page)
        assert not isValid(row)
        del row, page
    gc.collect()
