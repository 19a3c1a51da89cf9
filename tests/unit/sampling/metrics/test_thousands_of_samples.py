"""What a sample leaves in memory is gone when it is old: objects are counted, over most of an hour of samples."""

from __future__ import annotations

import gc
import sys

from services.clock import ManualClock
from services.history.store import HistoryStore
from services.sampling.metrics.catalogue import load_catalogue
from services.sampling.metrics.rates_now import RatesNow
from services.sampling.metrics.reader import SeriesReader
from tests.unit.sampling.conftest import START, galera_samples

CHUNKS = 300
"""Seconds of a block: at its end nothing of the one before is left in memory, so moments that far apart compare."""
FEW, MANY = 3 * CHUNKS, 10 * CHUNKS
SPARE = 400
"""Objects: a handful for what SQLite and the interpreter remember; one a sample would be two thousand."""


def _objects(store: HistoryStore, reader: SeriesReader, now: float) -> int:
    """Return how many objects there are after a look at the last ten minutes, as a chart takes it."""
    for metric in ("load.questions", "galera.paused", "cpu.user"):
        reader.series("db1", metric, now - 600.0, now, 600)
    store.tidy()
    gc.collect()
    return sys.getallocatedblocks()


def test_that_thousands_of_samples_leave_no_more_objects_than_hundreds(store: HistoryStore, clock: ManualClock) -> None:
    reader = SeriesReader(store, load_catalogue())
    rates = RatesNow(reader, clock)
    counted = {}
    for second, sample in enumerate(galera_samples(MANY), start=1):
        clock.advance(1.0)
        store.append(sample)
        if second % 30 == 0:
            rates.sampled("db1")
            rates.all()
            store.flush()
            store.tidy()
        if second in {FEW, MANY}:
            counted[second] = _objects(store, reader, START + second)
    assert counted[MANY] - counted[FEW] < SPARE
