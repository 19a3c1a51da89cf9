"""The window without an estate: the three ways in where there is no host yet, and what is wrong where it can't open."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFrame, QVBoxLayout

from app.frame.keys import frame_entries
from app.main_window import MainWindow
from services.errors import UserError
from services.types import Health
from services.words import tr
from widgets.common.empty import EmptyState, Way
from widgets.common.palette import CommandPalette, PaletteEntry
from widgets.common.wardrobe import wear
from widgets.inventory.first_run import FirstRunPage

TRY_AGAIN, OPEN_DEMO = 0, 1


def show_first_run(window: MainWindow, told: str = "") -> FirstRunPage:
    """Show the page with the three ways in, searched by the palette too; `told` is what a person must know before."""
    page = FirstRunPage(told)
    window.set_first_run(page)
    _FirstFinder(window, page)
    return page


class _FirstFinder(QObject):
    """The palette while there is no estate: the ways in, and what the window itself can do."""

    def __init__(self, window: MainWindow, page: FirstRunPage) -> None:
        super().__init__(page)
        self._window, self._page = window, page
        self._palette = CommandPalette(window)
        page.destroyed.connect(self._palette.deleteLater)
        self._palette.chosen.connect(self._go)
        window.palette_wanted.connect(self._open)
        self._actions: dict[str, tuple[str, Callable[[], object]]] = {
            "add-host": (tr("Add a host…"), page.add_host_requested.emit),
            "ssh": (
                tr("Import hosts from {source}", source="~/.ssh/config"),
                partial(page.import_requested.emit, "ssh"),
            ),
            "mycnf": (
                tr("Import hosts from {source}", source="~/.my.cnf"),
                partial(page.import_requested.emit, "mycnf"),
            ),
            "workbench": (
                tr("Import hosts from {source}", source="MySQL Workbench"),
                partial(page.import_requested.emit, "workbench"),
            ),
            "demo": (tr("Open the demo"), page.demo_requested.emit),
        }

    def _open(self) -> None:
        if self._window.pages.currentWidget() is self._page:  # with an estate the palette is another's
            entries = (PaletteEntry(key, "action", title) for key, (title, _act) in self._actions.items())
            self._palette.open_with((*entries, *frame_entries()))

    def _go(self, entry: PaletteEntry) -> None:
        if entry.entry_id in self._actions:
            self._actions[entry.entry_id][1]()
        else:
            self._window.acts[entry.entry_id]()


def show_trouble(window: MainWindow, problem: UserError) -> EmptyState:
    """Show why the estate can't be opened, what is safe, what to try; its ways are TRY_AGAIN and OPEN_DEMO."""
    title, _, details = str(problem).partition("\n")
    words = EmptyState(560)
    words.say(
        title.rstrip(":"),
        "\n".join(part for part in (details, problem.safe) if part),
        tries=problem.try_,
        ways=(
            Way(tr("Try again"), primary=True),
            Way(tr("Open the demo"), tr("A recorded incident, without any server")),
        ),
        health=Health.BAD,
    )
    page = QFrame()
    page.setProperty("kind", "canvas")
    QVBoxLayout(page).addWidget(words)
    wear(page)
    window.set_first_run(page)
    return words
