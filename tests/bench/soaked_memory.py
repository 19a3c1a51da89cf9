"""The course of a process's memory: read each minute beside the program, and judged by its slope once all is full.

numpy is imported late: a soak lets the program say first how numpy behaves.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

EVERY_S = 60.0
FULL_S = 22 * 60.0
"""By then all that is bounded has grown to its bound: hot rings hold ten minutes, a chart's default span is fifteen,
the blocks remembered for it reach five minutes further back, and the newest of them is written a little after its five
minutes end (two runs stood still from minute 22 on). What still grows afterwards, grows without end."""
FLAT_SHARE_PER_HOUR = 0.02


@dataclass(frozen=True, slots=True)
class Memory:
    """One reading, bytes; at_s: seconds since the beginning. Anonymous is what the program itself asked for."""

    at_s: float
    resident: int
    proportional: int
    anonymous: int


@dataclass(frozen=True, slots=True)
class Slope:
    """Growth of anonymous memory after `from_s`: bytes an hour by least squares, and what share of it that is."""

    from_s: float
    readings: int
    bytes_per_hour: float
    share_per_hour: float

    @property
    def flat(self) -> bool:
        """Return whether it grows by less than 2 % an hour."""
        return self.share_per_hour < FLAT_SHARE_PER_HOUR


def read_memory(at_s: float) -> Memory:
    """Return this process's memory now (man proc_pid_smaps_rollup(5), kB)."""
    found = {}
    for line in Path("/proc/self/smaps_rollup").read_text(encoding="ascii").splitlines()[1:]:
        name, _, rest = line.partition(":")
        found[name] = int(rest.split()[0]) * 1024
    return Memory(at_s, found["Rss"], found["Pss"], found["Anonymous"])


def slope(course: Sequence[Memory], from_s: float = FULL_S) -> Slope | None:
    """Return how memory grew after `from_s`, None with fewer than three readings of it."""
    late = [reading for reading in course if reading.at_s >= from_s]
    if len(late) < 3:
        return None
    import numpy as np

    times = np.array([reading.at_s for reading in late]) / 3600.0
    size = np.array([float(reading.anonymous) for reading in late])
    grown = float(np.polyfit(times, size, 1)[0])
    return Slope(from_s, len(late), grown, grown / float(size.mean()))


class MemoryCourse:
    """Reads on a thread of its own: going through the page tables must not count as the window's stall."""

    def __init__(self) -> None:
        self.readings: list[Memory] = []
        self._began = time.monotonic()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="soak-memory", daemon=True)

    def start(self) -> None:
        """Begin to read, the first time after a minute."""
        self._began = time.monotonic()
        self._thread.start()

    def stop(self) -> None:
        """End and wait."""
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        due = self._began + EVERY_S
        while not self._stop.wait(max(0.0, due - time.monotonic())):
            self.readings.append(read_memory(time.monotonic() - self._began))
            due += EVERY_S
