"""From the store to curves: full resolution, bins with bands, aggregates of weeks, gaps and restarts."""

from __future__ import annotations

import numpy as np
import pytest

from services.clock import ManualClock
from services.errors import BadInput
from services.history.store import HistoryStore
from services.sampling.metrics.catalogue import load_catalogue
from services.sampling.metrics.reader import SeriesReader
from services.series import Sample
from services.types import NO_WAY, NOT_OFFERED, NOT_YET
from tests.unit.sampling.conftest import START, galera_samples


def _reader(store: HistoryStore) -> SeriesReader:
    return SeriesReader(store, load_catalogue())


def _ramp(store: HistoryStore, seconds: range, epoch: str = "1", step: float = 10.0) -> None:
    for i in seconds:
        values = {"questions": 1000.0 + step * i, "threads_running": float(i % 10), "uptime": 50.0 + i}
        store.append(Sample("db1", START + i, 1000.0 + i, values, epoch))
    store.flush()


def test_that_full_resolution_is_every_second_without_bands(store: HistoryStore) -> None:
    _ramp(store, range(100))
    series = _reader(store).series("db1", "load.questions", START, START + 99, 100)
    assert series.t.tolist() == [START + i for i in range(100)]
    assert np.isnan(series.value[0])
    assert set(series.value[1:]) == {10.0}
    assert series.p5 is None
    assert series.step_s == 1.0


def test_that_a_rate_is_known_at_the_left_edge_of_a_span_inside_the_history(store: HistoryStore) -> None:
    _ramp(store, range(100))
    series = _reader(store).series("db1", "load.questions", START + 50, START + 60, 100)
    assert series.value.tolist() == [10.0] * 11


def test_that_zooming_out_gives_bins_at_round_moments_with_the_band(store: HistoryStore) -> None:
    _ramp(store, range(1000))
    series = _reader(store).series("db1", "load.threads_running", START, START + 999, 100)
    assert series.step_s == 10.0
    assert series.t.tolist() == [START + 5 + 10 * i for i in range(100)]
    assert set(series.value) == {4.5}
    assert series.minimum is not None
    assert series.maximum is not None
    assert series.p5 is not None
    assert series.p95 is not None
    assert (set(series.minimum), set(series.maximum)) == ({0.0}, {9.0})
    assert np.allclose(series.p5, 0.45)
    assert np.allclose(series.p95, 8.55)


def test_that_a_hole_is_drawn_as_one_at_every_zoom(store: HistoryStore) -> None:
    _ramp(store, range(100))
    _ramp(store, range(400, 500))
    reader = _reader(store)
    for points in (600, 50):
        series = reader.series("db1", "load.questions", START, START + 499, points)
        inside = (series.t >= START + 100) & (series.t < START + 399)
        assert inside.any()
        assert np.isnan(series.value[inside]).all()
        assert np.nanmin(series.value) == np.nanmax(series.value) == 10.0


def test_that_a_restart_is_marked_and_leaves_no_giant_rate(store: HistoryStore) -> None:
    _ramp(store, range(50))
    for i in range(50, 100):
        values = {"questions": 5.0 * (i - 50), "uptime": float(i - 50)}
        store.append(Sample("db1", START + i, 1000.0 + i, values, "2"))
    series = _reader(store).series("db1", "load.questions", START, START + 99, 100)
    assert series.restarts == (START + 50,)
    assert np.isnan(series.value[50])
    assert set(series.value[~np.isnan(series.value)]) == {10.0, 5.0}


def test_that_the_tail_is_the_newest_points_from_memory(store: HistoryStore) -> None:
    _ramp(store, range(200))
    tail = _reader(store).tail("db1", "load.questions", START + 190)
    assert tail.t.tolist() == [START + i for i in range(191, 200)]
    assert tail.value.tolist() == [10.0] * 9


