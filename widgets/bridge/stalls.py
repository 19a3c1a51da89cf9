"""Measures the window's own event loop from inside: how late a short timer comes is how long the window was blocked."""

from __future__ import annotations

import logging
import time
from collections import deque
from dataclasses import dataclass

from PySide6.QtCore import QObject, Qt, QTimer

from widgets.bridge.run_queue import RunQueueClock
from widgets.bridge.stall_watch import StallWatch

log = logging.getLogger(__name__)

LIMIT_MS = 50.0
KEPT = 512
_INTERVAL_MS = 20


@dataclass(frozen=True, slots=True)
class Stall:
    """The event loop stood still for more than 50 ms.

    Attributes:
        at: when it ended, UTC epoch seconds. ms: how long it lasted.
        own_ms, process_ms: CPU time of the window's thread and of the whole process meanwhile. Much of the second only:
            another thread of ours held it up.
        queued_ms: how long the window's thread was ready to run and the machine gave it no processor (Linux; else 0).
        doing: the innermost Python calls of the window's thread while it stood still, the innermost first.
    """

    at: float
    ms: float
    own_ms: float
    process_ms: float
    doing: str
    queued_ms: float = 0.0

    @property
    def ours_ms(self) -> float:
        """Return the part of it that was not spent waiting for a processor."""
        return max(0.0, self.ms - self.queued_ms)


class StallMeter(QObject):
    """A 20 ms timer's lateness.

    Attributes:
        worst_ms: longest stall since the last `take`; over_limit: how many were longer than 50 ms, since the start.
        stalls: the newest of those over 50 ms, oldest first, at most 512.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.worst_ms = 0.0
        self.worst_ever_ms = 0.0
        self.over_limit = 0
        self.stalls: deque[Stall] = deque(maxlen=KEPT)
        self._watch = StallWatch(_INTERVAL_MS)
        self._queue = RunQueueClock()
        self._last = self._own = self._process = self._queued = 0.0
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(_INTERVAL_MS)
        self._timer.timeout.connect(self._beat)

    def start(self) -> None:
        """Begin measuring from now, the thread that calls this."""
        self._queue.start()
        self._last, self._own, self._process = time.perf_counter(), time.thread_time(), time.process_time()
        self._queued = self._queue.waited_ms()
        self._watch.start()
        self._timer.start()

    def stop(self) -> None:
        """Stop measuring."""
        self._timer.stop()
        self._queue.stop()
        self._watch.stop()

    def take(self) -> float:
        """Return the longest stall in ms since the last call, and forget it."""
        worst, self.worst_ms = self.worst_ms, 0.0
        return worst

    def _beat(self) -> None:
        now, own, process = time.perf_counter(), time.thread_time(), time.process_time()
        queued = self._queue.waited_ms()
        late_ms = (now - self._last) * 1000.0 - _INTERVAL_MS
        doing = self._watch.beat(now)
        if late_ms > self.worst_ms:
            self.worst_ms = late_ms
            self.worst_ever_ms = max(self.worst_ever_ms, late_ms)
        if late_ms > LIMIT_MS:
            self.over_limit += 1
            cpu_ms = ((own - self._own) * 1000.0, (process - self._process) * 1000.0)
            stall = Stall(time.time(), late_ms, *cpu_ms, doing, queued - self._queued)
            self.stalls.append(stall)
            log.info("the window stood still for %.0f ms: %s", late_ms, doing or "nothing was seen")
        self._last, self._own, self._process, self._queued = now, own, process, queued
