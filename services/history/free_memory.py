"""Gives memory that is free again back to the system, after work that needed much of it for a moment.

glibc keeps what a thread freed for that thread's next request. `malloc_trim` returns its whole free pages (man
malloc_trim(3)), but not those at the end of a thread's own heap. That end goes back when something is freed and the end
is larger than M_TRIM_THRESHOLD, which glibc raises by itself to twice the largest mapped block that was freed (man
mallopt(3), M_MMAP_THRESHOLD): after the first packed hour 14 MB stayed for good, with not a byte more in use. So both
limits are set once and stay. Elsewhere (musl, macOS, Windows) the allocator is left to itself.
"""

from __future__ import annotations

import ctypes
import functools
import sys
from collections.abc import Callable

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
"""malloc.h: M_TRIM_THRESHOLD, M_MMAP_THRESHOLD."""
KEPT_FREE = 2 * 2**20
"""Free bytes that may stay at the end of a heap. With half of it a day of seconds took twice as long to be put into
minutes: its arrays were given back and asked for again, one after the other."""
MAPPED_FROM = 4 * 2**20
"""Bytes from which on a block has pages of its own, which go back with it: what packing an hour needs, but nothing that
a chart asks for each second."""


@functools.cache
def _of_glibc(name: str) -> Callable[..., int] | None:
    if not sys.platform.startswith("linux"):
        return None
    found: Callable[..., int] | None = getattr(ctypes.CDLL(None), name, None)
    return found


def limit_free_memory() -> None:
    """Say how much free memory may be kept; call at start, before other threads run."""
    limit = _of_glibc("mallopt")
    if limit is not None:
        limit(_TRIM_THRESHOLD, KEPT_FREE)
        limit(_MMAP_THRESHOLD, MAPPED_FROM)


def give_free_memory_back() -> None:
    """Return free pages of the C heap to the system, where that can be asked for."""
    trim = _of_glibc("malloc_trim")
    if trim is not None:
        trim(0)
