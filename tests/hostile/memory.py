"""How far the memory of this process grew at its highest, while something ran."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Growth:
    """Bytes above what was resident before, at the highest (0 where the system does not tell)."""

    bytes: int = 0


def resident() -> int:
    """Return the resident bytes of this process, 0 where the system does not tell (proc_pid_statm(5))."""
    with contextlib.suppress(OSError):
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * 4096
    return 0


@contextlib.contextmanager
def grown() -> Iterator[Growth]:
    """Watch the memory fifty times a second."""
    growth, before, over = Growth(), resident(), threading.Event()

    def look() -> None:
        while True:
            growth.bytes = max(growth.bytes, resident() - before)
            if over.wait(0.02):
                return

    thread = threading.Thread(target=look, name="memory")
    thread.start()
    try:
        yield growth
    finally:
        over.set()
        thread.join()
