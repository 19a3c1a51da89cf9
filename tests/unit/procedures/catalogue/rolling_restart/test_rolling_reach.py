"""A node goes down only while the donor that is named for it keeps three downtimes of what is written."""

from __future__ import annotations

import pytest

from services.facts.galera.ist import MARGIN
from services.facts.replication.write_rate import Rates
from services.procedures.catalogue.galera.rolling_restart.checks import reach
from services.procedures.plan.checks import Verdict
from services.procedures.plan.host_facts import Facts
from tests.unit.procedures.facts_of_three import BLOCK, NAMES, PASS, WARN, facts, galera, host

RING = 128 * 2**20
RATE = Rates(1_000.0, 10.0, 2.0)
LASTS = MARGIN * RING / 1_000.0


def rings(rate: Rates | None = RATE, **sizes: int) -> Facts:
    given = {n: sizes.get(n, RING) for n in NAMES}
    return facts(*(host(n, group=galera(n, gcache_size=g), rates=rate) for n, g in given.items()))


@pytest.mark.parametrize(
    ("downtime", "sst_ok", "verdict"),
    [(LASTS / 3.01, False, PASS), (LASTS / 2.99, False, BLOCK), (LASTS / 2.99, True, WARN)],
)
def test_that_less_than_three_downtimes_blocks_unless_an_sst_is_accepted(
    downtime: float, sst_ok: bool, verdict: Verdict
) -> None:
    (check,) = reach(rings(), ("n1",), downtime, sst_ok=sst_ok)
    assert (check.code, check.verdict) == ("IST-REACH-N1", verdict)
    assert bool(check.try_) is (verdict is not PASS)


def test_that_the_donor_that_will_be_named_decides_not_the_largest_cache() -> None:
    first, second = reach(rings(n1=10_000), ("n2", "n3"), 120.0, sst_ok=False)
    assert (first.verdict, second.verdict) == (PASS, BLOCK)  # n3 gives to n2, and n1 to n3: n2 was restarted
    assert "the cache of n1 lasts 8 s" in second.evidence


def test_that_an_idle_cluster_lasts_and_an_unknown_rate_never_passes() -> None:
    assert reach(rings(Rates(0.0, 0.0, 2.0)), ("n1",), 1e9, sst_ok=False)[0].verdict is PASS
    unknown = reach(rings(None), ("n1",), 1.0, sst_ok=False)[0]
    assert (unknown.verdict, "lasts not known" in unknown.evidence) == (BLOCK, True)


def test_that_hosts_of_which_nothing_is_known_never_pass() -> None:
    nothing = Facts(1.0, "", "lab", members=NAMES)
    assert {check.verdict for check in reach(nothing, NAMES, 5.0, sst_ok=False)} == {BLOCK}
