"""Pulls the newest snapshot and events at the window's own pace and turns a change into one Qt signal."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from services.discovery.model import EstateSnapshot
from widgets.bridge.source import EstateSource


class Pump(QObject):
    """A timer on the GUI thread; however many samples came meanwhile, the window hears of the newest once.

    Signals:
        snapshot_changed(EstateSnapshot): a newer snapshot object is there.
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
        self._events_mark: tuple[int, object] = (0, None)
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.CoarseTimer)
        self._timer.setInterval(interval_ms)
        self._timer.timeout.connect(self.beat)

    def start(self) -> None:
        """Begin; the first beat comes at once."""
        self._timer.start()
        self.beat()

    def stop(self) -> None:
        """Stop pulling."""
        self._timer.stop()

    def beat(self) -> None:
        """Pull once."""
        snapshot = self._source.snapshot()
        if snapshot is not self._snapshot:
            self._snapshot = snapshot
            self.snapshot_changed.emit(snapshot)
        events = tuple(self._source.events())
        mark = (len(events), events[-1] if events else None)
        if mark != self._events_mark:
            self._events_mark = mark
            self.events_changed.emit(events)
        self.ticked.emit(self._source.now())
