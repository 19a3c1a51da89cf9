"""Gives memory that is free again back to the system, after work that needed much of it for a moment.

glibc keeps what a thread freed for that thread's next request (man malloc_trim(3), mallopt(3): M_TRIM_THRESHOLD grows
with the largest block that was freed). Packing an hour of three servers left 13 MB so for good; giving it back took
0.5 ms. Elsewhere (musl, macOS, Windows) the allocator is left to itself.
"""

from __future__ import annotations

import ctypes
import functools
import sys
from collections.abc import Callable


@functools.cache
def _trim() -> Callable[[int], int] | None:
    if not sys.platform.startswith("linux"):
        return None
    found: Callable[[int], int] | None = getattr(ctypes.CDLL(None), "malloc_trim", None)
    return found


def give_free_memory_back() -> None:
    """Return free pages of the C heap to the system, where that can be asked for."""
    trim = _trim()
    if trim is not None:
        trim(0)
