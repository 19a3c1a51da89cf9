"""The table that two dialogs share: what is ticked at first, by hand and by the keyboard."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtTest import QSignalSpy, QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from widgets.common.controls.ticked_table import TickedTable

ROWS = ((("db1", "10.0.0.1"), True), (("db2", "10.0.0.2"), False))


def test_that_ticks_are_what_was_given_until_a_person_changes_them(qtbot: QtBot, qapp: QApplication) -> None:
    table = TickedTable("Hosts", ("Name", "Address"), ROWS, (100,))
    qtbot.addWidget(table)
    table.show()
    assert table.accessibleName() == "Hosts"
    assert table.ticked() == (0,)
    spy = QSignalSpy(table.ticks_changed)
    table.set_ticked(1, True)
    assert (table.ticked(), spy.count()) == ((0, 1), 1)
    table.setFocus()
    table.setCurrentCell(0, 0)
    QTest.keyClick(table, Qt.Key.Key_Space)
    assert (table.ticked(), spy.count()) == ((1,), 2)


def test_that_rows_and_columns_grow_with_the_text(qtbot: QtBot, text_size: Callable[[int], None]) -> None:
    table = TickedTable("Hosts", ("Name", "Address"), ROWS, (100,))
    qtbot.addWidget(table)
    text_size(150)
    assert (table.rowHeight(0), table.columnWidth(0)) == (42, 150)


def test_that_no_cell_can_be_written_into(qtbot: QtBot) -> None:
    table = TickedTable("Hosts", ("Name", "Address"), ROWS, (100,))
    qtbot.addWidget(table)
    items = [table.item(row, column) for row in range(2) for column in range(2)]
    assert not any(item.flags() & Qt.ItemFlag.ItemIsEditable for item in items if item is not None)
