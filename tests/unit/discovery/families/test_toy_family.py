"""A family is added by a folder: found, drawn, judged, kept and read again without another file of the program."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from app.cli.terminal import estate_text
from services.discovery.as_json import snapshot_from_json, snapshot_to_json
from services.discovery.families.builtin import BUILT_IN
from services.discovery.families.families import Families
from services.discovery.families.registry import register
from services.discovery.looks.crawl import leads_of
from services.errors import BadInput
from services.facts.model import NodeFacts
from services.types import Health
from tests.unit.discovery import scenes as s
from tests.unit.discovery.toy_family import TOY, Toy


@pytest.fixture(autouse=True)
def toys() -> Iterator[None]:
    register(Families((Toy(), *BUILT_IN)))
    yield
    register(BUILT_IN)


def toy(number: int, box: str = "red") -> NodeFacts:
    others = ",".join(f"db{n}" for n in (1, 2) if n != number)
    return s.facts(number, server=s.server(number, variables=(("toy_box", box), ("toy_others", others))))


def test_that_a_toy_cluster_is_found_drawn_and_judged() -> None:
    assert [lead.address for lead in leads_of(toy(1))] == ["db2"]
    estate = s.estate(toy(1), toy(2), s.plain(3), expected={"db1": 3})
    box = next(c for c in estate.clusters if c.kind == TOY)
    assert (box.name, box.cluster_id, box.health) == ("box red", "red", Health.WARN)
    assert [(n.name, n.state, n.health) for n in box.nodes] == [
        ("db1", "playing", Health.GOOD),
        ("db2", "playing", Health.GOOD),
    ]
    assert [p.sentence for p in box.problems] == ["2 of 3 nodes in the box"]
    assert "Box: 2 of 2 votes" in estate_text(estate)
    assert "box red" in estate_text(estate)


def test_that_a_toy_cluster_that_is_down_stays_one() -> None:
    before = s.estate(toy(1), toy(2))
    estate = s.estate(s.unreached(1, toy(1)), s.unreached(2, toy(2)), previous=before)
    assert s.only(estate).kind == TOY


def test_that_replicas_of_a_toy_stand_behind_it() -> None:
    cluster = s.only(s.estate(toy(1), toy(2), s.plain(4, s.channel(2))))
    assert cluster.kind == TOY


def test_that_a_toy_cluster_is_kept_and_read_again_and_refused_where_nobody_knows_toys() -> None:
    kept = snapshot_to_json(s.estate(toy(1), toy(2)))
    assert snapshot_from_json(kept).clusters[0].kind is TOY
    register(BUILT_IN)
    with pytest.raises(BadInput):
        snapshot_from_json(kept)


def test_that_two_families_can_not_declare_one_kind() -> None:
    with pytest.raises(ValueError, match="the same kind"):
        Families((Toy(), Toy()))
