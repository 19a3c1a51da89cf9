"""The window once its last host is no longer watched: as it stood before the first one, until one is watched again."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject

from app.window.controller import Controller
from app.window.main_window import MainWindow
from services.discovery.model import EstateSnapshot
from services.types import Health


class NobodyLeft(QObject):
    """Shows the first page in place of a host that is gone, and takes it away with the next one.

    Args:
        watched: whether any host is watched now. first_run: shows the page with the ways in.
    """

    def __init__(
        self, controller: Controller, window: MainWindow, watched: Callable[[], bool], first_run: Callable[[], object]
    ) -> None:
        super().__init__(controller)
        self._controller = controller
        self._window = window
        self._watched = watched
        self._first_run = first_run
        self._here = False
        controller.pump.snapshot_changed.connect(self._changed)

    def _changed(self, estate: EstateSnapshot) -> None:
        left = not estate.clusters and not self._watched()
        if left == self._here:
            return
        self._here = left
        self._window.show_strip(shown=not left)  # what it tells is of hosts that are gone; undo brings it back
        if left:
            self._controller.go_live()
            self._window.messages.say(Health.WARN, ())
            self._first_run()
        else:
            self._controller.begin_waiting()
            self._window.leave_first_run()
