"""The procedures page beside a recording: made when it is asked for, or when everything else has stood for a while."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

from app.window.main_window import MainWindow
from services.discovery.words import joined
from services.i18n import tr
from widgets.bridge.ops import Ops
from widgets.common.commands.palette import PaletteEntry
from widgets.common.look.styling import undressed

if TYPE_CHECKING:
    from services.procedures.plan.procedure import About

KEY = "procedures"
_ABOUT = "procedure:"
LATER_MS = 3000
"""Its libraries must not fight with the first chart for the processor."""


class StillPages(QObject):
    """Imports on a worker, then makes the page in two turns."""

    def __init__(self, window: MainWindow, ops: Ops, parent: QObject) -> None:
        super().__init__(parent)
        self._window = window
        self._ops = ops
        self._begun = False
        self._abouts: tuple[About, ...] = ()
        window.page_awaited.connect(self._asked)
        QTimer.singleShot(LATER_MS, self, self._begin)

    def _asked(self, key: str) -> None:
        if key == KEY:
            self._begin()

    def _begin(self) -> None:
        if not self._begun:
            self._begun = True
            self._ops.run("procedures", _known, self._make)

    def entries(self) -> Iterator[PaletteEntry]:
        """Yield what the palette offers: each procedure, once they are known, with why it cannot begin."""
        for about in self._abouts:
            why = tr("in a recording nothing can be changed")
            yield PaletteEntry(f"{_ABOUT}{about.name}", "procedure", tr(about.title), joined(about.name, why))

    def take(self, entry_id: str) -> bool:
        """Show the page of procedures; return whether one of these was chosen."""
        if entry_id.startswith(_ABOUT):
            self._window.show_page(KEY)
        return entry_id.startswith(_ABOUT)

    def _make(self, abouts: tuple[About, ...]) -> None:
        self._abouts = abouts
        from app.window.steering.pages import still_pages

        with undressed():
            pages = still_pages()
        self._window.add_page(KEY, pages)
        QTimer.singleShot(0, pages, lambda: pages.cards.set_procedures(abouts))


def _known() -> tuple[About, ...]:
    importlib.import_module("app.window.steering.pages")
    from services.procedures.catalogue import all_procedures

    return tuple(procedure.about for procedure in all_procedures())
