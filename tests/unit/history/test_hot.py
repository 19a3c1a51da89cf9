"""The ring of the newest minutes: when its chunks end, and that it stops growing."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

from services.clock import ManualClock
from services.history.columns.hot import Ring
from services.history.store import HistoryStore
from services.series import Sample
from tests.unit.history.conftest import START

Open = Callable[..., HistoryStore]
Fill = Callable[..., list[Sample]]


def test_that_housekeeping_each_second_leaves_one_block_each_five_minutes(
    open_store: Open, fill: Fill, tmp_path: Path
) -> None:
    store = open_store()
    fill(store, 930, house=True)
    file = sqlite3.connect(f"file:{tmp_path / 'history.sqlite'}?mode=ro", uri=True)
    blocks = file.execute("SELECT start, rows FROM block ORDER BY start").fetchall()
    file.close()
    assert blocks == [(START, 300), (START + 300.0, 300), (START + 600.0, 300)]


def test_that_a_chunk_that_began_after_the_moment_asked_about_stays_open() -> None:
    ring = Ring(lambda _key: 16)
    ring.append(Sample("db1", START + 300.0, 1.0, {"a": 1.0}), 1)
    assert ring.close_if_due(START + 290.0) is None
    assert ring.close_if_due(START + 599.0) is None
    closed = ring.close_if_due(START + 600.0)
    assert closed is not None
    assert closed.table.rows == 1


def test_that_a_server_that_stopped_answering_has_its_chunk_closed(open_store: Open, fill: Fill) -> None:
    store = open_store()
    fill(store, 100)
    clock: ManualClock = store._clock  # type: ignore[assignment]
    clock.advance(240.0)
    store.tidy()
    store.flush()
    assert store.range() == (START, START + 99.0)
    assert store.read("db1", ("questions",), START, START + 99.0).t.size == 100
