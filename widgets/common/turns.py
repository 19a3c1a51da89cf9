"""Painting in turns: what one tick changes in the window is painted over several turns of the event loop.

All plots of a page at once hold the window up for longer than a person's click may wait (a dozen cost 20 ms of CPU
time, three times that where the machine is busy). One after the other, a few milliseconds a turn, input and every other
timer come in between, and the page is whole again before an eye could tell one plot from the next. What Qt paints after
its turn (drawing, event strip) has a turn alone: its frame is nobody else's.
"""

from __future__ import annotations

import time
from typing import Protocol

from PySide6.QtCore import QObject, QTimer
from shiboken6 import isValid

TURN_S = 0.003
"""A turn ends when this much of it is spent; it does at least one piece of work."""


class Waiting(Protocol):
    """What waits for its turn: hashable by identity, as every widget is."""

    def in_sight(self) -> bool:
        """Return whether a person could see it now: what is in sight goes first."""

    def take_turn(self) -> None:
        """Do the work with the newest data there are; what is out of sight may leave it until it is seen."""


class Turns(QObject):
    """A queue of work on widgets, each of them in it at most once (GUI thread only)."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._queue: dict[Waiting, bool] = {}
        self._timer = QTimer(self)
        self._timer.setInterval(0)
        self._timer.timeout.connect(self._turn)

    @property
    def waiting(self) -> bool:
        """Return whether anything waits."""
        return bool(self._queue)

    def ask(self, who: Waiting, *, alone: bool = False) -> None:
        """Give `who` a turn soon; one that waits already keeps its place, so the newest state is shown and no other.

        Args:
            alone: nobody else gets the same turn, because Qt paints what it did right after it.
        """
        self._queue[who] = alone
        if not self._timer.isActive():
            self._timer.start()

    def holds(self, who: Waiting) -> bool:
        """Return whether `who` waits for its turn."""
        return who in self._queue

    def drop(self, who: Waiting) -> None:
        """Forget `who`: it is shown no longer, or did its work already."""
        self._queue.pop(who, None)

    def finish(self) -> None:
        """Do everything that waits at once: for a picture of the page."""
        while (who := self._next()) is not None:
            self._take(who)
        self._timer.stop()

    def _turn(self) -> None:
        end = time.perf_counter() + TURN_S
        begun = False
        while (who := self._next()) is not None:
            alone = self._queue[who]
            if alone and begun:
                return
            begun = True
            self._take(who)
            if alone or time.perf_counter() >= end:
                return
        self._timer.stop()

    def _next(self) -> Waiting | None:
        for gone in [each for each in self._queue if not isValid(each)]:
            del self._queue[gone]  # a card that was taken off may ask once more before Qt destroys it
        return next((each for each in self._queue if each.in_sight()), None) or next(iter(self._queue), None)

    def _take(self, who: Waiting) -> None:
        del self._queue[who]
        who.take_turn()
