"""Stores on temporary files with a clock that the test moves, and a real stream to put into them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from services.clock import ManualClock
from services.history.store import HistoryStore
from services.series import Sample
from tests.bench.support.stream import read_stream

START = 1_800_000_000.0  # on a whole hour


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(START)


@pytest.fixture
def open_store(tmp_path: Path, clock: ManualClock) -> Iterator[Callable[..., HistoryStore]]:
    """Open stores by name; everything opened is closed at the end."""
    opened: list[HistoryStore] = []

    def open_(name: str = "history.sqlite", **options: object) -> HistoryStore:
        store = HistoryStore.open(tmp_path / name, **{"clock": clock, "background": False, **options})  # type: ignore[arg-type]
        opened.append(store)
        return store

    yield open_
    for store in opened:
        store.close()


@pytest.fixture
def fill(clock: ManualClock) -> Callable[..., list[Sample]]:
    """Append `seconds` of a real stream, one a second from the clock's now, moving the clock; return the samples."""

    def fill_(
        store: HistoryStore, seconds: int, server: str = "db1", epoch: str = "1", house: bool = False
    ) -> list[Sample]:
        source = read_stream("mariadb_status").samples(server)
        added = []
        for i in range(seconds):
            origin = source[i % len(source)]
            sample = Sample(server, clock.wall(), clock.monotonic(), origin.values, epoch)
            store.append(sample)
            added.append(sample)
            store.flush()
            clock.advance(1.0)
            if house:
                store.tidy()
        return added

    return fill_
