"""At 200 %: what a person needs at night is whole (address, date), nothing runs off the page, and shapes grow along."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetricsF, QImage
from PySide6.QtWidgets import QApplication, QTableView, QTreeView
from pytestqt.qtbot import QtBot

from services.events import Event
from services.types import Health
from tests.widgets import builders as b
from widgets.charts.legend_key import EventLegend, event_keys
from widgets.common.look.fonts import px, ui_font
from widgets.common.look.theme import apply_theme
from widgets.frame.top_bar import Wheel
from widgets.inventory.tree import EstateTree
from widgets.journal.events_model import TIME
from widgets.journal.page import JournalPage
from widgets.topology.inspector.content import Row, Section
from widgets.topology.inspector.section import SectionBox, _Value


@pytest.fixture(autouse=True)
def large(qapp: QApplication, text_size: Callable[[int], None]) -> None:
    apply_theme(qapp, "light")
    text_size(200)


def test_that_the_page_of_the_journal_holds_every_column_and_the_whole_date(qtbot: QtBot) -> None:
    page = JournalPage()
    qtbot.addWidget(page)
    page.resize(1070, 600)  # beside the estate, in a window of 1440
    page.show_events((Event(b.AT, "state", "db2: no answer (was Synced)", Health.BAD, "orders", "db2"),))
    page.show()
    table = page.findChild(QTableView)
    assert table is not None
    qtbot.waitUntil(lambda: table.viewport().width() > 900)
    assert table.horizontalHeader().length() <= table.viewport().width()
    date, clock = table.model().index(0, TIME).data().split(" ")
    words = QFontMetricsF(ui_font())
    assert max(map(words.horizontalAdvance, (date, clock))) + 16 <= table.columnWidth(TIME)
    assert 2 * words.lineSpacing() <= table.rowHeight(0)


@pytest.mark.parametrize("width", [300, 360])
def test_that_an_address_in_the_inspector_is_whole(qtbot: QtBot, width: int) -> None:
    box = SectionBox("")
    qtbot.addWidget(box)
    box.show_section(Section("", (Row("address", "10.213.110.141:3306", mono=True, whole=True),)))
    box.resize(width, 200)
    box.show()
    value = box.findChild(_Value)
    assert value is not None
    lines = -(-value.fontMetrics().horizontalAdvance(value.text()) // value.contentsRect().width())
    qtbot.waitUntil(lambda: value.height() >= lines * value.fontMetrics().lineSpacing())
    assert value.height() > px(20) or value.shown_text() == value.text()


def test_that_the_words_of_the_upright_lines_go_on_below_where_they_have_no_room(qtbot: QtBot) -> None:
    legend = EventLegend(20)
    qtbot.addWidget(legend)
    legend.resize(820, 44)
    legend.show_keys(event_keys(set(Health), restarts=True))
    places = [place for _key, place in legend._places()]
    assert max(place.right() for place in places) <= legend.width()
    assert legend.height() == max(place.y() for place in places) + px(22)
    assert legend.height() > px(22)


def test_that_mark_and_arrows_and_shapes_grow_with_the_words(qtbot: QtBot, text_size: Callable[[int], None]) -> None:
    wheel, tree = Wheel(), EstateTree()
    for part in (wheel, tree):
        qtbot.addWidget(part)
    tree.resize(500, 500)
    tree.show_snapshot(b.estate(b.healthy()))
    tree.show()
    large = (wheel.width(), shape_of(tree))
    text_size(100)
    small = (wheel.width(), shape_of(tree))
    assert large[0] == 2 * small[0]
    assert large[1] >= 3 * small[1]  # in pixels of a circle's area


def shape_of(tree: EstateTree) -> int:
    """Return how many pixels of a node's row are as green as its shape."""
    rows = tree.findChild(QTreeView)
    assert rows is not None
    model = rows.model()
    place = rows.visualRect(model.index(0, 0, model.index(0, 0)))
    picture = rows.viewport().grab(place).toImage().convertToFormat(QImage.Format.Format_RGB32)
    colors = (picture.pixelColor(x, y) for x in range(px(80)) for y in range(picture.height()))
    return sum(color.green() > color.red() + 40 and color.green() > color.blue() + 20 for color in colors)


def test_that_the_tip_of_a_row_says_what_its_end_had_no_room_for(qtbot: QtBot) -> None:
    tree = EstateTree()
    qtbot.addWidget(tree)
    tree.show_snapshot(b.estate(b.healthy()))
    rows = tree.findChild(QTreeView)
    assert rows is not None
    tip = rows.model().index(0, 0).data(int(Qt.ItemDataRole.ToolTipRole))
    assert "Galera 10.11" in tip
