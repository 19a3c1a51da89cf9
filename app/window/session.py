"""One run of the window: libraries loaded behind it, the source opened, its pages built, all of it stopped."""

from __future__ import annotations

import importlib
import logging
from argparse import Namespace
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from PySide6.QtCore import QObject, QTimer, Signal

from app.error_hooks import ErrorHooks
from app.vault import SessionVault
from app.window.hosts.add_host import AddHost
from app.window.hosts.first_run import NEW_INVENTORY, OPEN_DEMO, OTHER_INVENTORY, show_first_run, show_trouble
from app.window.hosts.inventory_choice import InventoryChoice
from app.window.main_window import MainWindow
from app.window.settings.watching import Watching
from services.errors import UserError
from services.i18n import tr
from services.inventory.model import HostEntry
from services.types import Health
from services.visible import visible
from widgets.bridge.ops import Ops
from widgets.bridge.source import EstateSource
from widgets.common.look.icons import app_icon

if TYPE_CHECKING:
    from app.mark_shelf import MarkShelf
    from app.window.controller import Controller
    from app.window.pages import Pages
    from app.window.steering.door import ServiceDoor
    from app.window.steering.window import Steering
    from services.history.marked_change import ChangeMark

log = logging.getLogger(__name__)

_HEAVY = ("app.window.pages", "widgets.charts.card", "services.discovery.families.builtin")
"""What must not be imported on the GUI thread. There no np.unique is called: it would import numpy.ma (20 ms)."""
_LIVE = tuple(f"app.window.hosts.{name}" for name in ("ask_keys", "ask_more", "host_actions", "nobody_left"))
"""What is wired beside, where hosts are watched and not a recording's."""
STEERING_LATER_MS = 300
"""The first answers of the hosts, and their paint, come before what procedures need: all want the processor."""


class Opener(Protocol):
    """Opens the source on a worker thread; everything heavy is imported inside."""

    def refuse_nothing(self) -> None:
        """Raise UserError where there is nothing to open: the window then teaches, and needs nothing heavy for it."""

    def open(self) -> EstateSource:
        """Return the source, started."""

    def close(self) -> None:
        """Stop and close it."""

    def door(self) -> ServiceDoor | None:
        """Return what opens the service of procedures, None where nothing can be steered."""

    def shelf(self) -> MarkShelf:
        """Return where marked changes of the opened source are kept."""


class LiveOpener:
    """The inventory's estate, watched live and kept in the local history."""

    def __init__(self, options: Namespace, vault: SessionVault, watching: Watching) -> None:
        self._options = options
        self._vault = vault
        self._watching = watching
        self._stop: Callable[[], None] | None = None

    def refuse_nothing(self) -> None:
        """Raise UserError where the inventory is not there, is empty or can't be read."""
        from app.written_estate import chosen_seeds, read_inventory

        chosen_seeds(read_inventory(self._options), ())

    def open(self) -> EstateSource:
        """Open the inventory and start watching."""
        from app.compose import open_watcher

        for name in _LIVE:
            importlib.import_module(name)
        watcher = open_watcher(self._options, vault=self._vault, watching=self._watching)
        watcher.start()
        self._stop = watcher.stop
        return watcher

    def door(self) -> ServiceDoor | None:
        """Return what opens the service."""
        from app.window.steering.door import ServiceDoor

        return ServiceDoor(self._options, self._vault, self._watching.limits)

    def shelf(self) -> MarkShelf:
        """Return the marks of the inventory's samples."""
        from app.mark_shelf import StateShelf
        from app.places import inventory_file, state_file
        from services.sampling.past.own_past import mark_of

        return StateShelf(state_file(self._options), mark_of(inventory_file(self._options)))

    def close(self) -> None:
        """Stop watching."""
        if self._stop is not None:
            self._stop()