def test_that_tail_and_series_agree_on_every_metric_of_a_real_node(store: HistoryStore) -> None:
    for sample in galera_samples(400):
        store.append(sample)
    reader = _reader(store)
    for metric in load_catalogue():
        series = reader.series("db1", metric.key, START + 300, START + 399, 100)
        tail = reader.tail("db1", metric.key, START + 299.5)
        np.testing.assert_array_equal(series.t, tail.t, err_msg=metric.key)
        np.testing.assert_allclose(series.value, tail.value, rtol=1e-12, err_msg=metric.key)


def test_that_weeks_come_from_aggregates_and_the_newest_hour_from_samples(
    store: HistoryStore, clock: ManualClock
) -> None:
    hours = 9
    for i, sample in enumerate(galera_samples(hours * 3600)):
        store.append(sample)
        if i % 600 == 0:
            store.flush()
    clock.advance(hours * 3600 - 1800)
    store.compact()
    reader = _reader(store)
    end = START + hours * 3600
    series = reader.series("db1", "cpu.user", START, end, 400)
    assert series.step_s == 120.0
    values = series.value[~np.isnan(series.value)]
    assert len(values) == pytest.approx(hours * 30, abs=1)
    assert (series.t[-1] > end - 300) & (series.t[0] < START + 120)
    raw = reader.series("db1", "cpu.user", START + 3720, START + 3839, 200).value
    near = int(np.argmin(np.abs(series.t - (START + 3780))))
    assert series.value[near] == pytest.approx(np.nanmean(raw), rel=1e-4)
    assert series.maximum is not None
    assert series.maximum[near] == pytest.approx(np.nanmax(raw), rel=1e-4)


@pytest.mark.parametrize(
    ("metric", "lacks", "missing"),
    [
        ("galera.paused", NOT_OFFERED, "This server does not report it."),
        ("ist.reach", NOT_YET, "Known after a minute of writes."),
        ("commit.threads", NOT_YET, "Not known yet."),
        ("cpu.user", NO_WAY, "Read over SSH: no sample of the host has arrived."),
        ("net.received", NO_WAY, "Read over SSH: no sample of the host has arrived."),
        ("load.questions", "", ""),
    ],
)
def test_that_what_is_not_there_is_told_in_words_and_never_by_a_key(
    store: HistoryStore, metric: str, lacks: str, missing: str
) -> None:
    _ramp(store, range(20))
    reader = _reader(store)
    found = reader.series("db1", metric, START, START + 19, 100)
    assert (found.lacks, found.missing) == (lacks, missing)
    nobody = reader.series("nobody", metric, START, START + 19, 100)
    assert (nobody.lacks, nobody.missing, len(nobody.t)) == ("", "", 0)


@pytest.mark.parametrize(("metric", "lacks"), [("load.questions", NO_WAY), ("ist.reach", NO_WAY), ("cpu.running", "")])
def test_that_a_server_that_gave_no_answer_is_not_said_to_offer_nothing(
    store: HistoryStore, metric: str, lacks: str
) -> None:
    for i in range(20):
        store.append(Sample("db1", START + i, 1000.0 + i, {"os.cpu.procs_running": 2.0}, "1"))
    store.flush()
    found = _reader(store).series("db1", metric, START, START + 19, 100)
    assert (found.lacks, bool(found.missing)) == (lacks, bool(lacks))


def test_that_what_is_no_metric_is_refused(store: HistoryStore) -> None:
    with pytest.raises(BadInput):
        _reader(store).series("db1", "rate(", START, START + 19, 100)


def test_that_a_raw_key_and_a_typed_formula_are_drawn(store: HistoryStore) -> None:
    _ramp(store, range(20))
    reader = _reader(store)
    assert reader.series("db1", "questions", START, START + 5, 100).value.tolist() == [
        1000.0 + 10 * i for i in range(6)
    ]
    assert set(reader.series("db1", "rate(questions) * 2", START + 1, START + 5, 100).value) == {20.0}
