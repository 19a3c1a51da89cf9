"""The calculator of backup chunks in the palette: offered wherever its button is."""

from __future__ import annotations

from collections.abc import Iterator

from app.window.controller import Controller
from app.window.main_window import MainWindow
from app.window.steering.pages import KEY, SteeringPages
from services.backup_chunks.fitting import why_not_here
from services.i18n import tr
from widgets.common.commands.palette import PaletteEntry

_ENTRY = "backup-chunks"


class ChunksOffer:
    """One per live window."""

    def __init__(self, controller: Controller, window: MainWindow, pages: SteeringPages) -> None:
        self._controller, self._window, self._pages = controller, window, pages

    def entries(self) -> Iterator[PaletteEntry]:
        """Yield what the palette offers; nothing where all servers are MariaDB."""
        if not why_not_here(self._controller.estate):
            yield PaletteEntry(_ENTRY, "action", tr("Chunks of a backup for xbcloud…"), tr("calculator"))

    def take(self, entry_id: str) -> bool:
        """Show it where it was chosen; return whether it was."""
        if entry_id != _ENTRY:
            return False
        self._window.show_page(KEY)
        self._pages.show_chunks()
        return True
