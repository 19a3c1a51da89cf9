"""How long a thread waited for a processor, as the kernel counted it: what nobody's code can be blamed for."""

from __future__ import annotations

import os
import threading


class RunQueueClock:
    """Reads one thread's time on the run queue, cheap enough (some microseconds) for every beat of a timer."""

    def __init__(self) -> None:
        self._file = -1

    def start(self) -> None:
        """Begin to read for the thread that calls this; elsewhere than on Linux `waited_ms` stays 0."""
        self.stop()
        try:
            self._file = os.open(f"/proc/self/task/{threading.get_native_id()}/schedstat", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            self._file = -1

    def stop(self) -> None:
        """Give the file back."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def waited_ms(self) -> float:
        """Return how long the thread was ready to run and got no processor, ms, since it began.

        The second number of schedstat, nanoseconds (Linux: Documentation/scheduler/sched-stats.rst).
        """
        if self._file < 0:
            return 0.0
        fields = os.pread(self._file, 96, 0).split()
        return int(fields[1]) / 1e6 if len(fields) > 1 else 0.0
