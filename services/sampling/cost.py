"""What watching costs: this process's CPU and memory and the polls' times, from the system's own books, portable.

CPU: os.times(). Memory: /proc/self/statm on Linux, the peak of getrusage(2) on macOS, GetProcessMemoryInfo on Windows.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import deque
from pathlib import Path

from services.clock import Clock
from services.sampling.model import ConsoleCost

KEPT_POLLS = 2_048
_STATM = Path("/proc/self/statm")


class PollCost:
    """Counts polls and reads the process's own cost. Thread-safe; lanes call `polled`, anyone calls `read`."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._started = clock.monotonic()
        self._lock = threading.Lock()
        self._times: deque[float] = deque(maxlen=KEPT_POLLS)
        self._polls = 0
        self._missed = 0
        self._stall_worst = 0.0
        self._stalls_over = 0

    def polled(self, milliseconds: float, missed: int = 0, *, answered: bool = True) -> None:
        """Count a poll that took so long, and how many were not made in their second because of it.

        What nobody answered took no time that says anything: while a connection waits for its next try it takes none.
        """
        with self._lock:
            if answered:
                self._times.append(milliseconds)
            self._polls += 1
            self._missed += missed

    def ui_stalled(self, worst_ms: float, over_limit: int) -> None:
        """Take the window's measure: its worst stall so far and how many were over 50 ms so far."""
        with self._lock:
            self._stall_worst = max(self._stall_worst, worst_ms)
            self._stalls_over = max(self._stalls_over, over_limit)

    def read(self) -> ConsoleCost:
        """Return the cost so far."""
        with self._lock:
            times = sorted(self._times)
            polls, missed, worst, over = self._polls, self._missed, self._stall_worst, self._stalls_over
        spent = os.times()
        return ConsoleCost(
            cpu_s=spent.user + spent.system,
            rss_bytes=resident_bytes(),
            polls=polls,
            missed_polls=missed,
            poll_ms_p50=_share(times, 0.5),
            poll_ms_p95=_share(times, 0.95),
            ui_stall_ms_max=worst,
            ui_stalls_over_50ms=over,
            uptime_s=self._clock.monotonic() - self._started,
        )


def _share(ordered: list[float], share: float) -> float:
    """Return the value below which `share` of the values lie (nearest rank)."""
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


def resident_bytes() -> int:
    """Return the resident memory of this process, 0 where the system doesn't say."""
    try:
        pages = int(_STATM.read_bytes().split()[1])
    except OSError:
        return _peak_bytes()
    return pages * os.sysconf("SC_PAGE_SIZE")


if sys.platform == "win32":

    def _peak_bytes() -> int:
        """Return WorkingSetSize of GetProcessMemoryInfo (psapi.h, PROCESS_MEMORY_COUNTERS)."""
        import ctypes
        from ctypes import wintypes

        class Counters(ctypes.Structure):
            _fields_ = (
                ("cb", wintypes.DWORD), ("PageFaultCount", wintypes.DWORD), ("PeakWorkingSetSize", ctypes.c_size_t),
                ("WorkingSetSize", ctypes.c_size_t), ("QuotaPeakPagedPoolUsage", ctypes.c_size_t),
                ("QuotaPagedPoolUsage", ctypes.c_size_t), ("QuotaPeakNonPagedPoolUsage", ctypes.c_size_t),
                ("QuotaNonPagedPoolUsage", ctypes.c_size_t), ("PagefileUsage", ctypes.c_size_t),
                ("PeakPagefileUsage", ctypes.c_size_t),
            )  # fmt: skip

        counters = Counters()
        counters.cb = ctypes.sizeof(counters)
        ctypes.windll.kernel32.GetCurrentProcess.restype = wintypes.HANDLE
        process = ctypes.windll.kernel32.GetCurrentProcess()
        found = ctypes.windll.psapi.GetProcessMemoryInfo(process, ctypes.byref(counters), counters.cb)
        return int(counters.WorkingSetSize) if found else 0

else:

    def _peak_bytes() -> int:
        """Return the most that was ever resident: ru_maxrss is bytes on macOS (man getrusage(2))."""
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
