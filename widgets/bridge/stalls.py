"""Measures the window's own event loop from inside: how late a short timer comes is how long the window was blocked."""

from __future__ import annotations

import time

from PySide6.QtCore import QObject, Qt, QTimer

LIMIT_MS = 50.0
_INTERVAL_MS = 20


class StallMeter(QObject):
    """A 20 ms timer's lateness.

    Attributes:
        worst_ms: longest stall since the last `take`; over_limit: how many were longer than 50 ms, since the start.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.worst_ms = 0.0
        self.worst_ever_ms = 0.0
        self.over_limit = 0
        self._last = time.perf_counter()
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(_INTERVAL_MS)
        self._timer.timeout.connect(self._beat)

    def start(self) -> None:
        """Begin measuring from now."""
        self._last = time.perf_counter()
        self._timer.start()

    def stop(self) -> None:
        """Stop measuring."""
        self._timer.stop()

    def take(self) -> float:
        """Return the longest stall in ms since the last call, and forget it."""
        worst, self.worst_ms = self.worst_ms, 0.0
        return worst

    def _beat(self) -> None:
        now = time.perf_counter()
        late_ms = (now - self._last) * 1000.0 - _INTERVAL_MS
        self._last = now
        if late_ms > self.worst_ms:
            self.worst_ms = late_ms
            self.worst_ever_ms = max(self.worst_ever_ms, late_ms)
        if late_ms > LIMIT_MS:
            self.over_limit += 1
