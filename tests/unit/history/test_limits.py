"""Age, size and a full disk: the file stays within its cap for real, and a full disk stops nothing but the writing."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from services.clock import ManualClock
from services.history.store import HistoryStore
from services.sampling.cost import resident_bytes
from services.series import Sample
from services.types import Health

Open = Callable[..., HistoryStore]
Fill = Callable[..., list[Sample]]


def _fill_noise(store: HistoryStore, clock: ManualClock, hours: float) -> None:
    """An hour of samples that compress badly: 40 metrics of pseudo-random numbers, one sample every five seconds."""
    noise = random.Random(clock.wall())
    for i in range(int(hours * 720)):
        values = {f"m{k}": float(noise.getrandbits(32)) for k in range(40)}
        store.append(Sample("db1", clock.wall(), clock.monotonic(), values))
        clock.advance(5.0)
        if i % 12 == 0:
            store.flush()
            store.tidy()
    store.flush()
    store.tidy()


def _bytes_on_disk(path: Path) -> int:
    return sum(p.stat().st_size for p in path.parent.glob(path.name + "*"))


def test_that_the_size_cap_holds_on_disk_and_the_newest_hours_stay(
    open_store: Open, clock: ManualClock, tmp_path: Path
) -> None:
    cap = 1_500_000
    store = open_store(max_bytes=cap)
    start = clock.wall()
    path = tmp_path / "history.sqlite"
    largest = 0
    for _ in range(16):
        _fill_noise(store, clock, 1.0)
        largest = max(largest, path.stat().st_size)
    for _ in range(30):
        clock.advance(61.0)
        store.tidy()
    assert path.stat().st_size <= cap * 1.1
    assert largest <= cap * 1.5
    assert _bytes_on_disk(path) <= cap * 1.1 + 8 * 2**20  # the WAL has its own cap
    first, last = store.range() or (0.0, 0.0)
    assert first > start + 3600
    assert last > clock.wall() - 3 * 3600
    assert len(store.read("db1", ("m3",), last - 1800, last).t) == 361


def test_that_samples_older_than_the_limit_go_and_their_aggregates_stay(open_store: Open, clock: ManualClock) -> None:
    store = open_store(keep_days=2 / 24)
    start = clock.wall()
    _fill_noise(store, clock, 5.0)
    clock.advance(120)
    store.compact()
    first, _ = store.range() or (0.0, 0.0)
    assert first >= start + 2 * 3600
    assert len(store.rollups("db1", "m3", start, start + 3599).t) == 60


@pytest.fixture
def small_disk(open_store: Open) -> HistoryStore:
    store = open_store()
    assert store._writer is not None
    pages = store._writer._cursor.execute("PRAGMA page_count").fetchone()[0]
    store._writer._cursor.execute(f"PRAGMA max_page_count={pages + 8}")
    return store


def test_that_a_full_disk_is_told_once_and_sampling_goes_on_in_memory(
    small_disk: HistoryStore, fill: Fill, clock: ManualClock
) -> None:
    told = []
    small_disk.on_event = told.append
    samples = fill(small_disk, 120)
    assert [e.health for e in told] == [Health.BAD]
    assert "cannot be written" in told[0].text
    assert "full" in told[0].text
    assert small_disk.trouble is not None
    hot = small_disk.hot("db1", ("questions",), 0.0)
    assert hot.values["questions"].tolist() == [s.values["questions"] for s in samples]


def test_that_what_waited_is_written_when_the_disk_has_room_again(
    small_disk: HistoryStore, fill: Fill, clock: ManualClock, open_store: Open
) -> None:
    told = []
    small_disk.on_event = told.append
    samples = fill(small_disk, 400)
    assert small_disk._writer is not None
    small_disk._writer._cursor.execute("PRAGMA max_page_count=1000000")
    clock.advance(11)
    small_disk.flush()
    assert small_disk.trouble is None
    assert told[-1].text == "History is being written again. Nothing was lost."
    small_disk.close()
    columns = open_store().read("db1", ("questions",), samples[0].at, samples[-1].at)
    assert columns.values["questions"].tolist() == [s.values["questions"] for s in samples]


def test_that_closing_on_a_full_disk_leaves_a_file_that_opens(
    small_disk: HistoryStore, fill: Fill, open_store: Open, tmp_path: Path
) -> None:
    fill(small_disk, 400)
    small_disk.close()
    connection = sqlite3.connect(tmp_path / "history.sqlite")
    assert connection.execute("PRAGMA quick_check").fetchone() == ("ok",)
    connection.close()
    assert open_store().lost_seconds > 0  # the end was not clean, and is told as such


def test_that_memory_stays_flat_while_hours_of_a_real_stream_go_through(
    open_store: Open, fill: Fill, clock: ManualClock
) -> None:
    store = open_store(max_bytes=0)
    fill(store, 2 * 3600 + 1800, house=True)
    before = resident_bytes()
    fill(store, 2 * 3600, house=True)
    assert resident_bytes() - before < 12 * 2**20
    assert len(store.rollups("db1", "questions", 0, 4e9).t) >= 4 * 60


def test_that_memory_for_what_waits_is_bounded(
    small_disk: HistoryStore, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.history.writer.MOST_ROWS", 50)
    for i in range(300):
        small_disk.append(Sample("db1", clock.wall(), clock.monotonic(), {f"m{k}": float(i * k) for k in range(200)}))
        small_disk.flush()
        clock.advance(1.0)
    assert small_disk._writer is not None
    assert len(small_disk._writer._waiting.rows) <= 51
