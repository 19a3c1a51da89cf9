"""Pulls the newest snapshot and events at the window's own pace and turns a change into one Qt signal."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from services.discovery.model import EstateSnapshot
from services.events import Event
from widgets.bridge.source import EstateSource


class Pump(QObject):
    """A timer on the GUI thread; however many samples came meanwhile, the window hears of the newest once.

    What a beat tells is told in turns of the event loop, one signal a turn: together with the paint that follows each,
    all of it at once holds the window up longer than a click may wait on a busy machine.

    Signals, in this order:
        snapshot_changed(EstateSnapshot): a newer snapshot object is there. What is drawn of it is made on a worker
            first (newest.py); this thread puts it in place.
        events_changed(tuple[Event, ...]): events were added or changed.
        ticked(float): each beat, with the source's present (epoch seconds).
    """

    snapshot_changed = Signal(object)
    events_changed = Signal(object)
    ticked = Signal(float)

    def __init__(self, source: EstateSource, interval_ms: int = 250, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._source = source
        self._snapshot: EstateSnapshot | None = None
        self._events: tuple[Event, ...] = ()
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.CoarseTimer)
        self._timer.setInterval(interval_ms)
        self._timer.timeout.connect(self._begin)
        self._parts: tuple[Callable[[], bool], ...] = (self._pull, self._pull_events, self._tick)
        self._left: list[Callable[[], bool]] = []
        self._turn = QTimer(self)
        self._turn.setInterval(0)
        self._turn.timeout.connect(self._next)

    def start(self) -> None:
        """Begin; the first beat begins at once."""
        self._timer.start()
        self._begin()

    def stop(self) -> None:
        """Stop pulling."""
        self._timer.stop()
        self._turn.stop()

    def beat(self) -> None:
        """Pull once and tell everything in this turn, for who looks at what it led to."""
        self._turn.stop()
        for part in self._parts:
            part()

    def _begin(self) -> None:
        """Pull once, in turns; a beat that is not through yet goes on instead."""
        if not self._turn.isActive():
            self._left = list(self._parts)
            self._turn.start()
            self._next()

    def _next(self) -> None:
        """Tell the next thing there is to tell."""
        while self._left and not self._left.pop(0)():
            pass
        if not self._left:
            self._turn.stop()

    def _pull(self) -> bool:
        snapshot = self._source.snapshot()
        if snapshot is self._snapshot:
            return False
        self._snapshot = snapshot
        self.snapshot_changed.emit(snapshot)
        return True

    def _pull_events(self) -> bool:
        events = tuple(self._source.events())
        if events == self._events:  # the end of a span stands where its beginning stood
            return False
        self._events = events
        self.events_changed.emit(events)
        return True

    def _tick(self) -> bool:
        self.ticked.emit(self._source.now())
        return True
