"""A store filled with the stream of a real Galera node, and a clock that the test moves."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from services.clock import ManualClock
from services.history.store import HistoryStore
from services.sampling.metrics.catalogue import load_catalogue
from services.series import Sample
from tests.bench.support.stream import read_stream

START = 1_800_000_000.0  # on a whole hour


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(START)


@pytest.fixture
def store(tmp_path: Path, clock: ManualClock) -> Iterator[HistoryStore]:
    """An empty store that keeps aggregates of the catalogue."""
    opened = HistoryStore.open(
        tmp_path / "history.sqlite", clock=clock, background=False, derive=load_catalogue().derive
    )
    yield opened
    opened.close()


def galera_samples(seconds: int, start: float = START, server: str = "db1", first: int = 0) -> list[Sample]:
    """Return `seconds` samples of the recorded node, one a second from `start`."""
    source = read_stream("galera_node").samples(server)
    return [
        Sample(server, start + i, 1000.0 + start - START + i, source[(first + i) % len(source)].values, "1")
        for i in range(seconds)
    ]
