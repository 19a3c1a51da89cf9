"""Hosts that a picture lacks stand in it as not contacted, where a person wrote them."""

from __future__ import annotations

from services.discovery.model import EstateSnapshot
from services.discovery.not_yet import with_hosts
from services.types import Health
from tests.unit.discovery.scenes import AT, STATE, address, estate, member, only

ALL = {f"db{n}": address(n) for n in (1, 2, 3)}


def test_that_a_host_of_which_nothing_is_told_yet_stands_with_the_hosts_it_is_written_with() -> None:
    first = estate(member(1, size=1))
    cluster = only(with_hosts(first, ALL, dict.fromkeys(ALL, "prod")))
    assert cluster.cluster_id == STATE
    assert [(n.host, n.state) for n in cluster.nodes][1:] == [
        ("db2", "not contacted yet"),
        ("db3", "not contacted yet"),
    ]
    assert with_hosts(first, ALL, {}).hosts_total == 3
    assert [len(c.nodes) for c in with_hosts(first, ALL, {}).clusters] == [1, 1, 1]


def test_that_an_empty_picture_has_all_hosts_and_a_whole_one_stays_as_it_is() -> None:
    nothing = with_hosts(EstateSnapshot(at=AT), ALL, dict.fromkeys(ALL, "prod"))
    assert [n.health for n in only(nothing).nodes] == [Health.UNKNOWN] * 3
    whole = estate(member(1), member(2), member(3))
    assert with_hosts(whole, ALL, {}) is whole


def test_that_a_member_that_others_name_is_not_drawn_twice() -> None:
    named = estate(member(1))  # its view names all three
    assert len(only(named).nodes) == 3
    assert with_hosts(named, ALL, {}) is named
