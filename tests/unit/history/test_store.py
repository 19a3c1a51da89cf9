"""The store: what is appended is read back, from memory, from small blocks, from packed hours, across openings."""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np
import pytest

from services.clock import ManualClock
from services.discovery.families.galera.kind import GALERA
from services.discovery.model import ClusterSnapshot, EstateSnapshot, NodeView
from services.errors import StoreError
from services.events import Event
from services.history.store import HistoryStore
from services.i18n import PSEUDO, install, tr
from services.series import Sample
from services.types import Health
from tests.unit.history.conftest import START

Open = Callable[..., HistoryStore]
Fill = Callable[..., list[Sample]]
KEYS = ("questions", "threads_running", "innodb_checkpoint_age", "uptime", "innodb_page_size")


def _assert_same(store: HistoryStore, samples: list[Sample], keys: tuple[str, ...] = KEYS) -> None:
    columns = store.read(samples[0].server, keys, samples[0].at, samples[-1].at)
    assert len(columns.t) == len(samples)
    np.testing.assert_allclose(columns.t, [s.at for s in samples], atol=1e-4, rtol=0)
    np.testing.assert_allclose(columns.mono, [s.mono for s in samples], atol=2e-4, rtol=0)
    for key in keys:
        assert columns.values[key].tolist() == [s.values[key] for s in samples]


def test_that_samples_are_read_back_from_memory_and_blocks_alike(open_store: Open, fill: Fill) -> None:
    store = open_store()
    samples = fill(store, 1500)
    _assert_same(store, samples)
    _assert_same(store, samples[100:130])
    _assert_same(store, samples[-700:])


def test_that_samples_are_read_back_after_closing_and_after_packing(
    open_store: Open, fill: Fill, clock: ManualClock
) -> None:
    store = open_store()
    samples = fill(store, 4000)
    store.close()
    again = open_store()
    _assert_same(again, samples)
    clock.advance(7200)
    again.compact()
    _assert_same(again, samples)
    assert again.range() == (pytest.approx(samples[0].at), pytest.approx(samples[-1].at))


def test_that_reading_gives_only_the_span_asked_for(open_store: Open, fill: Fill) -> None:
    store = open_store()
    fill(store, 900)
    columns = store.read("db1", ("questions",), START + 100, START + 109.5)
    assert columns.t.tolist() == [START + 100 + i for i in range(10)]


def test_that_an_unknown_server_or_metric_is_empty_or_missing(open_store: Open, fill: Fill) -> None:
    store = open_store()
    fill(store, 10)
    assert len(store.read("nobody", KEYS, 0, 2e9).t) == 0
    columns = store.read("db1", ("no_such_variable",), 0, 2e9)
    assert len(columns.t) == 10
    assert np.isnan(columns.values["no_such_variable"]).all()


def test_that_metrics_that_come_and_go_are_missing_where_they_were_not_given(
    open_store: Open, clock: ManualClock
) -> None:
    store = open_store()
    for i in range(20):
        values = {"a": float(i)} | ({"b": 7.0} if 5 <= i < 12 else {}) | ({"c": 1.0} if i >= 15 else {})
        store.append(Sample("db1", clock.wall(), clock.monotonic(), values))
        clock.advance(1.0)
    expected_b = [7.0 if 5 <= i < 12 else None for i in range(20)]
    for _ in range(2):
        columns = store.read("db1", ("a", "b", "c"), START - 1, START + 100)
        assert columns.values["a"].tolist() == [float(i) for i in range(20)]
        assert [None if np.isnan(b) else b for b in columns.values["b"]] == expected_b
        assert np.isnan(columns.values["c"]).tolist() == [i < 15 for i in range(20)]
        store.close()
        store = open_store()


def test_that_servers_are_kept_apart(open_store: Open, fill: Fill, clock: ManualClock) -> None:
    store = open_store()
    fill(store, 50, "db1")
    other = fill(store, 50, "db2")
    assert store.servers() == ("db1", "db2")
    _assert_same(store, other)


