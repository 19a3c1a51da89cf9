"""Spans that were open when watching stopped: nobody saw their end, and that is what is told."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from services.clock import ManualClock
from services.discovery.model import EstateSnapshot
from services.events import Event
from services.history.store import HistoryStore
from tests.unit.history.conftest import START

Open = Callable[..., HistoryStore]


def _outage(store: HistoryStore, at: float = START) -> None:
    store.append_event(Event(at, "connection", "db1 does not answer", spans=True, key=f"silence:db1:{at:.3f}"))
    store.flush()


def test_that_an_outage_that_outlives_the_console_has_no_end_but_when_watching_stopped(
    open_store: Open, clock: ManualClock
) -> None:
    _outage(store := open_store())
    clock.advance(90.0)
    store.close()
    clock.advance(3_600.0)
    for _ in range(2):  # a later console leaves the moment as it is
        (event,) = (store := open_store()).events(START - 60, START + 100)
        assert (event.at, event.until, event.unseen_end) == (START, START + 90.0, True)
        assert not store.events(START + 1_800, START + 7_200)
        store.close()


def test_that_a_span_that_goes_on_is_completed_by_the_next_console(open_store: Open, clock: ManualClock) -> None:
    transfer = Event(START, "transfer", "SST to db4", spans=True, key="sst:db4")
    store = open_store()
    store.append_event(transfer)
    store.close()
    clock.advance(60.0)
    store = open_store()
    store.append_event(transfer)
    store.flush()
    (event,) = store.events(START, START + 100)
    assert (event.until, event.unseen_end) == (None, False)
    store.append_event(replace(transfer, until=START + 80))
    store.flush()
    (event,) = store.events(START, START + 100)
    assert (event.until, event.unseen_end) == (START + 80, False)


def test_that_a_killed_console_left_an_outage_open_at_its_last_sign_of_life(
    open_store: Open, clock: ManualClock, tmp_path: Path
) -> None:
    """Without any sample: no host answered. The snapshot of each minute is the sign."""
    _outage(store := open_store())
    for _ in range(5):
        clock.advance(60.0)
        store.append_snapshot(EstateSnapshot(at=clock.wall()))
    store.flush()
    for end in ("", "-wal"):
        shutil.copy(tmp_path / f"history.sqlite{end}", tmp_path / f"killed.sqlite{end}")
    clock.advance(3_600.0)
    store = open_store("killed.sqlite")
    store.flush()
    event, unclean = store.events(START, START + 10_000)
    assert (event.until, event.unseen_end) == (START + 300.0, True)
    assert unclean.at == START + 300.0
    assert "2027-01-15 08:05:00 UTC" in unclean.text
