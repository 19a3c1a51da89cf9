"""The window's life: paint first, load everything else behind it, furnish it, connect a source, run, stop everything.

The order is a budget (performance: 1 and 2): nothing but QtWidgets and the empty frame is imported before the first
paint, not even what touches an enum of Qt's namespace (15 ms: services.colors). Our widgets, numpy, the driver
and SQLAlchemy come on a worker thread meanwhile, and the widgets are made in short steps between events.
"""

from __future__ import annotations

import gc
import importlib
import os
import sys
import threading
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QLocale, QObject, QTimer, Signal
from PySide6.QtWidgets import QApplication

from app.cli.arguments import GOOD
from app.display import application as made_application
from app.error_hooks import ErrorHooks
from app.kept_errors import as_ending
from app.window.collecting import Collecting
from app.window.main_window import MainWindow
from app.window.settings.keeper import Keeper, keeper_for, last_estate
from services.i18n import from_environment, install
from widgets.frame.first_frame import Sides

if TYPE_CHECKING:
    from PySide6.QtGui import QScreen

    from app.vault import SessionVault
    from app.window.hosts.add_host import AddHost
    from app.window.hosts.inventory_choice import InventoryChoice
    from app.window.session import Opener, WindowSession
    from app.window.settings.watching import Watching
    from widgets.common.look.theme import ThemeName

DEFAULT_SIZE = (1440, 900)
TITLE_BAR = 32
"""Room for a window manager's title bar in pixels: it is not part of the window's own size."""
_FIRST = ("app.window.session", "widgets.common.look.style", "widgets.frame.status_line", "widgets.frame.top_bar",
          "widgets.inventory.tree", "widgets.topology.inspector.panel", "widgets.topology.view",
          "widgets.frame.pages_place", "app.window.frame.first_keys", "app.window.frame.panels",
          "app.window.settings.door", "app.window.settings.window_state")  # fmt: skip


def run_window(
    options: Namespace, *, recording: Path | None, autoplay: bool = False, start_s: float | None = None
) -> int:
    """Open the window on the live estate, or on a recording; with --screenshots write pictures and return."""
    # Collecting again and again while a thousand classes are made is a sixth of all importing, and stops the window.
    gc.disable()
    pictures: Path | None = getattr(options, "screenshots", None)
    if pictures is not None and sys.platform.startswith("linux"):
        # Pictures need no display, and look the same with and without one.
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
    hooks = ErrorHooks()
    hooks.install()
    application = made_application(options)
    application.setApplicationName("Pilothouse")
    application.setDesktopFileName("pilothouse")  # the menu's entry: its icon and name on Wayland
    play = Play(recording, autoplay, start_s)
    while True:
        exit_code, other = _one_window(options, hooks, play)
        if other is None:
            return exit_code
        hooks.keep()
        if isinstance(other, Play):
            play = other
        else:
            options.inventory, play = other, Play(None, autoplay=False, start_s=None)
        gc.disable()


def _one_window(options: Namespace, hooks: ErrorHooks, play: Play) -> tuple[int, Path | Play | None]:
    """Run one window to its end; return the exit code, and the inventory or recording that shall be shown after it."""
    pictures: Path | None = getattr(options, "screenshots", None)
    application = made_application(options)
    keeper = keeper_for(options, kept=play.live or getattr(options, "command", None) != "demo")
    if play.live and (last := last_estate(options, keeper)) is not None:
        options.inventory = last
    kept = keeper.now
    given: ThemeName | None = getattr(options, "theme", None)
    worn = given or (kept.theme if kept.theme != "system" else None)
    sides = Sides(kept.tree_width, kept.inspector_width)
    window = MainWindow(
        bare=True,
        dark=None if worn is None else worn == "dark",
        sides=sides,
        percent=kept.text_percent,
        hidden=(kept.tree_hidden, kept.inspector_hidden),
    )
    asked: tuple[int, int] | None = getattr(options, "size", None)
    screen = application.primaryScreen() if pictures is None else None
    window.resize(*(asked or fitting_size(screen, (kept.width, kept.height))))
    start = WindowStart(options, hooks, window, play, keeper)
    if kept.maximised and asked is None:
        window.showMaximized()
    else:
        window.show()
    exit_code = GOOD
    try:
        if pictures is None:
            start.behind_first_paint()
            application.exec()
        else:
            exit_code = _pictures(start, pictures, hooks)
    finally:
        start.stop()  # a worker that outlives Qt's objects takes the whole program down with it
    return exit_code, start.other


def _pictures(start: WindowStart, folder: Path, hooks: ErrorHooks) -> int:
    from app.window.screenshots import take_pictures
    from widgets.common.look.theme import current_theme

    try:
        return take_pictures(start.at_once(), folder, current_theme().name, hooks)
    except Exception as error:
        raise as_ending(error) from error


def fitting_size(screen: QScreen | None, last: tuple[int, int] = (0, 0)) -> tuple[int, int]:
    """Return the window's first size: that of last time, else the usual one, or what a smaller screen has room for.

    None: no screen counts.
    """
    wanted = last if all(last) else DEFAULT_SIZE
    if screen is None:
        return wanted
    room = screen.availableGeometry()
    return min(wanted[0], room.width()), min(wanted[1], room.height() - TITLE_BAR)


