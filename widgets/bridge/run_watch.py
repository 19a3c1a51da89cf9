"""Notices what another program of this workstation writes into the journal of runs: a command line in a terminal."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Protocol

from PySide6.QtCore import QObject, QTimer

from services.errors import UserError
from widgets.bridge.ops import Ops

EVERY_MS = 2000


class Marked(Protocol):
    """A journal that tells cheaply where it stands; asked on a worker, raises StoreError."""

    def marks(self) -> Mapping[str, int]:
        """Return the number of each run's last entry."""

    def written_elsewhere(self, run_id: str) -> bool:
        """Tell whether another program of this workstation writes the run now."""


class RunWatch(QObject):
    """Asks on a worker how far each run's journal goes; where one went on that nobody here writes, it says so.

    It also notices that another program has let go of a run, or was killed: that leaves no entry.
    """

    def __init__(self, ops: Ops, ours: Collection[str], changed: Callable[[], None], parent: QObject) -> None:
        """Watch nothing yet.

        Args:
            ours: the runs that are driven here, always as they are now; what they write is told by their engines.
            changed: called when the journal is to be read anew.
        """
        super().__init__(parent)
        self._ops = ops
        self._ours = ours
        self._changed = changed
        self._journal: Marked | None = None
        self._known: Mapping[str, int] = {}
        self._strange: tuple[str, ...] = ()
        self._asking = False
        self._timer = QTimer(self)
        self._timer.setInterval(EVERY_MS)
        self._timer.timeout.connect(self._ask)

    def begin(self, journal: Marked) -> None:
        """Watch this journal."""
        self._journal = journal
        self._timer.start()

    def stop(self) -> None:
        """Ask no more."""
        self._timer.stop()

    def read(self, marks: Mapping[str, int], strange: tuple[str, ...]) -> None:
        """Take how far the journal went when it was read last, and which runs another program drove then."""
        self._known, self._strange = marks, strange

    def _ask(self) -> None:
        journal, strange = self._journal, self._strange
        if self._asking or journal is None:
            return  # a store that takes its time is not asked twice
        self._asking = True

        def work() -> tuple[Mapping[str, int], bool]:
            return journal.marks(), any(not journal.written_elsewhere(run) for run in strange)

        self._ops.run("marks", work, self._told, self._not_told)

    def _told(self, found: tuple[Mapping[str, int], bool]) -> None:
        self._asking = False
        marks, let_go = found
        if let_go or any(self._known.get(run) != last and run not in self._ours for run, last in marks.items()):
            self._changed()

    def _not_told(self, problem: UserError) -> None:
        """A store that can't be read is told of by whoever needs it, not every other second."""
        del problem
        self._asking = False
