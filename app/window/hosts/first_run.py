"""The window without an estate: the three ways in where there is no host yet, and what is wrong where it can't open."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from app.window.frame.keys import frame_entries
from app.window.main_window import MainWindow
from services.errors import UserError
from services.i18n import tr
from services.types import Health
from widgets.common.commands.palette import CommandPalette, PaletteEntry
from widgets.common.empty import EmptyAction, EmptyState
from widgets.common.look.styling import wear
from widgets.inventory.first_run import FirstRunPage

TRY_AGAIN, OPEN_DEMO, OTHER_INVENTORY, NEW_INVENTORY = 0, 1, 2, 3
Actions = Mapping[str, tuple[str, Callable[[], object]]]
"""What the palette offers while there is no estate: id -> words, act."""


def show_first_run(window: MainWindow, sentence: str = "") -> FirstRunPage:
    """Show the page with the three ways in, searched by the palette too; `sentence`: what a person must know first."""
    page = FirstRunPage(sentence)
    window.set_first_run(page)
    sources = {"ssh": "~/.ssh/config", "mycnf": "~/.my.cnf", "workbench": "MySQL Workbench"}
    actions: dict[str, tuple[str, Callable[[], object]]] = {
        "add-host": (tr("Add a host…"), page.add_host_requested.emit),
        **{
            key: (tr("Import hosts from {source}", source=source), partial(page.import_requested.emit, key))
            for key, source in sources.items()
        },
        "demo": (tr("Open the demo"), page.demo_requested.emit),
        "new-inventory": (tr("Create an inventory file…"), page.new_inventory_requested.emit),
    }
    _FirstFinder(window, page, actions)
    return page


class _FirstFinder(QObject):
    """The palette while there is no estate: the ways in, and what the window itself can do."""

    def __init__(self, window: MainWindow, page: QWidget, actions: Actions) -> None:
        super().__init__(page)
        self._window, self._page = window, page
        self._palette = CommandPalette(window)
        page.destroyed.connect(self._palette.deleteLater)
        self._palette.chosen.connect(self._go)
        window.palette_wanted.connect(self._open)
        self._actions: Actions = {
            **actions,
            "open-inventory": (tr("Open another inventory file…"), window.inventory_wanted.emit),
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


def show_trouble(window: MainWindow, problem: UserError, *, of_inventory: bool = False) -> EmptyState:
    """Show why the estate can't be opened, what is safe, what to try; its ways are TRY_AGAIN, OPEN_DEMO and so on.

    Args:
        of_inventory: another inventory's file would help: that is one of the ways.
    """
    title, _, details = str(problem).partition("\n")
    words = EmptyState(640)
    ways = [
        EmptyAction(tr("Try again"), primary=True),
        EmptyAction(tr("Open the demo"), tr("A recorded incident; no server needed")),
    ]
    if of_inventory:
        ways += [
            EmptyAction(tr("Choose another inventory…")),
            EmptyAction(tr("Create a new one…"), tr("The invalid file is not changed")),
        ]
    words.say(
        title.rstrip(":"),
        "\n".join(part for part in (details, problem.safe) if part),
        tries=problem.try_,
        ways=ways,
        health=Health.BAD,
    )
    page = QFrame()
    page.setProperty("kind", "canvas")
    QVBoxLayout(page).addWidget(words)
    wear(page)
    window.set_first_run(page)
    offered = {f"way-{number}": (way.text, partial(words.chosen.emit, number)) for number, way in enumerate(ways)}
    offered.pop(f"way-{OTHER_INVENTORY}", None)  # the window's own, whatever it shows
    _FirstFinder(window, page, offered)
    return words
