"""The procedures page of the window: the cards in front, the wizard of one procedure or run behind them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QStackedWidget

from services.i18n import tr
from services.types import Health
from widgets.procedures.page import ProceduresPage
from widgets.procedures.run.wizard import WizardPage

if TYPE_CHECKING:
    from widgets.procedures.chunks import ChunksPage

KEY = "procedures"


class SteeringPages(QStackedWidget):
    """Two pages in one place; the wizard is made when it is first needed, or before, in a turn of its own."""

    def __init__(self, why_not: str = "") -> None:
        """Make the cards.

        Args:
            why_not: why nothing can begin here, '' where it can.
        """
        super().__init__()
        self.cards = ProceduresPage(why_not=why_not)
        self.addWidget(self.cards)
        self.wizard: WizardPage | None = None
        self.chunks: ChunksPage | None = None
        self.cards.chunks_wanted.connect(self.show_chunks)

    def make_wizard(self) -> WizardPage:
        """Make the wizard."""
        wizard = WizardPage()
        self.addWidget(wizard)
        wizard.closed.connect(self.show_cards)
        self.wizard = wizard
        return wizard

    def show_cards(self) -> None:
        """Bring the cards to the front."""
        self.setCurrentWidget(self.cards)
        self.cards.focus_first()

    def show_chunks(self) -> None:
        """Bring the calculator of backup chunks to the front; what was typed there stays while the window is open."""
        if self.chunks is None:
            from widgets.procedures.chunks import ChunksPage

            self.chunks = ChunksPage()
            self.chunks.closed.connect(self._leave_chunks)
            self.addWidget(self.chunks)
        self.setCurrentWidget(self.chunks)
        self.chunks.focus_first()

    def _leave_chunks(self) -> None:
        self.setCurrentWidget(self.cards)
        self.cards.chunks.setFocus()

    def show_wizard(self) -> None:
        """Bring the wizard to the front."""
        if self.wizard is not None:
            self.setCurrentWidget(self.wizard)


def still_pages() -> SteeringPages:
    """Return the page beside a recording, which can't be steered; it has no card yet."""
    pages = SteeringPages(tr("Cannot start here: a recording has no servers."))
    said = (
        tr("This is a recording of the past. It has no servers, so no procedure can start here."),
        tr("To start one, open the window for your own hosts: pilothouse --inventory FILE."),
    )
    pages.cards.messages.say(Health.UNKNOWN, said)
    return pages
