"""What the history keeps in memory stays bounded: blocks that nobody reads any more go, and freed memory goes back."""

from __future__ import annotations

import platform
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from services.clock import ManualClock
from services.history.columns.codec import Table, encode
from services.history.columns.reading import KEPT_S, BlockCache
from services.history.free_memory import give_free_memory_back
from services.history.store import HistoryStore
from services.series import Sample

MEGABYTE = 2**20


def _block() -> bytes:
    ids = np.array([16], np.uint32)
    return encode(Table(3, np.zeros(0, np.uint32), np.zeros(0), ids, np.array([[1.0, 2.0, 4.0]])))


def _anonymous() -> int:
    lines = Path("/proc/self/smaps_rollup").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("Anonymous:"))


def test_that_a_block_is_opened_once_for_many_readers(clock: ManualClock) -> None:
    cache, data = BlockCache(clock), iter([_block()])
    found = set()
    for _ in range(12):
        found.add(cache.get((1, 0.0), lambda: next(data)))
        clock.advance(KEPT_S - 1.0)
    assert len(found) == 1


def test_that_blocks_that_nobody_asked_for_in_two_minutes_are_forgotten(clock: ManualClock) -> None:
    cache, data = BlockCache(clock), _block()
    for number in range(5):
        cache.get((number, 0.0), lambda: data)
    clock.advance(KEPT_S / 2)
    cache.get((3, 0.0), lambda: data)
    assert len(cache) == 5
    clock.advance(KEPT_S / 2 + 1.0)
    cache.get((9, 0.0), lambda: data)
    assert len(cache) == 2


def test_that_a_store_forgets_opened_blocks_that_nobody_asks_for_any_more(
    open_store: Callable[..., HistoryStore], fill: Callable[..., list[Sample]], clock: ManualClock
) -> None:
    store, begun = open_store(), clock.wall()
    fill(store, 700)
    store.flush()
    store.read("db1", ("uptime",), begun, begun + 60.0)
    assert len(store._file._cache) == 1
    clock.advance(KEPT_S + 1.0)
    store.tidy()
    assert len(store._file._cache) == 0


def test_that_no_more_blocks_are_remembered_than_the_size_allows(clock: ManualClock) -> None:
    cache, data = BlockCache(clock, size=4), _block()
    for number in range(10):
        cache.get((number, 0.0), lambda: data)
    assert len(cache) == 4


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc can be asked")
def test_that_memory_another_thread_freed_goes_back_to_the_system() -> None:
    last: list[bytearray] = []

    def work() -> None:
        pieces = [bytearray(b"x" * 60_000) for _ in range(600)]
        last.append(pieces[-1])  # the newest stays, so the C library does not shrink the heap by itself

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    before = _anonymous()
    give_free_memory_back()
    assert before - _anonymous() > 25 * MEGABYTE


LEFT_BEHIND = """
import threading
from pathlib import Path
import app.__main__  # for what it sets
from services.history.free_memory import give_free_memory_back

def anonymous():
    lines = Path("/proc/self/smaps_rollup").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("Anonymous:"))

def work():
    bytearray(b"x" * 16_000_000)  # as large as a packed hour's columns: glibc raises its own limit by it
    pieces = [bytearray(b"x" * 90_000) for _ in range(200)]
    pieces.clear()  # free at the end of the thread's heap
    give_free_memory_back()
    after.append(anonymous())

after = [anonymous()]
thread = threading.Thread(target=work)
thread.start()
thread.join()
print(after[1] - after[0])
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc keeps memory so")
def test_that_a_thread_that_needed_much_for_a_moment_leaves_little_behind() -> None:
    """In a process of its own: what was freed before would be used again."""
    said = subprocess.run(
        [sys.executable, "-c", LEFT_BEHIND], capture_output=True, text=True, check=True, timeout=60
    ).stdout
    assert int(said) < 4 * MEGABYTE
