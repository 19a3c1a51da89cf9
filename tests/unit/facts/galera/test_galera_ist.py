"""May a node return by IST, and for how long still: the rule that forecasts, proofs and drawings ask."""

from __future__ import annotations

import math

import pytest

from services.facts.galera.ist import MARGIN, Cache, Ist, Served, cache_in, cache_told, ist_offers, lasts_s, safe_gap
from services.facts.model import GaleraFacts
from services.facts.replication.write_rate import Rates

MIB = 2**20
RATES = Rates(bytes_s=36_000.0, seqno_s=25.0, over_s=2.0)  # 1,440 bytes a write set
IDLE = Rates(0.0, 0.0, 2.0)


def _one(stopped_at: int | None, cache: Cache) -> Served:
    return ist_offers(stopped_at, {"n1": cache})["n1"]


def _left(stopped_at: int, cache: Cache) -> float:
    left = _one(stopped_at, cache).left_s
    assert left is not None
    return left


# -- whom --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stopped_at", "answer"),
    [
        (9_000, Ist.SERVES),
        (9_001, Ist.AHEAD),
        (1_063, Ist.SERVES),
        (1_062, Ist.GAP),
        (1_000, Ist.GAP),
        (999, Ist.PURGED),
        (None, Ist.NOT_KNOWN),
    ],
)
def test_that_a_position_is_served_from_the_gap_up_to_the_newest(stopped_at: int | None, answer: Ist) -> None:
    found = _one(stopped_at, Cache(1_001, 9_000))
    assert (found.answer, found.gap) == (answer, 1_063)


def test_that_the_gap_is_a_128th_of_what_is_cached_and_a_million_at_most() -> None:
    assert safe_gap(0, 1280) == 10
    assert safe_gap(0, 10**12) == 2**20
    assert safe_gap(10, 5) == 10


def test_that_the_newest_of_the_group_counts_and_not_that_of_a_donor_that_applies_late() -> None:
    late, newest = Cache(1_001, 8_990), Cache(5_000, 9_000)
    assert ist_offers(8_995, {"n1": late, "n2": newest})["n1"].answer is Ist.SERVES
    assert ist_offers(9_001, {"n1": late, "n2": newest})["n1"].answer is Ist.AHEAD
    far = Cache(5_000, 1_001 + 128 * 100)
    assert ist_offers(1_063, {"n1": Cache(1_001, 9_000)})["n1"].answer is Ist.SERVES
    assert ist_offers(1_063, {"n1": Cache(1_001, 9_000), "n2": far})["n1"].answer is Ist.GAP


def test_that_the_lowest_cache_of_all_members_makes_the_gap_also_one_that_is_never_chosen() -> None:
    deep, chosen = Cache(1, 9_000, synced=False), Cache(5_000, 9_000)
    assert ist_offers(5_000, {"n2": chosen})["n2"].answer is Ist.GAP
    found = ist_offers(5_000, {"n1": deep, "n2": chosen})
    assert (found["n1"].answer, found["n2"].answer) == (Ist.NOT_SYNCED, Ist.SERVES)


def test_that_an_empty_cache_serves_nobody_and_makes_no_gap() -> None:
    found = ist_offers(5_100, {"n1": Cache(0, 9_000), "n2": Cache(5_000, 9_000)})
    assert (found["n1"].answer, found["n2"].answer) == (Ist.KEEPS_NOTHING, Ist.SERVES)


@pytest.mark.parametrize("cache", [Cache(None, 9_000), Cache(1_001, None), Cache(1_001, 9_000, synced=None)])
def test_that_what_a_member_does_not_tell_is_neither_yes_nor_no(cache: Cache) -> None:
    found = _one(5_000, cache)
    assert (found.answer, found.serves, found.left_s, found.least_s) == (Ist.NOT_KNOWN, False, None, None)


def test_that_a_cache_is_read_out_of_the_status_and_out_of_facts() -> None:
    status = {"wsrep_local_cached_downto": "7", "wsrep_last_committed": "9", "wsrep_local_state": "2"}
    assert cache_in(status) == Cache(7, 9, synced=False)
    assert cache_in({"wsrep_local_cached_downto": "18446744073709551615"}) == Cache(None, None, synced=None)
    facts = GaleraFacts(cached_downto=7, last_committed=9, local_state=4, gcache_size=MIB)
    assert cache_told(facts, RATES) == Cache(7, 9, True, MIB, RATES)
    assert cache_told(None) == Cache(None, None, synced=None)


