"""Hosts that others name and that nobody said may be asked: a notice with one action for all, and the list of them."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QHBoxLayout, QVBoxLayout, QWidget

from services.discovery.model import Unasked
from services.i18n import mark, tr, tr_n
from services.types import Health
from widgets.common.controls.boxes import button, hairline
from widgets.common.controls.fields import default_button
from widgets.common.controls.labels import label
from widgets.common.controls.ticked_table import TickedTable
from widgets.common.look.styling import wear
from widgets.common.messages import MessageBar

_COLUMNS = (mark("Name"), mark("Address"), mark("Named by"), mark("Account used"))
_MOST_NAMES = 3


class UnaskedNotice(MessageBar):
    """Says how many hosts are named and not asked. `acted` opens the list; 'Not now' hides it until another is named.

    Hidden while there is nobody, and while everybody named was put off.
    """

    def __init__(self) -> None:
        super().__init__()
        self._named: tuple[Unasked, ...] = ()
        self._put_off: frozenset[str] = frozenset()
        self.later = button(tr("Not now"), on=self._later)
        row = self.layout()
        assert isinstance(row, QHBoxLayout)
        row.addWidget(self.later, 0, Qt.AlignmentFlag.AlignTop)

    def show_unasked(self, named: Sequence[Unasked]) -> None:
        """Show who is named now."""
        wanted = tuple(named)
        if wanted == self._named:
            return
        self._named = wanted
        self._put_off &= {one.place for one in wanted}
        self._show()

    def _show(self) -> None:
        named = self._named
        if not named or {one.place for one in named} <= self._put_off:
            self.say(Health.UNKNOWN, ())
            return
        self.say(Health.UNKNOWN, (_sentence(named),), f"{offer(_members(named) or named)}…")

    def _later(self) -> None:
        self._put_off = frozenset(one.place for one in self._named)
        self._show()


def _members(named: Sequence[Unasked]) -> tuple[Unasked, ...]:
    """Return those that are members now: a line of a configuration may be of years ago, and is not ticked."""
    return tuple(one for one in named if one.sure)


def _sentence(named: Sequence[Unasked]) -> str:
    shown = ", ".join(one.name for one in named[:_MOST_NAMES])
    if len(named) > _MOST_NAMES:
        shown = tr("{names} and {n} more", names=shown, n=len(named) - _MOST_NAMES)
    return tr_n(
        "{n} host is named but not queried yet: {names}.",
        "{n} hosts are named but not queried yet: {names}.",
        len(named), n=len(named), names=shown,
    )  # fmt: skip


def offer(named: Sequence[Unasked]) -> str:
    """Return what the one action does: 'Watch 2 more with the account of n1'."""
    owners = " + ".join(dict.fromkeys(one.ways_of for one in named))
    return tr("Watch {n} more with the account of {hosts}", n=len(named), hosts=owners)


class UnaskedDialog(QDialog):
    """`watch_requested(tuple[Unasked, ...])` with the ticked ones. Not modal."""

    watch_requested = Signal(object)

    def __init__(self, named: Sequence[Unasked], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setModal(False)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Named hosts"))
        self.resize(760, 420)
        self._named = tuple(named)
        rows = [((one.name, one.place, _by(one), one.ways_of), one.sure) for one in self._named]
        title = tr("Hosts that are named but not queried yet")
        self._table = TickedTable(title, _COLUMNS, rows, (180, 180, 180))
        self._table.ticks_changed.connect(self._count)
        self._watch = default_button(button("", "primary", on=self._take))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(self._head())
        column.addWidget(hairline())
        column.addWidget(self._table, 1)
        column.addWidget(hairline())
        column.addLayout(self._foot())
        self._count()
        wear(self)

    def _head(self) -> QVBoxLayout:
        head = QVBoxLayout()
        head.setContentsMargins(20, 16, 20, 12)
        head.setSpacing(4)
        head.addWidget(label(tr("Are these yours?"), "title", wrap=True))
        hint = tr(
            "Only a server says so. Whoever answers at these addresses receives the same SSH and SQL logins "
            "as the host that names them. They are added to the inventory; deselect what you do not know."
        )
        head.addWidget(label(hint, "second", wrap=True))
        return head

    def _foot(self) -> QHBoxLayout:
        foot = QHBoxLayout()
        foot.setContentsMargins(20, 12, 20, 12)
        foot.setSpacing(8)
        foot.addStretch(1)
        foot.addWidget(button(tr("Cancel"), on=self.reject))
        foot.addWidget(self._watch)
        return foot

    def ticked(self) -> tuple[Unasked, ...]:
        """Return the hosts that would be watched."""
        return tuple(self._named[row] for row in self._table.ticked())

    def set_ticked(self, row: int, ticked: bool) -> None:
        """Tick or untick a row."""
        self._table.set_ticked(row, ticked)

    def _count(self) -> None:
        ticked = self.ticked()
        self._watch.setText(offer(ticked) if ticked else tr("Watch"))
        self._watch.setEnabled(bool(ticked))

    def _take(self) -> None:
        self.watch_requested.emit(self.ticked())
        self.accept()


def _by(one: Unasked) -> str:
    """Return who names a host; a line of a configuration says less than a member of now."""
    who = ", ".join(one.by)
    return who if one.sure else tr("{names} (configuration only)", names=who)
