"""Tells the live estate which nodes runs move now, so that what is done on purpose is not told as a fault."""

from __future__ import annotations

from app.window.controller import Controller
from services.discovery.judgement.on_purpose import OnPurpose
from services.procedures.journal.taken_down import taken_down
from services.procedures.plan.run_model import RunView
from widgets.bridge.standing import Standing


class PlannedMoves:
    """Joins the newest view of each run, of this program or of another that keeps the same journal, with the estate.

    A run of a console with a journal of its own is not known here: what it stops is told like any other stop.
    """

    def __init__(self, controller: Controller) -> None:
        self._controller = controller
        self._runs: dict[str, RunView] = {}
        self._told: tuple[OnPurpose, ...] = ()

    def saw(self, view: RunView) -> None:
        """Take the newest view of a run that is driven here."""
        self._runs[view.run_id] = view
        self._tell()

    def stood(self, standing: Standing, driven: tuple[str, ...]) -> None:
        """Take what the journal tells; of a run that is driven here its own views are newer."""
        kept = {run_id: view for run_id, view in self._runs.items() if run_id in driven}
        self._runs = {view.run_id: view for view in standing.unfinished} | kept
        self._tell()

    def _tell(self) -> None:
        moved = taken_down(self._runs.values())
        tell = getattr(self._controller.source, "on_purpose", None)
        if tell is not None and moved != self._told:
            self._told = moved
            tell(moved)
