"""Two Primary Components that nobody has settled, in the window: told on every page, settled by a person's word.

The pictures of the estate say when there is something to tell; the store is read then, on a worker, and not before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject

from app.window.controller import Controller
from app.window.main_window import MainWindow
from services.discovery.model import NOT_SETTLED, TWO_PRIMARIES, EstateSnapshot
from services.errors import BadInput, UserError
from services.i18n import tr
from widgets.bridge.ops import Ops
from widgets.procedures.split_notice import SplitNotice, SplitWords

if TYPE_CHECKING:
    from services.history.state.split_log import Split


class SplitDoor(Protocol):
    """Reads and settles what the state store keeps (app.window.steering.door.ServiceDoor)."""

    def open_splits(self) -> tuple[Split, ...]:
        """Return what is not settled; raise UserError."""

    def settle(self, cluster_uuid: str, reason: str) -> None:
        """Settle what is open of a cluster, by this person; raise UserError."""


class SplitWatch(QObject):
    """Fills the notice whenever the pictures begin or cease to tell of two Primary Components."""

    def __init__(self, controller: Controller, window: MainWindow, door: SplitDoor, ops: Ops, parent: QObject) -> None:
        super().__init__(parent)
        self._window = window
        self._door = door
        self._ops = ops
        self._told: frozenset[tuple[str, str]] = frozenset()
        self.notice = SplitNotice()
        self.notice.settle_wanted.connect(self._settle)
        window.add_notice(self.notice)
        controller.pump.snapshot_changed.connect(self._changed)

    def _changed(self, estate: EstateSnapshot) -> None:
        codes = {TWO_PRIMARIES, NOT_SETTLED}
        pairs = {(c.cluster_id, p.code) for c in estate.clusters for p in c.problems if p.code in codes}
        pairs |= {("", p.sentence) for p in estate.problems if p.code in codes}
        if pairs != self._told:
            self._told = frozenset(pairs)
            self._look()

    def _look(self) -> None:
        now = self._now()
        self._ops.run("splits", lambda: self._read(now), self._show, self._failed)

    def _now(self) -> frozenset[str]:
        """Return the clusters of which two Primary Components are seen at this very time."""
        return frozenset(cluster_id for cluster_id, code in self._told if code == TWO_PRIMARIES)

    def _show(self, found: tuple[SplitWords, ...]) -> None:
        self.notice.show_splits(found)
        if not self._now() <= {story.cluster_uuid for story in found}:
            self._told = frozenset()  # a story is kept from the second look on: read again with the next picture

    def _read(self, now: frozenset[str]) -> tuple[SplitWords, ...]:
        from services.procedures.engine.endings.settling import meaning  # SQLAlchemy behind it: on a worker

        found = self._door.open_splits()
        return tuple(
            SplitWords(s.cluster_uuid, s.cluster_name or s.cluster_uuid, meaning(s, now=s.cluster_uuid in now))
            for s in found
        )

    def _settle(self, cluster_uuid: str, reason: str) -> None:
        if cluster_uuid in self._now():
            self._failed(_not_over())
            return

        def work() -> None:
            self._door.settle(cluster_uuid, reason)

        self._ops.run("settle", work, lambda _done: self._look(), self._failed)

    def _failed(self, problem: UserError) -> None:
        self._window.messages.say_error(problem, tr("Dismiss"))


def _not_over() -> BadInput:
    return BadInput(
        tr("Both Primary Components still exist: there is nothing to settle yet."),
        safe=tr("Settling changes no server; it only closes this notice."),
        try_=(
            tr(
                "Stop the servers of the side that you discard, and return each one with Add a node: it compares "
                "both histories."
            ),
        ),
    )
