"""The table of a comparison: one number a row. It shows words that others made; it computes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFocusEvent, QGuiApplication, QKeyEvent, QKeySequence, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QTableWidget, QTableWidgetItem

from services.i18n import tr
from services.visible import visible
from widgets.common.controls.plain import set_tip
from widgets.common.look.fonts import px
from widgets.common.look.theme import theme_holder

_ROW, _LEAST_ROWS, _MOST_ROWS = 26, 4, 14
_REST = 690
"""What a window keeps for all else: bars, panel, two charts, strip; in pixels at 100 %, as the widths below."""
_WIDTHS = (84, 150, 60, 60, 110, 110, 170)
"""What a column keeps when there is no room for its words, whose own width it takes otherwise."""
_MOST_WIDTHS = (160, 360, 120, 120, 320, 320, 900)
_PAD = 24
_LAST = 6


@dataclass(frozen=True, slots=True)
class Result:
    """A comparison as it is shown.

    Attributes:
        headers: of the columns, the first is the server; rows: their cells.
        summary: what stands under them.
    """

    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    summary: str


class CompareTable(QTableWidget):
    """Rows to read, walk and copy. Signal: row_told(str): the whole words of the row that has the keys, '' for none."""

    row_told = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._needs: list[int] = []
        self.setAccessibleName(tr("Differences between the two windows"))
        self.verticalHeader().hide()
        self.setShowGrid(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setTabKeyNavigation(False)
        self.setWordWrap(False)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        header = self.horizontalHeader()
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setHighlightSections(False)
        theme_holder().sized.connect(self._measure)
        self.currentCellChanged.connect(lambda row, *_: self._tell(row))

    def show_rows(self, headers: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Show these rows; of one server alone its name is left out."""
        self.setColumnCount(len(headers))
        self.setHorizontalHeaderLabels(list(headers))
        self.setRowCount(len(rows))
        for number, cells in enumerate(rows):
            for column, text in enumerate(cells):
                item = QTableWidgetItem(visible(text))
                item.setFlags(Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable)
                set_tip(item, text)
                self.setItem(number, column, item)
        self.setColumnHidden(0, len({cells[0] for cells in rows}) < 2)
        self.clearSelection()
        self.setCurrentCell(-1, -1)
        self._measure()

    def _measure(self) -> None:
        self._needs = [self._needed(column) for column in range(self.columnCount())]
        self._fit_text()

    def _tell(self, row: int) -> None:
        """Tell a row's metric and verdict, which may be cut in their columns, to whom has no pointer for a tip."""
        cells = self._cells(row) if 0 <= row < self.rowCount() else []
        self.row_told.emit(f"{cells[1]}: {cells[-1]}" if len(cells) > 1 else "")

    def _needed(self, column: int) -> int:
        """Return how wide the words of a column are, in pixels at 100 %."""
        metrics = self.fontMetrics()
        items = (self.item(row, column) for row in range(self.rowCount()))
        widest = max((metrics.horizontalAdvance(item.text()) for item in items if item is not None), default=0)
        return max(widest + px(_PAD), self.horizontalHeader().sectionSizeHint(column))

    def _fit_text(self) -> None:
        self.verticalHeader().setDefaultSectionSize(px(_ROW))
        room = (self.window().height() - px(_REST)) // px(_ROW)
        rows = min(self.rowCount(), max(_LEAST_ROWS, min(_MOST_ROWS, room)))
        self.setFixedHeight(px(_ROW) * (rows + 1) + 8)
        self._share_width()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Share out what room there is."""
        super().resizeEvent(event)
        self._share_width()

    def _share_width(self) -> None:
        """Give every column what its words need; where that is too much, from the least on by what each lacks."""
        shown = [column for column in range(self.columnCount()) if not self.isColumnHidden(column)]
        wants = {column: min(self._needs[column], px(_MOST_WIDTHS[column])) for column in shown}
        heads = {column: self.horizontalHeader().sectionSizeHint(column) for column in shown}
        least = {column: min(wants[column], max(px(_WIDTHS[column]), heads[column])) for column in shown}
        rest, lacks = self.viewport().width() - sum(least.values()), sum(wants.values()) - sum(least.values())
        share = max(0.0, min(1.0, rest / lacks)) if lacks else 0.0
        for column in shown:
            width = int(least[column] + share * (wants[column] - least[column]))
            if column == _LAST:
                width += max(0, rest - lacks)
            self.setColumnWidth(column, width)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Choose a row when the keys come: it shows where they are, and is read out whole."""
        super().focusInEvent(event)
        if self.rowCount() and not self.selectedIndexes():
            self.selectRow(max(0, self.currentRow()))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Copy the chosen rows; letters and the space bar are the page's and the window's."""
        if event.matches(QKeySequence.StandardKey.Copy):
            chosen = sorted({index.row() for index in self.selectedIndexes()})
            QGuiApplication.clipboard().setText("\n".join("\t".join(self._cells(row)) for row in chosen))
        elif event.text().isprintable() and event.text():
            event.ignore()
        else:
            super().keyPressEvent(event)

    def _cells(self, row: int) -> list[str]:
        items = (self.item(row, column) for column in range(self.columnCount()))
        return [item.text() for item in items if item is not None]
