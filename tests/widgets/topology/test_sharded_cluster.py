"""A sharded cluster in the window: groups side by side, mongos above, nothing upon another; rows of the inspector."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

from pytestqt.qtbot import QtBot

from services.discovery.model import ClusterSnapshot
from services.drawing.box import Box
from services.facts.mongodb.sharding import Router, Shard, ShardedCluster
from tests.unit.discovery import mongo_scenes as m
from tests.unit.discovery import scenes as s
from widgets.topology.inspector.mongodb import mongodb_rows
from widgets.topology.placement import place
from widgets.topology.view import TopologyView
from widgets.topology.wording import component_title

MIRRORS = "c1:27019,c2:27019,c3:27019"


def _cluster(shards: int = 1, *, parted: bool = False) -> ClusterSnapshot:
    told = tuple(
        Shard(f"rs{n}", m.hosts(f"rs{n}/" + ",".join(f"s{n}x{i}:27018" for i in (1, 2, 3)))) for n in range(shards)
    )
    known = ShardedCluster("c1d", m.hosts(MIRRORS), told, (Router(m.place("r1:27017"), "3.2.5", s.AT),), balancer=True)
    hosts = [m.router(1, known), m.router(2, known), *(m.mirror(n, known) for n in (1, 2, 3))]
    for n in range(shards):
        cut = m.rows("SECONDARY", "DOWN", "DOWN") if parted else m.THREE
        rest = m.rows("DOWN", "PRIMARY", "SECONDARY") if parted else m.THREE
        for i in (1, 2, 3):
            seen = tuple(replace(one, place=m.place(f"s{n}x{one.id}:27018")) for one in (cut if i == 1 else rest))
            hosts.append(m.member(i, m.view(i, seen, name=f"rs{n}", id=f"id{n}"), shard=True))
    return s.only(s.estate(*hosts))


def _apart(boxes: list[Box]) -> bool:
    return all(
        a.right <= b.x or b.right <= a.x or a.bottom <= b.y or b.bottom <= a.y for a, b in combinations(boxes, 2)
    )


def test_that_every_card_has_a_place_of_its_own_and_mongos_stand_on_top() -> None:
    for shards, parted in ((1, False), (3, False), (2, True)):
        cluster = _cluster(shards, parted=parted)
        found = place(cluster)
        assert set(found.nodes) == {n.node_id for n in cluster.nodes}
        assert _apart(list(found.nodes.values()))
        assert _apart([shape.box for shape in found.shapes])
        assert {shape.component_id for shape in found.shapes} == {c.component_id for c in cluster.components}
        top = min(box.y for box in found.nodes.values())
        assert {found.nodes[r].y for r in ("r1", "r2")} == {top}
        assert all(found.nodes["c1"].bottom < shape.box.y for shape in found.shapes)


def test_that_a_lost_member_leaves_a_hole_in_its_shard_and_stands_below_it() -> None:
    cluster = _cluster(2)
    gone, part = "s1x2", next(c for c in cluster.components if "s1x2" in c.members)
    members = tuple(m for m in part.members if m != gone)
    smaller = replace(part, members=members, absent=(gone,))
    nodes = tuple(replace(n, component="", role="") if n.node_id == gone else n for n in cluster.nodes)
    lost = replace(cluster, nodes=nodes, components=tuple(smaller if c is part else c for c in cluster.components))
    before, after = place(cluster), place(lost)
    (hole,) = after.holes
    outline = next(shape.box for shape in after.shapes if shape.component_id == part.component_id)
    assert (hole.node_id, before.holes) == (gone, ())
    assert outline.x <= hole.box.x <= hole.box.right <= outline.right
    assert (after.nodes[gone].x, after.nodes[gone].y >= outline.bottom) == (hole.box.x, True)
    assert after.bounds.w == before.bounds.w
    assert {i: box for i, box in after.nodes.items() if i in members} == {i: before.nodes[i] for i in members}
    assert _apart([*after.nodes.values(), hole.box])


def test_that_of_two_parts_the_one_with_the_majority_keeps_the_others_places() -> None:
    found = place(_cluster(parted=True))
    assert [hole.node_id for hole in found.holes] == ["s0x1"]


def test_that_a_group_is_called_by_what_it_is_and_a_part_without_a_majority_says_so() -> None:
    assert [component_title(c, _cluster()) for c in _cluster().components] == ["Shard rs0"]
    parted = _cluster(parted=True)
    assert [component_title(c, parted) for c in parted.components] == ["Shard rs0", "Shard rs0: No majority"]


def test_that_the_inspector_tells_the_set_the_member_and_the_cluster() -> None:
    view = m.view(2, (m.row(1, "PRIMARY"), m.row(2, hidden=True, priority=0.0, tags=(("dc", "a"),)), m.row(3)))
    facts = m.member(2, view)
    assert facts.mongo is not None
    rows = {label: (value, note) for label, value, note, _ in mongodb_rows(facts.mongo)}
    assert rows["replica set"] == ("rs0", "")
    assert rows["votes in set"] == ("3", "majority 2")
    assert rows["counts in"] == ("1 vote", "priority 0")
    assert rows["special"] == ("hidden, dc: a", "")
    router = m.router(1, ShardedCluster("c", m.hosts(MIRRORS), (Shard("rs0", m.hosts("rs0/a:1")),), balancer=False))
    assert router.mongo is not None
    told = {label: value for label, value, _, _ in mongodb_rows(router.mongo)}
    assert told == {"config servers": MIRRORS, "shards": "rs0", "balancer": "off"}
    assert mongodb_rows(None) == []


def test_that_the_bar_says_what_no_card_of_a_set_shows(qtbot: QtBot) -> None:
    seen = m.rows("DOWN", "SECONDARY", "SECONDARY")
    cluster = s.only(s.estate(m.down(1), m.member(2, m.view(2, seen)), m.member(3, m.view(3, seen))))
    view = TopologyView()
    qtbot.addWidget(view)
    view.show_snapshot(cluster, {}, s.AT)
    assert view.message() == "The replica set rs0 has a majority and no primary: writes wait for an election."