def test_that_a_restart_shows_as_another_epoch(open_store: Open, fill: Fill) -> None:
    store = open_store()
    first, second = fill(store, 5, epoch="uuid-1"), fill(store, 5, epoch="uuid-2")
    columns = store.read("db1", ("uptime",), first[0].at, second[-1].at)
    assert len(set(columns.epochs[:5])) == len(set(columns.epochs[5:])) == 1
    assert columns.epochs[0] != columns.epochs[5]
    assert [store.epoch_name(n) for n in columns.epochs[[0, 9]]] == ["uuid-1", "uuid-2"]


def test_that_memory_holds_the_newest_ten_minutes_and_no_more(open_store: Open, fill: Fill) -> None:
    store = open_store()
    samples = fill(store, 700)
    hot = store.hot("db1", ("questions",), 0.0)
    assert hot.values["questions"].tolist() == [s.values["questions"] for s in samples[-600:]]
    assert len(store.hot("db1", ("questions",), samples[-3].at).t) == 2


def test_that_a_clock_set_back_loses_no_sample_and_reads_in_order(open_store: Open, clock: ManualClock) -> None:
    store = open_store()
    moments = [START + 100 + i for i in range(50)] + [START + 20 + i for i in range(50)]
    for i, at in enumerate(moments):
        store.append(Sample("db1", at, 1000.0 + i, {"a": float(i)}))
    store.close()
    columns = open_store().read("db1", ("a",), START, START + 1000)
    assert sorted(columns.values["a"]) == [float(i) for i in range(100)]
    assert (np.diff(columns.t) >= 0).all()


def test_that_one_minute_aggregates_are_those_of_the_samples(open_store: Open, fill: Fill, clock: ManualClock) -> None:
    store = open_store(derive=lambda columns: {"double": 2.0 * columns.values["threads_running"]})
    samples = fill(store, 3600)
    clock.advance(60)
    store.compact()
    running = np.array([s.values["threads_running"] for s in samples]).reshape(60, 60)
    for key, factor in (("threads_running", 1.0), ("~double", 2.0)):
        rollups = store.rollups("db1", key, START, START + 3599)
        assert rollups.t.tolist() == [START + 60 * i for i in range(60)]
        np.testing.assert_allclose(rollups.average, factor * running.mean(axis=1), rtol=1e-6)
        np.testing.assert_allclose(rollups.minimum, factor * running.min(axis=1), rtol=1e-6)
        np.testing.assert_allclose(rollups.maximum, factor * running.max(axis=1), rtol=1e-6)
        np.testing.assert_allclose(rollups.p5, factor * np.percentile(running, 5, axis=1), rtol=1e-6)
        np.testing.assert_allclose(rollups.p95, factor * np.percentile(running, 95, axis=1), rtol=1e-6)


def test_that_a_metric_that_never_varies_has_aggregates_where_it_was_sampled(
    open_store: Open, fill: Fill, clock: ManualClock
) -> None:
    store = open_store()
    fill(store, 600)
    clock.advance(1800)
    fill(store, 600)
    clock.advance(7200)
    store.compact()
    rollups = store.rollups("db1", "innodb_page_size", START, START + 3600)
    present = ~np.isnan(rollups.average)
    assert present.tolist() == [True] * 10 + [False] * 30 + [True] * 10
    assert set(rollups.average[present]) == {16384.0}