class Play:
    """What to show: a recording and how it begins; without one the live estate."""

    def __init__(self, recording: Path | None, autoplay: bool, start_s: float | None) -> None:
        self._recording = recording
        self._autoplay = autoplay
        self._start_s = start_s

    @property
    def live(self) -> bool:
        """Return whether the live estate is shown."""
        return self._recording is None

    def opener(self, options: Namespace, vault: SessionVault, watching: Watching) -> Opener:
        """Return what opens it."""
        from app.window.session import LiveOpener, RecordingOpener

        if self._recording is not None:
            kept = None if self._autoplay else options  # a demo leaves nothing behind
            return RecordingOpener(self._recording, autoplay=self._autoplay, start_s=self._start_s, options=kept)
        return LiveOpener(options, vault, watching)


class WindowStart(QObject):
    """From the bare window to a session that loads its source."""

    _imported = Signal()

    def __init__(
        self, options: Namespace, hooks: ErrorHooks, window: MainWindow, play: Play, keeper: Keeper | None = None
    ) -> None:
        super().__init__()
        self._keeper = keeper or Keeper()
        self._options = options
        self._hooks = hooks
        self._window = window
        self._play = play
        self._session: WindowSession | None = None
        self._hosts: AddHost | None = None
        self.other: Path | Play | None = None
        """The inventory, or recording, that a person wants to see when this window is closed."""
        self._collecting = Collecting(self)
        self._steps: Iterator[None] = iter(())
        self._thread = threading.Thread(target=self._import, name="pilothouse-import", daemon=True)
        self._imported.connect(self._begin)

    def behind_first_paint(self) -> None:
        """Begin when the first paint is done."""
        self._window.first_painted.connect(self._thread.start)

    def at_once(self) -> WindowSession:
        """Furnish without letting events in between; return the session, which loads when the event loop runs."""
        for _ in self._furnish():
            pass
        assert self._session is not None
        return self._session

    def stop(self) -> None:
        """Stop the session, if it came to one."""
        if self._thread.ident is not None:
            self._thread.join()
        if self._session is not None:
            self._session.stop()
        self._collecting.end()

    def show_inventory(self, path: Path) -> None:
        """Show another inventory: here while there is no estate, else in a new window when this one is closed.

        A run that is at work keeps the window open, and then this inventory in it.
        """
        session, hosts = self._session, self._hosts
        assert session is not None
        assert hosts is not None
        if session.controller is not None:
            self._close_for(path)
            return
        self._options.inventory = path
        hosts.use(path)
        session.begin_again()

    def _show_recording(self, recording: Path) -> None:
        self._close_for(Play(recording, autoplay=True, start_s=None))

    def _wire(self, session: WindowSession, inventories: InventoryChoice) -> None:
        session.recording_wanted.connect(self._show_recording)
        inventories.chosen.connect(self.show_inventory)
        session.wire_inventories(inventories)

    def _close_for(self, other: Path | Play) -> None:
        self.other = other
        if not self._window.close():
            self.other = None

    def _import(self) -> None:
        """On the worker: import what stands in the frame; more would only fight with furnishing for the processor."""
        for name in _FIRST:
            importlib.import_module(name)
        self._imported.emit()

    def _begin(self) -> None:
        self._steps = self._furnish()
        self._step()

    def _step(self) -> None:
        for _ in self._steps:
            QTimer.singleShot(0, self, self._step)
            return

    def _speak(self) -> None:
        """Where no environment tells a language (Windows, a Mac's dock), the system's own settings do."""
        if getattr(self._options, "language", None) is not None:
            return
        if kept := self._keeper.begun.language:
            install(kept)
        elif not from_environment():
            install(QLocale.system().uiLanguages())

    def _furnish(self) -> Iterator[None]:
        from app.places import windows_inventory
        from app.vault import SessionVault
        from app.window.hosts.add_host import AddHost
        from app.window.hosts.inventory_choice import InventoryChoice
        from app.window.session import WindowSession
        from app.window.settings.door import SettingsDoor
        from app.window.settings.watching import Watching
        from app.window.settings.window_state import WindowState, theme_of
        from widgets.bridge.ops import Ops
        from widgets.common.look.fonts import set_text_percent
        from widgets.common.look.theme import apply_theme

        application = QApplication.instance()
        assert isinstance(application, QApplication)
        self._hooks.install_qt()
        self._speak()
        given: ThemeName | None = getattr(self._options, "theme", None)
        set_text_percent(self._keeper.now.text_percent)
        apply_theme(application, given or theme_of(self._keeper.now.theme))
        yield
        window = self._window
        yield from window.furnish()
        still = getattr(self._options, "reduce_motion", False) or hasattr(self._options, "screenshots")
        window.topology.set_reduced_motion(still)
        ops, vault = Ops(window), SessionVault()
        standing = WindowState(window, self._keeper, application, given)
        kept = self._keeper.begun
        watching = Watching(kept.interval_s, kept.keep_days, kept.most_gib, lambda: self._keeper.now.limits)
        session = WindowSession(window, ops, self._hooks, self._play.opener(self._options, vault, watching))
        hosts = AddHost(window, ops, vault, windows_inventory(self._options), session)
        session.wire_hosts(hosts)
        self._wire(session, InventoryChoice(window, ops, lambda: hosts.path, session))
        self._session, self._hosts = session, hosts
        session.ready.connect(self._collecting.begin)
        session.ready.connect(standing.show_page)
        SettingsDoor(window, ops, self._keeper, standing, self._options, session)
        yield
        session.load()
        yield from window.reveal()
