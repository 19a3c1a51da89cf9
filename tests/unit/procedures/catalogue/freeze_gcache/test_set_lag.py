"""SET-LAG: members are asked one after the other, and what was written between two of them is no lag."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.connections.mongo.document import Stamp
from services.facts.model import NodeFacts
from services.facts.mongodb.replica_set import ReplicaSet
from services.procedures.catalogue.mongodb.shared.checks import set_lag
from services.procedures.catalogue.mongodb.shared.sets import sets_of
from services.procedures.plan.checks import Check, Verdict
from services.procedures.plan.host_facts import Facts, HostFacts
from tests.unit.discovery.mongo_scenes import NOW, member, row, view

HOUR = 3600


def _node(number: int, entries: dict[int, int], *, heard_s: float | None = 1.0, delay_s: int = 0) -> NodeFacts:
    """A member's own look: number of each member -> how old its newest entry is, as this member knows it."""
    rows = tuple(
        replace(
            row(n, "PRIMARY" if n == 1 else "SECONDARY", optime=Stamp(NOW - age, 1)),
            heard_at=None if heard_s is None or n == number else NOW - heard_s,
            delay_s=delay_s if n == 2 else 0,
        )
        for n, age in entries.items()
    )
    return member(number, view(number, rows, at=float(NOW)))


def _check(*nodes: NodeFacts) -> Check:
    hosts = tuple(HostFacts(n.host, n.host, n) for n in nodes)
    (one,) = sets_of(Facts(float(NOW), "5f00", "shop", members=tuple(h.host for h in hosts), hosts=hosts))
    return set_lag(one)


def test_that_a_write_between_two_looks_on_an_idle_set_is_no_lag() -> None:
    """m2 was asked, then somebody wrote for the first time in an hour, then the primary was asked."""
    primary = _node(1, {1: 0, 2: HOUR, 3: HOUR})
    found = _check(primary, _node(2, {1: HOUR, 2: HOUR, 3: HOUR}), _node(3, {1: 0, 2: 0, 3: 0}))
    assert (found.verdict, found.evidence) == (Verdict.PASS, "rs0: m2 0 s, m3 0 s")


def test_that_a_member_which_lags_blocks_on_a_busy_set_and_on_one_that_is_idle() -> None:
    late = _check(_node(1, {1: 0, 2: 40}), _node(2, {1: 2, 2: 40}))
    assert (late.verdict, "m2 is 38 s behind" in late.evidence) == (Verdict.BLOCK, True)
    stuck = _check(_node(1, {1: HOUR, 2: HOUR + 60}), _node(2, {1: HOUR, 2: HOUR + 60}))
    assert (stuck.verdict, "m2 is 3598 s behind" in stuck.evidence) == (Verdict.BLOCK, True)


def test_that_a_member_which_lacks_the_last_entry_of_a_set_that_stands_still_lags_for_as_long() -> None:
    """Its majority writes hang on that very member (fsyncLock on 3.2.5), so nothing newer comes to tell it by."""
    found = _check(_node(1, {1: 30, 2: 31}), _node(2, {1: 30, 2: 31}))
    assert (found.verdict, "m2 is 28 s behind" in found.evidence) == (Verdict.BLOCK, True)


@pytest.mark.parametrize("heard_s", [None, 30.0])
def test_that_a_member_which_hears_nothing_of_its_primary_is_judged_by_the_primarys_word(heard_s: float | None) -> None:
    """Cut off half a minute ago it still knows the entry of then, and has it: that is no proof of anything."""
    found = _check(_node(1, {1: 0, 2: 30}), _node(2, {1: 30, 2: 30}, heard_s=heard_s))
    assert (found.verdict, "m2 is 30 s behind" in found.evidence) == (Verdict.BLOCK, True)


def test_that_of_a_delayed_member_its_delay_is_meant_by_both_words() -> None:
    late = {1: 0, 2: HOUR}
    assert _check(_node(1, late, delay_s=HOUR), _node(2, late, delay_s=HOUR)).verdict is Verdict.PASS
    later = {1: 0, 2: HOUR + 20}
    assert _check(_node(1, later, delay_s=HOUR), _node(2, later, delay_s=HOUR)).verdict is Verdict.BLOCK


def test_that_what_is_not_known_of_either_stays_not_known() -> None:
    first, second = _node(1, {1: 0, 2: 0}), _node(2, {1: 0, 2: 0})
    assert second.mongo is not None
    assert second.mongo.set is not None
    seen: ReplicaSet = second.mongo.set
    blind = replace(seen, members=tuple(replace(m, optime=None) if m.own else m for m in seen.members))
    found = _check(first, replace(second, mongo=replace(second.mongo, set=blind)))
    assert (found.verdict, "the lag of m2 is not known" in found.evidence) == (Verdict.BLOCK, True)