def test_that_many_lanes_may_append_at_once(open_store: Open) -> None:
    store = open_store(background=True)
    errors: list[BaseException] = []

    def lane(name: str) -> None:
        try:
            for i in range(400):
                store.append(Sample(name, START + i, 1000.0 + i, {"a": float(i), name: 1.0}))
        except BaseException as problem:  # noqa: BLE001 - handed to the test's own thread
            errors.append(problem)

    lanes = [threading.Thread(target=lane, args=(f"db{n}",)) for n in range(8)]
    for thread in lanes:
        thread.start()
    for thread in lanes:
        thread.join()
    store.close()
    assert not errors
    again = open_store()
    for n in range(8):
        assert again.read(f"db{n}", ("a",), 0, 2e9).values["a"].tolist() == [float(i) for i in range(400)]


def test_that_events_come_back_and_a_span_is_completed_in_place(open_store: Open) -> None:
    store = open_store()
    store.append_event(Event(START, "transfer", "SST to db4", Health.TRANSFER, spans=True, key="sst:db4"))
    store.flush()
    assert store.events(START + 500, START + 600)[0].until is None
    store.append_event(
        Event(START, "transfer", "SST to db4 done", Health.GOOD, until=START + 60, spans=True, key="sst:db4")
    )
    store.append_event(Event(START + 90, "transfer", "IST to db4", Health.TRANSFER, spans=True, key="sst:db4"))
    store.append_event(Event(START + 10, "state", "db4 is Joiner"))
    store.close()
    events = open_store().events(START, START + 100)
    assert [e.text for e in events] == ["SST to db4 done", "db4 is Joiner", "IST to db4"]
    assert events[0].until == START + 60
    assert not open_store("other.sqlite").events(0, 2e9)


def test_that_what_is_learnt_of_a_span_after_its_end_replaces_it(open_store: Open) -> None:
    store = open_store()
    for text, until in (("State transfer", None), ("State transfer", START + 3), ("IST", START + 2)):
        store.append_event(Event(START, "transfer", text, until=until, spans=True, key="k"))
        store.flush()
    assert [(e.text, e.until) for e in store.events(START - 1, START + 10)] == [("IST", START + 2)]


def test_that_a_file_open_for_reading_only_takes_nothing(open_store: Open, fill: Fill) -> None:
    fill(store := open_store(), 3)
    store.close()
    reader = open_store(read_only=True)
    with pytest.raises(StoreError, match="reading only"):
        reader.append(Sample("db1", START, 0.0, {}))


def test_that_a_second_process_reads_a_file_while_it_is_written(open_store: Open, fill: Fill) -> None:
    store = open_store()
    samples = fill(store, 400)
    reader = open_store(read_only=True)
    _assert_same(reader, samples)
    assert set(reader.keys("db1")) == set(samples[0].values)


def test_that_sentences_are_stored_in_english_whatever_the_language(open_store: Open) -> None:
    install(PSEUDO)
    try:
        store = open_store()
        event = Event(START, "connection", tr("{name} answers again", name="db1"))
        node = NodeView("n1", "db1", state="Synced", reason=tr("{name} is joining the group", name="db1"))
        store.append_event(event)
        store.append_snapshot(EstateSnapshot(START, (ClusterSnapshot("c", GALERA, "c", START, nodes=(node,)),)))
    finally:
        install("en")
    assert not event.text.isascii()
    store.close()
    again = open_store()
    assert [e.text for e in again.events(START, START + 1)] == ["db1 answers again"]
    kept = again.snapshot_at(START + 1)
    assert kept is not None
    assert kept.clusters[0].nodes[0].reason == "db1 is joining the group"


def test_that_a_snapshot_is_read_while_another_thread_reads_samples(open_store: Open) -> None:
    store = open_store()
    store.append_snapshot(EstateSnapshot(START, (ClusterSnapshot("c", GALERA, "c", START),)))
    store.close()
    again = open_store(read_only=True)
    found: list[EstateSnapshot | None] = []
    reader = threading.Thread(target=lambda: found.append(again.snapshot_at(START + 1)))
    with again._file._lock:  # as a thread has it that reads a day
        reader.start()
        reader.join(timeout=5)
        assert [snapshot.at for snapshot in found if snapshot] == [START]
    reader.join()
