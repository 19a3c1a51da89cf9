"""Members of one set on one host: each is known by its port, none is drawn twice, none that was lost is forgotten."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.discovery.model import ClusterSnapshot
from services.facts.model import NodeFacts
from services.types import Reach
from tests.unit.discovery import mongo_scenes as m
from tests.unit.discovery import scenes as s


def _on(address: str, number: int, members: int = 3) -> NodeFacts:
    rows = tuple(
        m.row(n, "PRIMARY" if n == 1 else "SECONDARY", place=m.place(f"{address}:2800{n}"))
        for n in range(1, members + 1)
    )
    return replace(m.member(number, m.view(number, rows)), host=f"m{number}", address=address)


def _silent(address: str, number: int) -> NodeFacts:
    return NodeFacts(f"m{number}", s.AT, Reach.NONE, address, speaks="MongoDB")


def _drawn(cluster: ClusterSnapshot) -> list[tuple[str, str]]:
    return sorted((node.name, node.host) for node in cluster.nodes)


@pytest.mark.parametrize("address", ["127.0.0.1", "192.0.2.7"])
def test_that_a_member_that_was_named_before_it_answered_is_drawn_once(address: str) -> None:
    before = s.estate(_on(address, 1), _silent(address, 2), _silent(address, 3))
    after = s.only(s.estate(*(_on(address, n) for n in (1, 2, 3)), previous=before))
    assert _drawn(after) == [("m1", "m1"), ("m2", "m2"), ("m3", "m3")]


@pytest.mark.parametrize("address", ["127.0.0.1", "192.0.2.7"])
def test_that_a_member_nobody_names_any_more_stays_as_lost_though_others_share_its_host(address: str) -> None:
    before = s.estate(_on(address, 1))
    after = s.only(s.estate(_on(address, 1, members=2), previous=before))
    assert f"{address}:28003" in [name for name, _ in _drawn(after)]