class RecordingOpener:
    """A recording, with play, pause, speed and seek."""

    def __init__(self, path: Path, *, autoplay: bool, start_s: float | None, options: Namespace | None = None) -> None:
        """Play a file.

        Args:
            options: name the data folder in which marked changes are kept; None (a demo): nothing is.
        """
        self._path = path
        self._options = options
        self._marks: tuple[str, tuple[ChangeMark, ...]] = ("", ())
        self._autoplay = autoplay
        self._start_s = start_s
        self._close: Callable[[], None] | None = None

    def refuse_nothing(self) -> None:
        """Return: a recording that is none says so when it is opened."""

    def open(self) -> EstateSource:
        """Open the recording at its beginning (or where asked)."""
        from services.clock import SystemClock
        from services.history.recordings.recorded_marks import about_recording
        from services.sampling.replay import Replay

        replay = Replay(self._path, SystemClock())
        start, _end = replay.span()
        replay.seek(start + (self._start_s if self._start_s is not None else 30.0 if self._autoplay else 0.0))
        replay.snapshot()  # the window's thread asks for it at once: what decodes it is made here, on the worker
        if self._autoplay:
            replay.play()
        self._close = replay.close
        self._marks = (about_recording(replay.title, replay.span()), replay.marks())
        return replay

    def door(self) -> ServiceDoor | None:
        """Return None: a recording can't be steered."""
        return None

    def shelf(self) -> MarkShelf:
        """Return the marks of this recording, those that came with it among them."""
        from app.mark_shelf import SessionShelf, StateShelf
        from app.places import state_file

        about, recorded = self._marks
        if self._options is not None:
            try:
                return StateShelf(state_file(self._options), about, recorded)
            except UserError as problem:  # a recording is played where nothing can be written, too
                log.info("marks are kept for this window only: %s", problem)
        return SessionShelf(recorded)

    def close(self) -> None:
        """Close the file."""
        if self._close is not None:
            self._close()


