"""Shows what an import found before anything is taken over."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QHBoxLayout, QVBoxLayout, QWidget

from services.i18n import mark, tr, tr_n
from services.inventory.model import HostEntry
from widgets.common.controls.boxes import button, hairline
from widgets.common.controls.fields import default_button
from widgets.common.controls.labels import label
from widgets.common.controls.ticked_table import TickedTable
from widgets.common.look.styling import wear
from widgets.common.look.text import plural
from widgets.inventory.draft import Candidate

_COLUMNS = (mark("Name"), mark("Address"), mark("SSH"), mark("SQL"), mark("Notes"))

_WIDTHS = (180, 160, 170, 120)
_MOST_TOLD = 6
"""Remarks above the table: a file of hundreds of patterns has as many, and the hosts are what the dialog is for."""


class ImportDialog(QDialog):
    """`import_requested(tuple[HostEntry, ...])` with the ticked ones. Not modal."""

    import_requested = Signal(object)

    def __init__(
        self, source: str, candidates: Sequence[Candidate], parent: QWidget | None = None, *, why: Sequence[str] = ()
    ) -> None:
        """Show what was found.

        Args:
            why: what was left out and what could not be read, a sentence each; where nothing was found, why.
        """
        super().__init__(parent)
        self.setModal(False)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Import from {source}", source=source))
        self.resize(760, 480)
        self._candidates = tuple(candidates)
        shown = len(_WIDTHS) + any(candidate.note for candidate in self._candidates)  # remarks where there is one
        rows = [(_cells(candidate)[:shown], candidate.ticked) for candidate in self._candidates]
        self._table = TickedTable(tr("Hosts that were found"), _COLUMNS[:shown], rows, _WIDTHS[: shown - 1])
        self._table.ticks_changed.connect(self._count)
        self._import = default_button(button("", "primary", on=self._take))
        found = plural(len(candidates), "{n} host", "{n} hosts")
        title = (
            tr("{found} found in {source}", found=found, source=source)
            if candidates
            else tr("No host was found in {source}", source=source)
        )
        hint = (
            "\n".join(_above(self._candidates, why))
            if candidates
            else "\n".join([*why, tr("Nothing was imported. To add a host manually: Add a host.")])
        )
        foot = QHBoxLayout()
        foot.setContentsMargins(20, 12, 20, 12)
        foot.setSpacing(8)
        foot.addStretch(1)
        foot.addWidget(button(tr("Cancel") if candidates else tr("Close"), on=self.reject))
        foot.addWidget(self._import)
        self._import.setVisible(bool(candidates))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(_head(title, hint))
        column.addWidget(hairline())
        if candidates:
            column.addWidget(self._table, 1)
        else:
            self._table.hide()
            column.addStretch(1)
        column.addWidget(hairline())
        column.addLayout(foot)
        self._count()
        wear(self)

    def ticked(self) -> tuple[HostEntry, ...]:
        """Return the entries that would be taken over."""
        return tuple(self._candidates[row].entry for row in self._table.ticked())

    def set_ticked(self, row: int, ticked: bool) -> None:
        """Tick or untick a row."""
        self._table.set_ticked(row, ticked)

    def _count(self) -> None:
        count = len(self.ticked())
        self._import.setText(plural(count, "Import {n} host", "Import {n} hosts") if count else tr("Import"))
        self._import.setEnabled(count > 0)

    def _take(self) -> None:
        self.import_requested.emit(self.ticked())
        self.accept()


def _head(title: str, hint: str) -> QVBoxLayout:
    head = QVBoxLayout()
    head.setContentsMargins(20, 16, 20, 12)
    head.setSpacing(4)
    head.addWidget(label(title, "title", wrap=True))
    if hint:
        head.addWidget(label(hint, "second", wrap=True))
    return head


def _cells(candidate: Candidate) -> tuple[str, ...]:
    entry = candidate.entry
    ssh = tr("no")
    if entry.ssh is not None:
        user, port = entry.ssh.user or tr("from ssh_config"), entry.ssh.port
        ssh = tr("{user}, port {port}", user=user, port=port) if port else user
    sql = f"{entry.sql.user}, {entry.sql.via}" if entry.sql else tr("no")
    return (entry.name, entry.address, ssh, sql, candidate.note)


def _above(candidates: Sequence[Candidate], sentences: Sequence[str]) -> tuple[str, ...]:
    """Return what stands above the table: what becomes of passwords where any can be there, then the remarks whole."""
    kept = tr(
        "Passwords found there are used in this session only and are not stored; edit a host to store its password."
    )
    more = len(sentences) - _MOST_TOLD
    left = (tr_n("and one more", "and {n} more", more),) if more > 0 else ()
    return (*((kept,) if any(one.entry.sql for one in candidates) else ()), *sentences[:_MOST_TOLD], *left)
