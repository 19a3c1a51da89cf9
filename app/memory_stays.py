"""The memory of this program stays in it: no core dump, no reading by other programs of the same person (Linux)."""

from __future__ import annotations

import contextlib
import ctypes
import sys

_PR_SET_DUMPABLE = 4
"""man prctl(2): no core dump, /proc/PID belongs to root, and no ptrace by other programs of the person."""


def keep_memory_inside() -> None:
    """Turn core dumps off for this program and its children; where a system has no such thing, nothing is done.

    Passwords are in memory while they are used. A dump is a file that crash reporters send around.
    """
    if sys.platform == "win32":
        return
    import resource

    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform.startswith("linux"):
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
