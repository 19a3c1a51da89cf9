"""Saves a run's report where the person says: one self-contained HTML file, or Markdown."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog

from app.window.main_window import MainWindow
from app.window.steering.door import ServiceDoor
from services.errors import BadInput
from services.i18n import tr
from services.types import Health
from services.workstation.files import write_whole
from widgets.bridge.runs import Runs

if TYPE_CHECKING:
    from services.procedures.service.service import ProcedureService

_SUFFIX = {"html": ".html", "markdown": ".md"}


class ReportSaver(QObject):
    """Asks for a file, writes it on a worker, says where it is."""

    def __init__(self, runs: Runs, door: ServiceDoor, window: MainWindow, parent: QObject) -> None:
        super().__init__(parent)
        self._runs = runs
        self._door = door
        self._window = window

    def ask(self, run_id: str, kind: str) -> None:
        """Ask where to, then write ('html' or 'markdown')."""
        suffix = _SUFFIX[kind]
        name = f"pilothouse-run-{run_id}{suffix}"
        chosen, _ = QFileDialog.getSaveFileName(self._window, tr("Save the report"), name, f"*{suffix}")
        if chosen:
            path = Path(chosen)
            self.save(run_id, kind, path if path.suffix else path.with_suffix(suffix))

    def save(self, run_id: str, kind: str, path: Path) -> None:
        """Write the report on a worker."""
        door = self._door

        def work(service: ProcedureService) -> Path:
            from services.procedures.service.run_reports import html_of, markdown_of

            text = (html_of if kind == "html" else markdown_of)(service, run_id, door.history())
            try:
                write_whole(path, text)
            except OSError as problem:
                raise BadInput(
                    tr("{file} cannot be written: {why}.", file=path, why=problem.strerror or problem),
                    try_=(tr("Choose a folder you may write to."),),
                ) from problem
            return path

        self._runs.read("report", work, self._saved)

    def _saved(self, path: Path) -> None:
        self._window.messages.say(Health.GOOD, (tr("The report is in {file}.", file=path),), tr("Dismiss"))
