"""IST reach: the three methods, their unknowns, and what a real gcache of 8 MiB did under load."""

from __future__ import annotations

import math

import numpy as np
import pytest

from services.facts.galera.ist import MARGIN
from services.sampling.ist_reach import (
    IstReach,
    Rate,
    cluster_reach,
    gcache_needed,
    rates,
    reach,
)
from services.sampling.past.seqno_ring import Point, SeqnoRing
from tests.bench.support.stream import read_stream

MIB = 2.0**20


def _steady(hours: float, seqno_s: float = 10.0, bytes_s: float = 1000.0) -> tuple[SeqnoRing, Point]:
    """Watch a node for so long; return the ring and the last point."""
    ring = SeqnoRing()
    point = Point(0.0, 1000, 5000.0)
    for second in range(0, int(hours * 3600) + 1, 10):
        point = Point(float(second), 1000 + int(second * seqno_s), 5000.0 + second * bytes_s)
        ring.observe(point)
    return ring, point


def test_that_method_1_finds_when_the_oldest_kept_write_set_was_the_newest() -> None:
    ring, now = _steady(2)
    found = reach(ring, now, cached_downto=now.last_committed - 6005, gcache_size=MIB)
    assert found.history_s == pytest.approx(600.5)
    assert not found.at_least


def test_that_a_cache_older_than_what_was_watched_is_at_least_the_watched_time() -> None:
    ring, now = _steady(1)
    found = reach(ring, now, cached_downto=3, gcache_size=MIB)
    assert (found.history_s, found.at_least) == (3600.0, True)


def test_that_method_2_counts_24_bytes_for_each_write_set() -> None:
    ring, now = _steady(2, seqno_s=10.0, bytes_s=1000.0)
    found = reach(ring, now, cached_downto=5, gcache_size=1_240_000.0)
    assert found.rates[0].bytes_s == pytest.approx(1240.0)
    assert found.seconds == pytest.approx(1000.0)
    assert found.safe_seconds == pytest.approx(1000.0 * MARGIN)
    assert "rate over" in found.source


def test_that_the_worst_of_the_known_rates_counts() -> None:
    ring, now = _steady(2)
    for second in range(10, 301, 10):
        now = Point(7200.0 + second, now.last_committed + 100, now.bytes + 50_000.0)
        ring.observe(now)
    found = rates(ring, now)
    assert [r.over for r in found] == ["five minutes", "one hour"]
    assert found[0].bytes_s == pytest.approx(5240.0, rel=0.05)
    assert found[1].bytes_s < 2000.0


def test_that_the_same_hour_last_week_is_a_rate_too() -> None:
    ring = SeqnoRing()
    now = Point(0.0, 0, 0.0)
    for second in range(0, 7 * 86_400 + 1, 10):
        busy = second <= 3600
        now = Point(float(second), now.last_committed + 1, now.bytes + (90_000.0 if busy else 10.0))
        ring.observe(now)
    assert rates(ring, now)[0].over == "the same hour last week"


def test_that_the_ring_forgets_after_a_week_and_begins_anew_on_another_history() -> None:
    ring = SeqnoRing()
    for second in range(0, 8 * 86_400, 600):
        ring.observe(Point(float(second), second, float(second)))
    assert 8 * 86_400 - ring[0].at <= 7 * 86_400 + 3600 + 600
    ring.observe(Point(9e5, 5, 1e9))
    assert len(ring) == 1


@pytest.mark.parametrize(
    ("cached", "size", "watched_s", "words"),
    [(0, MIB, 7200, "keeps no write sets"), (None, MIB, 7200, "keeps no write sets"), (5, None, 7200, "gcache.size"),
     (5, 0.0, 7200, "gcache.size"), (5, MIB, 50, "about a minute")],
)  # fmt: skip
def test_that_what_is_unknown_says_why(cached: int | None, size: float | None, watched_s: float, words: str) -> None:
    ring, now = _steady(watched_s / 3600)
    found = reach(ring, now, cached, size)
    assert found.seconds is None
    assert words in found.reason


def test_that_a_cluster_without_writes_reaches_for_ever() -> None:
    ring, now = _steady(1, seqno_s=0.0, bytes_s=0.0)
    assert reach(ring, now, 5, MIB).seconds == math.inf


def test_that_the_cluster_counts_its_second_best_donor() -> None:
    known = [IstReach(seconds=s) for s in (100.0, 400.0, 900.0)]
    assert cluster_reach(known).seconds == 400.0
    assert "Second best of 3" in cluster_reach(known).source
    alone = cluster_reach([IstReach(seconds=900.0), IstReach(reason="gone")])
    assert alone.seconds is None
    assert "only one" in alone.reason


def test_that_the_gcache_needed_for_an_absence_brings_that_absence_within_the_safe_reach() -> None:
    rate = Rate(5000.0, 10.0, "one hour")
    size = gcache_needed(4 * 3600.0, rate)
    assert size / rate.bytes_s * MARGIN == pytest.approx(4 * 3600.0, rel=1e-6)


def test_that_the_predicted_number_of_write_sets_is_what_a_real_ring_of_8_mib_kept() -> None:
    stream = read_stream("galera_node")

    def column(key: str) -> np.ndarray:
        return stream.values[:, stream.keys.index(key)]

    seqno, kept = column("wsrep_last_committed"), column("wsrep_local_cached_downto")
    volume = column("wsrep_replicated_bytes") + column("wsrep_received_bytes")
    size = column("var.gcache_size")[0]
    assert size == 8 * MIB
    checked = 0
    for i in range(200, len(seqno), 50):
        first = int(np.searchsorted(seqno, kept[i]))  # the second in which the oldest kept write set was written
        if first == 0 or kept[i] == kept[i - 40]:
            continue  # older than the recording, or nothing was purged: nothing to compare
        grown = volume[i] - volume[first] + 24 * (seqno[i] - seqno[first])
        assert 0.8 * size <= grown <= 1.02 * size
        checked += 1
    assert checked >= 5