class WindowSession(QObject):
    """Loads, builds and stops. Signals: ready() when pages and source stand; nothing() when there is no host yet;
    recording_wanted(Path): a recording shall be shown in place of the estate."""

    ready = Signal()
    problem = Signal(object)
    recording_wanted = Signal(object)

    def __init__(self, window: MainWindow, ops: Ops, hooks: ErrorHooks, opener: Opener) -> None:
        super().__init__()
        self.window = window
        self.ops = ops
        self.controller: Controller | None = None
        self.steering: Steering | None = None
        self._opener = opener
        self._hosts: AddHost | None = None
        self._inventories: InventoryChoice | None = None
        self.failed: UserError | None = None
        self.problem.connect(self._show_problem)
        ops.failed.connect(self._show_problem)
        window.messages.acted.connect(lambda: window.messages.say(Health.WARN, ()))
        # Emitting a signal is the one thing another thread may do to the window.
        hooks.show_with(self.problem.emit)

    def wire_hosts(self, hosts: AddHost) -> None:
        """Watch hosts as soon as they stand in the inventory."""
        self._hosts = hosts
        hosts.added.connect(self._hosts_added)

    def wire_inventories(self, inventories: InventoryChoice) -> None:
        """Offer another inventory where the one that was named can't be shown."""
        self._inventories = inventories

    def load(self) -> None:
        """Begin loading behind the painted window."""
        self.window.setWindowIcon(app_icon())
        opener = self._opener
        if isinstance(opener, RecordingOpener):
            self.window.status.show_replay()
            self.window.status.show_message(tr("opening the recording…"))
            self.window.topology.show_waiting(
                tr("Opening the recording"), tr("Its file on this workstation is read; no host is contacted.")
            )
        else:
            self.window.status.show_message(tr("opening the estate…"))
            self.window.topology.show_waiting(
                tr("Opening the estate"),
                tr("The inventory and history on this workstation are read, then the hosts are queried."),
            )

        def work() -> EstateSource:
            opener.refuse_nothing()
            for name in _HEAVY:
                importlib.import_module(name)

            return opener.open()

        self.ops.run("load", work, self._loaded, self._not_loaded)

    def stop(self) -> None:
        """Stop timers, workers and the source; the window may be gone already."""
        if self.controller is not None:
            self.controller.stop()
        if self.steering is not None:
            self.steering.stop()
        self.ops.shutdown()
        self._opener.close()

    def _loaded(self, source: EstateSource) -> None:
        # The frame stands before these are loaded, and a window that teaches needs none of them (_HEAVY has them).
        from app.window.controller import Controller
        from app.window.pages import build_pages

        self.window.status.show_message("")
        controller = Controller(source, self.window, self.ops, parent=self)
        self.controller = controller
        if not source.is_live:
            self.window.status.show_replay()
        if self._hosts is not None:
            self._hosts.fixed = not source.is_live
        self.window.setWindowTitle(f"{visible(source.title)} – Pilothouse")
        door = self._opener.door()
        shelf = self._opener.shelf()
        steps = build_pages(controller, self.window, self.ops, parent=self, steered=door is not None, shelf=shelf)
        self._build(steps, lambda pages: self._built(controller, pages, door))

    def _build(self, steps: Generator[None, None, Any], then: Callable[[Any], None]) -> None:
        """Build the next piece and let the event loop have a turn; `then` gets what the last one gives."""
        try:
            next(steps)
        except StopIteration as end:
            then(end.value)
        else:
            QTimer.singleShot(0, self, lambda: self._build(steps, then))

    def _built(self, controller: Controller, pages: Pages, door: ServiceDoor | None) -> None:
        """Show the estate; what procedures need is loaded while its hosts are asked."""
        if self._hosts is not None:
            from app.window.pages import wire_host_actions

            wire_host_actions(
                controller, self.window, self._hosts, self.ops, pages.finder, self._first_run, parent=self
            )
        controller.start()
        if door is None:
            self.ready.emit()
            return
        from app.window.pages import build_steering, import_steering

        def imported(_: None) -> None:
            self._build(build_steering(controller, self.window, pages, door, self.ops, parent=self), self._steered)

        QTimer.singleShot(STEERING_LATER_MS, self, lambda: self.ops.run("steering", import_steering, imported))

    def _steered(self, steering: Steering) -> None:
        self.steering = steering
        steering.begin()
        self.ready.emit()

    def _not_loaded(self, problem: UserError) -> None:
        self.failed = problem
        self.window.status.show_message("")
        from app.written_estate import InventoryRefused, NothingToWatch  # the opener imported it already

        if isinstance(problem, NothingToWatch):
            self._first_run(problem.told)
        else:
            refused = isinstance(problem, InventoryRefused)
            show_trouble(self.window, problem, of_inventory=refused).chosen.connect(self._leave_trouble)
        self.ready.emit()

    def _first_run(self, sentence: str = "") -> None:
        """Show the ways in of who watches no host."""
        page = show_first_run(self.window, sentence)
        page.demo_requested.connect(self._open_demo)
        if self._hosts is not None:
            page.add_host_requested.connect(self._hosts.open)
            page.import_requested.connect(self._hosts.open_import)
        if self._inventories is not None:
            page.other_inventory_requested.connect(self._inventories.open)
            page.new_inventory_requested.connect(self._inventories.make)

    def _leave_trouble(self, way: int) -> None:
        if way == OPEN_DEMO:
            self._open_demo()
        elif way == OTHER_INVENTORY and self._inventories is not None:
            self._inventories.open()
        elif way == NEW_INVENTORY and self._inventories is not None:
            self._inventories.make()
        else:
            self.begin_again()

    def begin_again(self) -> None:
        """Load anew in a window that has no estate yet."""
        self.failed = None
        self.window.messages.say(Health.WARN, ())
        self.window.leave_first_run()
        self.load()

    def _hosts_added(self, entries: tuple[HostEntry, ...]) -> None:
        if self.controller is None:
            self.begin_again()
        elif self.controller.source.is_live:
            watch(self.controller.source, entries)

    def _open_demo(self) -> None:
        from app.places import demo_recording

        try:
            recording = demo_recording()
        except UserError as problem:
            self._show_problem(problem)
            return
        if self.controller is not None:  # a window shows one source: the demo comes in the next one
            self.recording_wanted.emit(recording)
            return
        self._opener = RecordingOpener(recording, autoplay=True, start_s=None)
        self.begin_again()

    def _show_problem(self, problem: UserError) -> None:
        log.info("shown: %s", problem)
        self.window.messages.say_error(problem, tr("Dismiss"))


def watch(source: EstateSource, entries: tuple[HostEntry, ...]) -> None:
    """Watch more hosts in a live source."""
    from services.sampling.watcher import Watcher

    if isinstance(source, Watcher):
        source.add(entries)
