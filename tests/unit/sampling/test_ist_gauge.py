"""IST reach as values of the samples of a real node, and a console that was closed in between."""

from __future__ import annotations

import pytest

from services.history.store import HistoryStore
from services.sampling.ist_gauge import FOREVER_S, IstGauge
from tests.unit.sampling.conftest import START, galera_samples


def test_that_a_real_node_gets_its_reach_once_the_rate_is_known() -> None:
    gauge = IstGauge()
    found = [gauge.values(s.at, s.values) for s in galera_samples(900)]
    assert "console.ist_reach_s" not in found[100]
    assert gauge.reach.rates
    last = found[-1]
    # 8 MiB at some 60 KB/s, and (method 1) the oldest of the write sets kept then was some two minutes old.
    assert 60 < last["console.ist_reach_s"] < 600
    assert 60 < last["console.ist_history_s"] < 600


def test_that_a_server_without_galera_gets_nothing() -> None:
    assert IstGauge().values(START, {"questions": 5.0}) == {}


def test_that_a_provider_without_a_cache_yet_is_unknown_and_an_idle_cluster_reaches_for_ever() -> None:
    raw = {
        "wsrep_last_committed": 5.0,
        "wsrep_replicated_bytes": 1.0,
        "wsrep_received_bytes": 1.0,
        "var.gcache_size": 1e6,
    }
    for cached in (0.0, 18446744073709551615.0):
        assert IstGauge().values(START, raw | {"wsrep_local_cached_downto": cached}) == {}
    gauge = IstGauge()
    for second in range(300):
        found = gauge.values(START + second, raw | {"wsrep_local_cached_downto": 1.0})
    assert found["console.ist_reach_s"] == FOREVER_S


def test_that_a_console_that_was_closed_remembers_from_the_history(store: HistoryStore) -> None:
    watched = IstGauge()
    for sample in galera_samples(900):
        store.append(sample)
        watched.values(sample.at, sample.values)
    store.flush()
    fresh = IstGauge()
    fresh.remember(store, "db1", START + 900)
    later = galera_samples(1, first=899)[0]
    first = fresh.values(START + 900, later.values)
    again = watched.values(START + 900, later.values)
    assert first["console.ist_reach_s"] == pytest.approx(again["console.ist_reach_s"], rel=0.05)
    assert first["console.ist_history_s"] == pytest.approx(again["console.ist_history_s"], abs=11.0)
