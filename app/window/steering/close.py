"""Closing the window while it drives a run: asked first, in the window; then the run is suspended, never cut."""

from __future__ import annotations

from PySide6.QtCore import QObject

from app.window.main_window import MainWindow
from services.i18n import tr
from widgets.bridge.runs import Runs
from widgets.procedures.run.confirm_strip import ConfirmStrip


class CloseQuestion(QObject):
    """Lets the window close at once while nothing is driven, else only after the person's word."""

    def __init__(self, runs: Runs, window: MainWindow, parent: QObject) -> None:
        super().__init__(parent)
        self._runs = runs
        self._window = window
        self._agreed = False
        self.strip = ConfirmStrip()
        window.add_notice(self.strip)
        window.may_close = self.may_close

    def may_close(self) -> bool:
        """Return whether the window may go now; ask where it may not yet."""
        driven = self._runs.driven
        if self._agreed or not driven:
            return True
        numbers = ", ".join(driven)
        self.strip.ask(
            tr("Run {run} is active. Close the window anyway?", run=numbers),
            (
                tr("The run is suspended before its next action; work already started on a host continues there."),
                tr("Temporary changes stay on until the run is resumed or undone."),
                tr("The next start shows its exact state: resume {run} or undo {run}.", run=numbers),
            ),
            tr("&Suspend and close"),
            lambda _reason: self._suspend(),
        )
        self._window.activateWindow()
        return False

    def _suspend(self) -> None:
        self._window.status.show_message(tr("suspending the run…"))
        self._runs.suspend(self._suspended)

    def _suspended(self, _all_ended: bool) -> None:
        self._agreed = True
        self._window.close()
