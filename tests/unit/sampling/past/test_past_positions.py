"""A restarted console reads a week of positions back: IST reach goes on as if it had watched all the time."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from services.clock import ManualClock, SystemClock
from services.history.store import HistoryStore
from services.inventory.model import HostEntry, SqlAccess
from services.sampling.ist_reach import HOUR_S, WEEK_S, rates, reach
from services.sampling.past.past_positions import PIECE_S, read_past
from services.sampling.past.seqno_ring import EVERY_S, Point, SeqnoRing
from services.sampling.watcher import Watcher
from services.series import Sample
from tests.unit.recorded.replies import ReplaySession, load
from tests.unit.sampling.conftest import START

EPOCH = "1b2c:1799000000"
GIB = 2.0**30


def _go_on() -> bool:
    return False


def _keep(store: HistoryStore, clock: ManualClock, points: Sequence[Point], epoch: str = EPOCH, **more: float) -> None:
    for point in points:
        values = {
            "wsrep_last_committed": float(point.last_committed),
            "wsrep_replicated_bytes": 0.25 * point.bytes,
            "wsrep_received_bytes": 0.75 * point.bytes,
            **more,
        }
        clock._now = point.at
        store.append(Sample("n1", point.at, point.at - START, values, epoch))
        store.flush()
        store.tidy()


def _points(start: float, seconds: int, step: int = 10, first: int = 100, bytes_s: float = 1000.0) -> list[Point]:
    return [Point(start + s, first + s, (first + s) * bytes_s) for s in range(0, seconds + 1, step)]


def _found(store: HistoryStore, now: float) -> SeqnoRing:
    past = read_past(store, "n1", now, _go_on)
    assert past is not None
    return past.positions


def test_that_what_was_watched_is_what_is_read_back(store: HistoryStore, clock: ManualClock) -> None:
    watched = _points(START, int(2.5 * PIECE_S))
    _keep(store, clock, watched)
    past = read_past(store, "n1", watched[-1].at + 5, _go_on)
    assert past is not None
    assert past.epoch == EPOCH
    assert [p.last_committed for p in past.positions if p.at > START + 20] == [
        p.last_committed for p in watched if p.at > START + 20
    ]
    assert past.positions[-1] == watched[-1]


def test_that_every_second_of_the_history_becomes_a_point_each_ten(store: HistoryStore, clock: ManualClock) -> None:
    _keep(store, clock, _points(START, 600, step=1))
    found = _found(store, START + 601)
    assert len(found) == 600 / EVERY_S + 1
    assert {round(b.at - a.at) for a, b in pairwise(found)} == {EVERY_S}


def test_that_reach_and_the_same_hour_last_week_survive_a_restart(store: HistoryStore, clock: ManualClock) -> None:
    busy = _points(START, int(HOUR_S), bytes_s=90_000.0)
    calm = _points(START + WEEK_S - HOUR_S, int(HOUR_S), first=busy[-1].last_committed + 1, bytes_s=90_000.1)
    _keep(store, clock, busy)
    _keep(store, clock, calm)
    now = Point(START + WEEK_S + 1, calm[-1].last_committed + 1, calm[-1].bytes + 10.0)
    ring = SeqnoRing()
    ring.observe(now)
    assert reach(ring, now, cached_downto=busy[-1].last_committed, gcache_size=GIB).seconds is None
    ring.recall(_found(store, now.at))
    assert {r.over for r in rates(ring, now)} == {"five minutes", "one hour", "the same hour last week"}
    again = reach(ring, now, cached_downto=calm[10].last_committed, gcache_size=GIB)
    assert again.seconds is not None
    assert again.history_s == pytest.approx(now.at - calm[10].at, abs=EVERY_S)


def test_that_nothing_is_read_from_before_a_restart_of_the_server(store: HistoryStore, clock: ManualClock) -> None:
    before, after = _points(START, 600), _points(START + 700, 600, first=5000)
    _keep(store, clock, before, epoch="1b2c:1790000000")
    _keep(store, clock, after)
    assert _found(store, START + 1400)[0].at >= START + 700


def test_that_the_same_start_told_with_another_second_is_one_start(store: HistoryStore, clock: ManualClock) -> None:
    _keep(store, clock, _points(START, 600))
    _keep(store, clock, _points(START + 9000, 600, first=9000), epoch="1b2c:1799000001")
    assert _found(store, START + 9700)[0].at == START


@pytest.mark.parametrize("fell", ["seqno", "bytes"])
def test_that_a_counter_that_fell_ends_the_reading(store: HistoryStore, clock: ManualClock, fell: str) -> None:
    after = _points(START + PIECE_S, 600, first=3 if fell == "seqno" else 9000, bytes_s=0.1 if fell == "bytes" else 9e6)
    _keep(store, clock, _points(START, 600))
    _keep(store, clock, after)
    assert _found(store, after[-1].at)[0].at >= after[0].at


def test_that_a_server_without_galera_has_no_positions(store: HistoryStore, clock: ManualClock) -> None:
    clock._now = START
    for second in range(100):
        store.append(Sample("n1", START + second, float(second), {"uptime": 5.0 + second}, EPOCH))
    assert read_past(store, "n1", START + 100, _go_on) is None
    assert read_past(store, "nobody", START + 100, _go_on) is None


def test_that_reading_ends_when_it_is_asked_to(store: HistoryStore, clock: ManualClock) -> None:
    _keep(store, clock, _points(START, int(3 * PIECE_S), step=600))
    asked: list[int] = []

    def enough() -> bool:
        asked.append(1)
        return True

    assert read_past(store, "n1", START + 3 * PIECE_S, enough) is None
    assert len(asked) == 1


@pytest.mark.parametrize("now", [Point(START + 700, 50, 9e9), Point(START + 700, 9000, 50.0)])
def test_that_a_past_which_the_present_does_not_follow_is_not_taken(now: Point) -> None:
    past = SeqnoRing()
    for point in _points(START, 600):
        past.observe(point)
    ring = SeqnoRing()
    ring.observe(now)
    ring.recall(past)
    assert list(ring) == [now]


def test_that_a_past_which_reaches_into_the_present_is_joined_without_a_seam() -> None:
    past, ring, whole = SeqnoRing(), SeqnoRing(), SeqnoRing()
    for point in _points(START, 900):
        whole.observe(point)
        if point.at <= START + 600:
            past.observe(point)
        if point.at >= START + 500:
            ring.observe(point)
    ring.recall(past)
    assert list(ring) == list(whole)


def _ten_days_old(entry: HostEntry) -> ReplaySession:
    """Answer as the recorded n1 would after ten days of writing."""
    own: dict[str, Any] = load("situations/galera-healthy.json")["hosts"]["n1"]
    grown = {"Uptime": str(10 * 86_400), "wsrep_last_committed": "8690000", "wsrep_received_bytes": "8690000000"}
    return ReplaySession(entry.name, {**own, "ssh": False, "status": {**own["status"], **grown}})


def test_that_a_watcher_knows_the_rate_of_the_hour_before_it_was_started(tmp_path: Path) -> None:
    """Without a past the first rate takes a minute of watching."""
    now = time.time()
    store = HistoryStore.open(tmp_path / "history.sqlite")
    for second in range(0, 6_900, 10):
        values = {"wsrep_last_committed": 8e6 + 100 * second, "wsrep_replicated_bytes": 0.0,
                  "wsrep_received_bytes": 8e9 + 1e5 * second}  # fmt: skip
        store.append(Sample("n1", now - 7_000 + second, float(second), values, f":{now - 10 * 86_400:.0f}"))
    store.close()
    store = HistoryStore.open(tmp_path / "history.sqlite")
    seed = HostEntry("n1", "10.213.1.11", sql=SqlAccess("observer"))
    watcher = Watcher("lab", (seed,), _ten_days_old, store, SystemClock())
    watcher.start()
    try:
        _until(lambda: "console.ist_rate" in store.keys("n1"))
        columns = store.hot("n1", ("console.ist_rate_window_s", "console.ist_history_s"), now - 60)
        assert columns.values["console.ist_rate_window_s"][-1] == HOUR_S
        assert columns.values["console.ist_history_s"][-1] > 6_900
    finally:
        watcher.stop()


def _until(check: Callable[[], object], limit_s: float = 8.0) -> None:
    end = time.monotonic() + limit_s
    while not check():
        assert time.monotonic() < end
        time.sleep(0.05)
