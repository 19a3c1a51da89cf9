"""How long a cache lasts is a matter of its ring's size and the rate, not of how full the ring happens to be."""

from __future__ import annotations

import math

import pytest

from services.facts.galera.ist import MARGIN
from services.facts.replication.write_rate import Rates
from services.procedures.catalogue.galera.shared.cache_arithmetic import Cache, reach_covers
from services.procedures.catalogue.galera.snapshot_node.checks import REACH_TIMES, reach
from tests.unit.procedures.facts_of_three import BLOCK, NAMES, PASS, facts, galera, host

RING = 128 * 2**20


def _cache(*, downto: int | None = 900, size: int | None = RING, bytes_s: float | None = 16_384.0) -> Cache:
    return Cache("n1", downto, 1_000, size, RING, bytes_s, 40.0, 10**10, 10**11, None)


def test_that_a_young_ring_that_holds_little_yet_lasts_as_long_as_a_full_one() -> None:
    assert _cache(downto=990).reach_s == _cache(downto=1).reach_s == pytest.approx(MARGIN * RING / 16_384.0)
    assert reach_covers(_cache(), 60.0)


@pytest.mark.parametrize("missing", [{"downto": None}, {"downto": 0}, {"size": None}, {"bytes_s": None}])
def test_that_a_reach_is_not_known_without_range_size_and_rate(missing: dict[str, None]) -> None:
    assert _cache(**missing).reach_s is None


def test_that_a_ring_nobody_writes_to_lasts_without_end() -> None:
    assert _cache(bytes_s=0.0).reach_s == math.inf


def test_that_a_snapshot_counts_on_no_more_of_a_ring_than_any_other_run_does() -> None:
    rate = Rates(1_000.0, 10.0, 2.0)
    seen = facts(*(host(n, group=galera(n, gcache_size=RING), rates=rate) for n in NAMES))
    lasts = MARGIN * RING / 1_000.0
    assert reach(seen, NAMES, 0.99 * lasts / REACH_TIMES).verdict is PASS
    short = reach(seen, NAMES, 1.01 * lasts / REACH_TIMES)
    assert (short.verdict, f"n1 {lasts:.0f} s" in short.evidence) == (BLOCK, True)
