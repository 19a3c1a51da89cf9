"""What the command palette offers: clusters, nodes, pages and actions of this moment."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication

from app.window.controller import Controller
from app.window.frame.keys import frame_entries
from app.window.main_window import FIRST_RUN, PAGES, MainWindow
from services.discovery.model import kind_words
from services.i18n import tr
from widgets.common.commands.palette import CommandPalette, PaletteEntry
from widgets.common.commands.shortcuts import CANVAS, WINDOW, keys_of
from widgets.common.look.theme import apply_theme, current_theme


class Finder(QObject):
    """Opens the palette and does what was chosen."""

    def __init__(self, controller: Controller, window: MainWindow, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._controller = controller
        self._window = window
        self._offers: list[tuple[Callable[[], Iterator[PaletteEntry]], Callable[[str], bool]]] = []
        self.typed: Callable[[str], Sequence[PaletteEntry]] = lambda _: ()
        """What the text itself names: it is asked at each letter."""
        self._palette = CommandPalette(window)
        self._palette.chosen.connect(self._go)
        window.palette_wanted.connect(self.open)
        self._actions: dict[str, Callable[[], object]] = {
            "live": window.live_wanted.emit,
            "theme": _switch_theme,
            "fit": window.topology.canvas.fit,
            "add-host": window.tree.add_host_requested.emit,
            "open-inventory": window.inventory_wanted.emit,
            "play": window.play_wanted.emit,
            "start": lambda: controller.look_at(controller.source.span()[0]),
        }

    def offer(self, entries: Callable[[], Iterator[PaletteEntry]], take: Callable[[str], bool]) -> None:
        """Offer more; `take` is given an id that was chosen and returns whether it is one of its own."""
        self._offers.append((entries, take))

    def open(self) -> None:
        """Show the palette with everything that can be gone to or done now."""
        if self._window.page() != FIRST_RUN:  # without a host the palette is the first page's
            self._palette.open_with(tuple(self._entries()), self.typed)

    def _entries(self) -> Iterator[PaletteEntry]:
        for cluster in self._controller.estate.clusters:
            for node in cluster.nodes:
                detail = f"{cluster.name} · {tr(node.state)}"
                yield PaletteEntry(node.node_id, "node", node.name, detail, health=node.health, also=node.address)
            yield PaletteEntry(cluster.cluster_id, "cluster", cluster.name, kind_words(cluster), health=cluster.health)
        for number, (key, title) in enumerate(PAGES, start=1):
            yield PaletteEntry(key, "page", tr(title), keys=keys_of(WINDOW, f"page-{number}"))
        for entries, _take in self._offers:
            yield from entries()
        yield from self._time_entries()
        yield PaletteEntry("fit", "action", tr("Fit the topology"), keys=keys_of(CANVAS, "fit"))
        yield PaletteEntry("theme", "action", tr("Switch between light and dark"), tr("theme"))
        yield PaletteEntry("add-host", "action", tr("Add a host…"))
        yield PaletteEntry("open-inventory", "action", tr("Open another inventory file…"))
        yield from frame_entries()

    def _time_entries(self) -> Iterator[PaletteEntry]:
        player = self._controller.player
        if player is None:
            yield PaletteEntry("live", "action", tr("Return to live"), keys=keys_of(WINDOW, "live"))
            return
        words = tr("Pause the replay") if player.playing else tr("Play the recording")
        yield PaletteEntry("play", "action", words, keys=keys_of(WINDOW, "play"))
        yield PaletteEntry("start", "action", tr("Go to the beginning of the recording"))
        yield PaletteEntry("live", "action", tr("Go to the end of the recording"), keys=keys_of(WINDOW, "live"))

    def _go(self, entry: PaletteEntry) -> None:
        if entry.kind == "node":
            self._controller.select_node(entry.entry_id)
        elif entry.kind == "cluster":
            self._controller.select_cluster(entry.entry_id)
        elif entry.kind == "page":
            self._window.show_page(entry.entry_id)
        elif not any(take(entry.entry_id) for _entries, take in self._offers):
            (self._actions.get(entry.entry_id) or self._window.acts[entry.entry_id])()


def _switch_theme() -> None:
    application = QApplication.instance()
    if isinstance(application, QApplication):
        apply_theme(application, "light" if current_theme().dark else "dark")
