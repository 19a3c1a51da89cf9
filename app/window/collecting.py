"""Python's cyclic garbage is collected on the window's thread only.

By itself the collector runs on whichever thread happens to allocate. Where that is a worker and the garbage holds an
object of Qt (a closed dialog that its own slots hold in a circle), Qt's destructor runs on the wrong thread, and the
whole program ends: objects with a parent, windows above all, live on the window's thread (Qt, "Threads and QObjects").
"""

from __future__ import annotations

import gc
import time

from PySide6.QtCore import QObject, QTimer

BEAT_MS = 1_000
YOUNG = 20_000
"""Objects made and not yet freed, above which a beat looks at the young ones. An idle window makes fewer in minutes."""
SHARE = 0.001
"""The most of all time that looking at every object may take: one of 20 ms is followed by no other for 20 s."""
LEAST_S = 10.0


class Collecting(QObject):
    """Collects at its beats, on the thread that made it; the automatic collector is off meanwhile."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._next = 0.0
        self._timer = QTimer(self)
        self._timer.setInterval(BEAT_MS)
        self._timer.timeout.connect(self.beat)

    def begin(self) -> None:
        """Collect from now on; what was loaded stays for good, so no collection need look at it again."""
        if self._timer.isActive():
            return
        gc.disable()
        gc.freeze()
        self._next = time.monotonic() + LEAST_S
        self._timer.start()

    def end(self) -> None:
        """Leave it to Python again: Qt's objects of this window are gone, and its workers too."""
        if self._timer.isActive():
            self._timer.stop()
            gc.enable()

    def beat(self) -> None:
        """Look at every object where it is time, else at the young ones where there are many."""
        now = time.monotonic()
        if now >= self._next:
            gc.collect()
            took = time.monotonic() - now
            self._next = now + max(LEAST_S, took / SHARE)
        elif gc.get_count()[0] > YOUNG:
            gc.collect(0)
