"""The console's own metrics of a sample: IST reach from what was watched, within a week."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.facts.model import DiskFacts, GaleraFacts, MachineFacts, NodeFacts
from services.sampling.ist_reach import over_words
from services.sampling.metrics.derived_now import MOST_S, DerivedNow

SIZE = 128 * 2**20


def _facts(seqno: int) -> NodeFacts:
    galera = GaleraFacts(last_committed=seqno, cached_downto=1, gcache_size=SIZE, flow_control_high=28.0)
    machine = MachineFacts(data_disk=DiskFacts("/var/lib/mysql", "vda", 1000, 400))
    return NodeFacts("n1", 0.0, galera=galera, machine=machine)


def _watch(seconds: int, bytes_s: float, seqno_s: int) -> dict[str, float]:
    derived, values = DerivedNow(), {}
    for second in range(seconds):
        numbers = {"wsrep_replicated_bytes": bytes_s * second, "wsrep_received_bytes": 0.0}
        values = derived.values(_facts(1 + seqno_s * second), numbers, 1000.0 + second)
    return values


def test_that_reach_is_the_rings_size_by_the_rate_with_its_margin() -> None:
    values = _watch(400, bytes_s=100_000.0, seqno_s=100)
    predicted = SIZE / (100_000.0 + 24 * 100)
    assert 0.7 * predicted < values["console.ist_reach_s"] < predicted


def test_that_a_cluster_without_writes_reaches_a_week_and_not_nothing() -> None:
    assert _watch(400, bytes_s=0.0, seqno_s=0)["console.ist_reach_s"] == MOST_S


def test_that_reach_is_left_out_while_the_rate_is_not_known() -> None:
    assert "console.ist_reach_s" not in _watch(5, bytes_s=1000.0, seqno_s=1)


def test_that_the_rate_that_counts_and_its_span_are_sampled_too() -> None:
    values = _watch(400, bytes_s=100_000.0, seqno_s=100)
    assert values["console.ist_rate"] == pytest.approx(102_400.0)
    assert values["console.ist_rate_window_s"] == 300.0
    assert values["console.ist_history_whole"] == 1.0
    early = _watch(90, bytes_s=100_000.0, seqno_s=100)
    assert 60.0 <= early["console.ist_rate_window_s"] < 90.0
    assert over_words(early["console.ist_rate_window_s"]).endswith("s watched so far")


def test_that_the_disk_and_the_limit_stand_beside_it() -> None:
    values = _watch(2, bytes_s=1.0, seqno_s=1)
    assert (values["console.data_disk_free"], values["console.flow_control_high"]) == (400.0, 28.0)
    none = DerivedNow().values(replace(_facts(1), galera=None, machine=None), {}, 1.0)
    assert none == {}
