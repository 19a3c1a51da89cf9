"""The course of a process's memory: read each minute beside the program, and judged by the slope of what it holds.

Pages alone can't tell: the C library keeps what was freed for a while, and the window's bounded stores fill for more
than an hour (rings of ten minutes, curves of forty, opened blocks of an hour). So what is judged is what the program
has in use, in the C heap and as Python's objects, the first less what these stores hold. Both rise and fall with the
block of five minutes that is being filled, and leap while an hour is packed: so each reading is compared with those a
whole number of blocks before it, and the median counts.
"""

from __future__ import annotations

import ctypes
import statistics
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

EVERY_S = 60.0
BLOCK = 5
"""Readings from one block's end to the next."""
SETTLED_S = 15 * 60.0
"""By then every page was shown, and the node that a soak of half an hour kills is back."""
FLAT_SHARE_PER_HOUR = 0.02
SPARE_BYTES, SPARE_OBJECTS = 1e6, 10_000.0
"""So much in all is no growth that a short soak can tell from caches of words and widths that still fill: with scripted
hosts half of it came from minute 15 to 30, and a third of it in the hour after that."""


@dataclass(frozen=True, slots=True)
class Memory:
    """One reading, bytes; at_s: seconds since the beginning.

    Attributes:
        anonymous: pages that the program itself asked for, with those that the C library keeps free for it.
        in_use: of the C heap, without what it keeps free; 0 where the C library does not tell.
        objects: how many blocks Python's own allocator has given out.
        bounded: of `in_use`, what stores hold that grow up to a known size and no further.
    """

    at_s: float
    resident: int
    proportional: int
    anonymous: int
    in_use: int = 0
    objects: int = 0
    bounded: int = 0


@dataclass(frozen=True, slots=True)
class Slope:
    """Growth after `SETTLED_S`: how much an hour, what share of the whole that is, and for how long it was watched.

    `spare`: what may have grown in all that time.
    """

    readings: int
    per_hour: float
    share_per_hour: float
    hours: float
    spare: float

    @property
    def flat(self) -> bool:
        """Return whether it grows by less than 2 % an hour, or by too little to tell."""
        return self.share_per_hour < FLAT_SHARE_PER_HOUR or self.per_hour * self.hours < self.spare


class _Heap(ctypes.Structure):
    """struct mallinfo2 (man mallinfo(3), glibc 2.33): sizes in bytes."""

    _fields_ = tuple((name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost",
    ))  # fmt: skip


def heap_in_use() -> int:
    """Return the bytes of the C heap that are given out, 0 where the C library does not tell."""
    tell = getattr(ctypes.CDLL(None), "mallinfo2", None)
    if tell is None:
        return 0
    tell.restype = _Heap
    heap = tell()
    return int(heap.uordblks + heap.hblkhd)


def sqlite_in_use() -> int:
    """Return the bytes that SQLite holds: page caches, each with a limit of its own (services/history/file.py)."""
    try:
        tell = ctypes.CDLL("libsqlite3.so.0").sqlite3_memory_used
    except OSError:
        return 0
    tell.restype = ctypes.c_int64
    return int(tell())


def read_memory(at_s: float, bounded: int = 0) -> Memory:
    """Return this process's memory now (man proc_pid_smaps_rollup(5), kB)."""
    found = {}
    for line in Path("/proc/self/smaps_rollup").read_text(encoding="ascii").splitlines()[1:]:
        name, _, rest = line.partition(":")
        found[name] = int(rest.split()[0]) * 1024
    pages = found["Rss"], found["Pss"], found["Anonymous"]
    return Memory(at_s, *pages, heap_in_use(), sys.getallocatedblocks(), bounded)


def held_slope(course: Sequence[Memory]) -> Slope | None:
    """Return how the C heap in use grew, less what bounded stores hold; None with too few readings, or none of it."""
    if not all(reading.in_use for reading in course):
        return None
    return _slope(course, lambda reading: float(reading.in_use - reading.bounded), SPARE_BYTES)


def objects_slope(course: Sequence[Memory]) -> Slope | None:
    """Return how Python's objects grew in number, None with too few readings."""
    return _slope(course, lambda reading: float(reading.objects), SPARE_OBJECTS)


def _slope(course: Sequence[Memory], size_of: Callable[[Memory], float], spare: float) -> Slope | None:
    late = [reading for reading in course if reading.at_s >= SETTLED_S]
    found = [
        (size_of(after) - size_of(before)) / (after.at_s - before.at_s) * 3600.0
        for apart in range(BLOCK, len(late), BLOCK)
        for before, after in zip(late, late[apart:], strict=False)
    ]
    if not found:
        return None
    grown = statistics.median(found)
    share, hours = grown / statistics.median(map(size_of, late)), (late[-1].at_s - late[0].at_s) / 3600.0
    return Slope(len(late), grown, share, hours, spare)


class MemoryCourse:
    """Reads on a thread of its own: going through the page tables must not count as the window's stall.

    Attributes:
        bounded: the bytes that bounded stores hold; the window's thread counts them now and then.
    """

    def __init__(self) -> None:
        self.readings: list[Memory] = []
        self.bounded = 0
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
            self.readings.append(read_memory(time.monotonic() - self._began, self.bounded))
            due += EVERY_S
