"""File locks, so that two runs of the lab on one machine wait for each other instead of colliding."""

from __future__ import annotations

import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager

from tests.lab.estate.errors import LabTimeoutError
from tests.lab.estate.paths import cache_dir


@contextmanager
def lab_lock(name: str, *, limit_s: float = 600.0) -> Iterator[None]:
    """Hold the lock called `name`; the kernel gives it back when the process ends, however it ends."""
    folder = cache_dir() / "locks"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / name).open("w", encoding="utf-8") as handle:
        deadline = time.monotonic() + limit_s
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError as exc:
                if time.monotonic() > deadline:
                    raise LabTimeoutError(f"another run of the lab has held {name} for {limit_s:g} s") from exc
                time.sleep(0.2)
        yield
