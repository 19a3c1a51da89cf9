"""The first page of somebody who has no host yet: three ways in, each one click."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from services.i18n import mark, tr
from widgets.common.controls.boxes import button
from widgets.common.controls.labels import label
from widgets.common.controls.wrap_row import turn_box
from widgets.common.look.fonts import px
from widgets.common.look.icons import wheel_label
from widgets.common.look.styling import wear
from widgets.common.look.theme import theme_holder

_CARD_WIDTH, _SIDES = 256, 12
_PROMISE = mark(
    "Pilothouse works from this workstation over SSH and SQL: nothing is installed on your servers. Watching "
    "only reads; a read‑only account is enough."
)
_SOURCES = (("ssh", "~/.ssh/config"), ("mycnf", "~/.my.cnf"), ("workbench", "MySQL Workbench"))


class FirstRunPage(QFrame):
    """Signals: `add_host_requested`, `import_requested("ssh" | "mycnf" | "workbench")`, `demo_requested`;
    `other_inventory_requested`, `new_inventory_requested` where the inventory that was named is not there."""

    add_host_requested = Signal()
    import_requested = Signal(str)
    demo_requested = Signal()
    other_inventory_requested = Signal()
    new_inventory_requested = Signal()

    def __init__(self, told: str = "") -> None:
        super().__init__()
        self.setProperty("kind", "canvas")
        block = QWidget()
        self._block = block
        column = QVBoxLayout(block)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(wheel_label(40))
        column.addSpacing(8)
        column.addWidget(label(tr("Watch a database cluster"), "title"))
        if told:
            column.addWidget(label(told, "warn", wrap=True))
            column.addLayout(self._files())
        column.addWidget(label(tr(_PROMISE), "second", wrap=True))
        column.addSpacing(12)
        self._row = self._cards()
        column.addLayout(self._row)
        middle = QHBoxLayout()
        middle.addStretch(1)
        middle.addWidget(block, 1000)  # as wide as it may be: a small window has less room
        middle.addStretch(1)
        page = QVBoxLayout(self)
        page.addStretch(2)
        page.addLayout(middle)
        page.addStretch(3)
        self._fit_text()
        theme_holder().sized.connect(self._fit_text)
        wear(self)

    def _fit_text(self) -> None:
        self._block.setMaximumWidth(min(3 * px(_CARD_WIDTH) + 2 * 16, 1180))

    def minimumSizeHint(self) -> QSize:
        """Return what the cards need one below the other; beside each other they stand where there is room."""
        return QSize(max(map(_narrowest, self._made)) + 2 * _SIDES, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put the cards one below the other where they would be cut."""
        need = sum(map(_narrowest, self._made)) + (len(self._made) - 1) * self._row.spacing() + 2 * _SIDES
        turn_box(self._row, beside=need <= self.width())
        super().resizeEvent(event)

    def _files(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(button(tr("Choose another inventory…"), on=self.other_inventory_requested.emit))
        row.addWidget(button(tr("Create a new one…"), on=self.new_inventory_requested.emit))
        row.addStretch(1)
        return row

    def _cards(self) -> QHBoxLayout:
        add = button(tr("Add a host…"), "primary", on=self.add_host_requested.emit)
        imports = [button(words, on=partial(self.import_requested.emit, key)) for key, words in _SOURCES]
        demo = button(tr("Open the demo"), on=self.demo_requested.emit)
        cards = QHBoxLayout()
        cards.setSpacing(16)
        self._made: list[QFrame] = []
        for title, text, buttons in (
            (
                tr("Add a host"),
                tr("Address, SSH and SQL of one server. The rest of its cluster is discovered from it."),
                [add],
            ),
            (tr("Import existing hosts"), tr("Hosts and logins from another program; you review them first."), imports),
            (
                tr("Try it without a server"),
                tr("A recorded incident: load, a killed node that returns by IST, another by SST."),
                [demo],
            ),
        ):
            self._made.append(_card(title, text, buttons))
            cards.addWidget(self._made[-1], 1)
        add.setFocus()
        return cards


def _narrowest(card: QFrame) -> int:
    return card.minimumSizeHint().width()


def _card(title: str, text: str, buttons: Sequence[QPushButton]) -> QFrame:
    card = QFrame()
    card.setProperty("kind", "card")
    column = QVBoxLayout(card)
    column.setContentsMargins(16, 16, 16, 16)
    column.setSpacing(8)
    column.addWidget(label(title, "section"))
    words = label(text, "second", wrap=True)
    words.setAlignment(Qt.AlignmentFlag.AlignTop)
    words.setMinimumHeight(px(64))
    column.addWidget(words)
    column.addStretch(1)
    for made in buttons:
        column.addWidget(made)
    return card