# -- for how long ------------------------------------------------------------------------------------------------------


def test_that_a_full_ring_promises_its_share_that_is_older_than_what_is_needed() -> None:
    ring = 10_000 * 1_440  # holds just these
    cache = Cache(90_001, 100_000, ring=ring, rates=RATES)
    assert _left(95_000, cache) == pytest.approx(MARGIN * (95_000 - 90_079) * 1_440 / 36_000.0, rel=1e-3)


def test_that_a_ring_which_is_not_full_yet_keeps_a_position_until_it_is() -> None:
    young = Cache(59_900, 62_000, ring=128 * MIB, rates=RATES)
    deep = Cache(1, 62_000)
    left = ist_offers(60_000, {"n1": young, "n2": deep})["n1"].left_s
    assert left == pytest.approx((MARGIN * 128 * MIB - 2_000 * 1_440) / 36_000.0)
    seen = Cache(59_900, 62_000, ring=128 * MIB, rates=RATES, purged_s=25.0)
    assert ist_offers(60_000, {"n1": seen, "n2": deep})["n1"].left_s == pytest.approx(101 / 25.0), (
        "it was seen to purge"
    )


def test_that_the_donor_selection_may_give_a_position_up_before_the_ring_does() -> None:
    assert _left(397, Cache(1, 3_102, ring=128 * MIB, rates=RATES)) == pytest.approx((1 + 128 * 397 - 3_102) / 25.0)
    near = Cache(99_957, 99_999, ring=128 * MIB, rates=RATES)
    assert _left(99_957, near) == 86 / 25.0, "the gap is whole write sets: the first comes with the 128th"
    full = Cache(1, 128_001, rates=RATES)
    assert _left(1_011, full) == 10 / 25.0, "the gap is at 1,001 and moves as fast as the ring is written"


def test_that_large_writes_behind_small_ones_are_counted_in_bytes() -> None:
    """Write sets of 1 KiB fill the ring, now one of 1 MiB a second comes: half of the ring is gone in a minute."""
    bulk = Cache(1, 131_072, ring=128 * MIB, rates=Rates(float(MIB), 1.0, 2.0))
    found = _one(65_536, bulk)
    assert found.left_s == pytest.approx(MARGIN * 63.0, rel=1e-2)


def test_that_small_writes_behind_large_ones_are_told_by_their_number_too() -> None:
    burst = Cache(901, 1_100, ring=128 * MIB, rates=Rates(100_000.0, 100.0, 2.0))
    found = _one(1_000, burst)
    assert found.least_s == pytest.approx((1_000 - 902) / 100.0)
    assert found.left_s == (901 + 128 * 100 - 1_100) / 100.0, "the ring has room for longer; the gap does not wait"


def test_that_without_a_ring_or_bytes_each_write_set_counts_as_one_that_is_purged() -> None:
    for cache in (Cache(1_001, 9_000, rates=RATES), Cache(1_001, 9_000, ring=MIB, rates=Rates(0.0, 25.0, 2.0))):
        found = _one(5_000, cache)
        assert found.left_s == found.least_s == (5_000 - 1_063) / 25.0


def test_that_without_writes_it_lasts_for_ever_and_without_a_rate_nobody_knows() -> None:
    assert _left(5_000, Cache(1_001, 9_000, ring=MIB, rates=IDLE)) == math.inf
    found = _one(5_000, Cache(1_001, 9_000, ring=MIB))
    assert (found.serves, found.left_s, found.least_s) == (True, None, None)
    assert _left(5_000, Cache(1_001, 9_000, purged_s=10.0)) == (5_000 - 1_063) / 10.0


def test_that_nothing_is_left_where_nothing_is_served() -> None:
    assert _left(900, Cache(1_001, 9_000, ring=MIB, rates=RATES)) == 0.0


@pytest.mark.parametrize(
    ("ring", "bytes_s", "lasts"),
    [(MIB, 1_024.0, MARGIN * 1_024), (MIB, 0.0, math.inf), (None, 1.0, None), (0, 1.0, None), (MIB, None, None)],
)
def test_that_a_ring_lasts_its_size_by_the_rate_with_the_margin_off(
    ring: int | None, bytes_s: float | None, lasts: float | None
) -> None:
    assert lasts_s(ring, bytes_s) == lasts
