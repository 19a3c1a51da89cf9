"""A table whose rows are ticked in their first column: what was found, and which of it a person wants."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableWidget, QTableWidgetItem

from services.i18n import tr
from widgets.common.controls.plain import set_tip
from widgets.common.look.fonts import px
from widgets.common.look.theme import theme_holder

Row = tuple[Sequence[str], bool]
"""A row's cells, and whether it is ticked at first."""


class TickedTable(QTableWidget):
    """Rows with a tick each. Signal: `ticks_changed`."""

    ticks_changed = Signal()

    def __init__(self, name: str, columns: Sequence[str], rows: Sequence[Row], widths: Sequence[int]) -> None:
        """Show the rows.

        Args:
            name: what a screen reader says; columns: their marked titles; widths: of all but the last, which stretches.
        """
        super().__init__(len(rows), len(columns))
        self.setAccessibleName(name)
        self.setHorizontalHeaderLabels([tr(column) for column in columns])
        self.verticalHeader().hide()
        self.setShowGrid(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setTabKeyNavigation(False)  # Tab goes on to the buttons; arrows go through the rows
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        for number, (cells, ticked) in enumerate(rows):
            self._show(number, cells, ticked=ticked)
        header = self.horizontalHeader()
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setHighlightSections(False)
        self._widths = tuple(widths)
        self._fit_text()
        theme_holder().sized.connect(self._fit_text)
        header.setSectionResizeMode(len(columns) - 1, QHeaderView.ResizeMode.Stretch)
        self.itemChanged.connect(self.ticks_changed)

    def _fit_text(self) -> None:
        self.verticalHeader().setDefaultSectionSize(px(28))
        for column, width in enumerate(self._widths):
            self.horizontalHeader().resizeSection(column, px(width))

    def _show(self, row: int, cells: Sequence[str], *, ticked: bool) -> None:
        for column, text in enumerate(cells):
            item = QTableWidgetItem(text)
            set_tip(item, text)
            item.setFlags(Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable)
            if column == 0:
                item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
                item.setCheckState(_state(ticked))
            self.setItem(row, column, item)

    def ticked(self) -> tuple[int, ...]:
        """Return the rows that are ticked."""
        return tuple(row for row in range(self.rowCount()) if self._tick(row) is Qt.CheckState.Checked)

    def set_ticked(self, row: int, ticked: bool) -> None:
        """Tick or untick a row."""
        item = self.item(row, 0)
        if item is not None:
            item.setCheckState(_state(ticked))

    def _tick(self, row: int) -> Qt.CheckState | None:
        item = self.item(row, 0)
        return item.checkState() if item is not None else None


def _state(ticked: bool) -> Qt.CheckState:
    return Qt.CheckState.Checked if ticked else Qt.CheckState.Unchecked
