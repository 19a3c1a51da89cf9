"""Shows what an import found before anything is taken over."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QHBoxLayout,
    QHeaderView,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from services.inventory.model import HostEntry
from services.words import mark, tr
from widgets.common.boxes import button, hairline
from widgets.common.fields import default_button
from widgets.common.labels import label
from widgets.common.plain import set_tip
from widgets.common.text import plural
from widgets.common.wardrobe import wear
from widgets.inventory.draft import Candidate

_COLUMNS = (mark("Name"), mark("Address"), mark("SSH"), mark("SQL"), mark("Remarks"))


class ImportDialog(QDialog):
    """`import_requested(tuple[HostEntry, ...])` with the ticked ones. Not modal."""

    import_requested = Signal(object)

    def __init__(self, source: str, candidates: Sequence[Candidate], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setModal(False)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Import from {source}", source=source))
        self.resize(760, 480)
        self._candidates = tuple(candidates)
        self._table = QTableWidget(len(candidates), len(_COLUMNS))
        self._import = default_button(button("", "primary", on=self._take))
        self._fill()
        found = plural(len(candidates), "{n} host", "{n} hosts")
        title = (
            tr("{found} found in {source}", found=found, source=source)
            if candidates
            else tr("No host was found in {source}", source=source)
        )
        hint = (
            tr("Passwords found there serve this session and are written nowhere; edit a host to keep its own.")
            if candidates
            else tr("Add a host by hand instead, or choose another source.")
        )
        head = QVBoxLayout()
        head.setContentsMargins(20, 16, 20, 12)
        head.setSpacing(4)
        head.addWidget(label(title, "title", wrap=True))
        head.addWidget(label(hint, "second", wrap=True))
        foot = QHBoxLayout()
        foot.setContentsMargins(20, 12, 20, 12)
        foot.setSpacing(8)
        foot.addStretch(1)
        foot.addWidget(button(tr("Cancel"), on=self.reject))
        foot.addWidget(self._import)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(hairline())
        column.addWidget(self._table, 1)
        column.addWidget(hairline())
        column.addLayout(foot)
        self._count()
        wear(self)

    def _fill(self) -> None:
        table = self._table
        table.setHorizontalHeaderLabels([tr(column) for column in _COLUMNS])
        table.verticalHeader().hide()
        table.verticalHeader().setDefaultSectionSize(28)
        table.setShowGrid(False)
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        table.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        table.horizontalHeader().setHighlightSections(False)
        for row, candidate in enumerate(self._candidates):
            for column, text in enumerate(_cells(candidate)):
                item = QTableWidgetItem(text)
                set_tip(item, text)
                item.setFlags(Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable)
                if column == 0:
                    item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
                    item.setCheckState(Qt.CheckState.Checked if candidate.ticked else Qt.CheckState.Unchecked)
                table.setItem(row, column, item)
        header = table.horizontalHeader()
        for column, width in enumerate((180, 160, 120, 120)):
            header.resizeSection(column, width)
        header.setSectionResizeMode(len(_COLUMNS) - 1, QHeaderView.ResizeMode.Stretch)
        table.itemChanged.connect(self._count)

    def ticked(self) -> tuple[HostEntry, ...]:
        """Return the entries that would be taken over."""
        return tuple(c.entry for row, c in enumerate(self._candidates) if self._is_ticked(row))

    def _is_ticked(self, row: int) -> bool:
        item = self._table.item(row, 0)
        return item is not None and item.checkState() is Qt.CheckState.Checked

    def set_ticked(self, row: int, ticked: bool) -> None:
        """Tick or untick a row."""
        item = self._table.item(row, 0)
        if item is not None:
            item.setCheckState(Qt.CheckState.Checked if ticked else Qt.CheckState.Unchecked)

    def _count(self) -> None:
        count = len(self.ticked())
        self._import.setText(plural(count, "Import {n} host", "Import {n} hosts") if count else tr("Import"))
        self._import.setEnabled(count > 0)

    def _take(self) -> None:
        self.import_requested.emit(self.ticked())
        self.accept()


def _cells(candidate: Candidate) -> tuple[str, ...]:
    entry = candidate.entry
    ssh = tr("{user}, port {port}", user=entry.ssh.user, port=entry.ssh.port) if entry.ssh else tr("no")
    sql = f"{entry.sql.user}, {entry.sql.via}" if entry.sql else tr("no")
    return (entry.name, entry.address, ssh, sql, candidate.note)
