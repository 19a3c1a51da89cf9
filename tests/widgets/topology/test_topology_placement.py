"""Where nodes stand: deterministic, without overlap, and steady while states change."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.discovery.model import ClusterSnapshot, Component, ReplicationEdge
from services.drawing.box import Box
from services.drawing.routes import Router
from services.types import Health
from tests.widgets import builders as b
from widgets.topology.geometry import LANES
from widgets.topology.layers import groups
from widgets.topology.placement import place, structure

SITUATIONS = [
    b.healthy(),
    b.sst_running(),
    b.partitioned(),
    b.no_primary(),
    b.killed(),
    b.two_segments(),
    b.tree_with_broken(),
    b.ring(),
    b.ring(2),
    b.ring(5),
    b.multi_source(),
    b.single(),
    b.silent(),
    b.many(60),
]


@pytest.mark.parametrize("cluster", SITUATIONS, ids=lambda c: f"{c.name}-{len(c.nodes)}")
def test_that_every_node_has_a_place_of_its_own(cluster: ClusterSnapshot) -> None:
    placement = place(cluster)
    assert set(placement.nodes) == {n.node_id for n in cluster.nodes}
    for one, other in combinations([*placement.nodes.values(), *(h.box for h in placement.holes)], 2):
        assert not one.overlaps(other)


@pytest.mark.parametrize("cluster", SITUATIONS, ids=lambda c: f"{c.name}-{len(c.nodes)}")
def test_that_the_order_in_which_nodes_were_found_does_not_matter(cluster: ClusterSnapshot) -> None:
    turned = replace(cluster, nodes=tuple(reversed(cluster.nodes)), replication=tuple(reversed(cluster.replication)))
    assert place(turned).nodes == place(cluster).nodes


def test_that_a_change_of_state_moves_nobody() -> None:
    before = b.healthy()
    nodes = tuple(replace(n, state="Donor/Desynced", health=Health.TRANSFER, numbers=()) for n in before.nodes)
    after = replace(before, nodes=nodes, at=before.at + 1)
    assert structure(after) == structure(before)
    assert place(after).nodes == place(before).nodes


def test_that_a_lost_node_leaves_a_hole_and_the_others_stay() -> None:
    whole, broken = place(b.healthy()), place(b.killed())
    assert broken.nodes["db1"] == whole.nodes["db1"]
    assert broken.nodes["db3"] == whole.nodes["db3"]
    assert [(h.node_id, h.box) for h in broken.holes] == [("db2", whole.nodes["db2"])]
    assert not broken.nodes["db2"].overlaps(broken.shapes[0].box)


def test_that_an_island_has_an_outline_of_its_own_outside_the_primary_component() -> None:
    placement = place(b.partitioned())
    home, island = placement.shapes
    assert (home.component_id, island.component_id) == ("pc", "island")
    assert not home.box.overlaps(island.box)
    assert _inside(placement.nodes["db3"], island.box)
    assert _inside(placement.nodes["db1"], home.box)


def test_that_without_a_primary_component_every_part_has_an_outline_and_nobody_a_hole() -> None:
    placement = place(b.no_primary())
    left, right = placement.shapes
    assert (left.component_id, right.component_id) == ("left", "right")
    assert not left.box.overlaps(right.box)
    assert not placement.holes


def test_that_segments_are_chambers_that_hold_their_nodes() -> None:
    cluster = b.two_segments()
    placement = place(cluster)
    assert [c.segment for c in placement.chambers] == [0, 1]
    for node in cluster.nodes:
        assert _inside(placement.nodes[node.node_id], placement.chambers[node.segment or 0].box)


def test_that_one_segment_needs_no_chamber() -> None:
    assert place(b.healthy()).chambers == ()


def test_that_a_replica_of_a_member_hangs_below_its_source() -> None:
    placement = place(b.sst_running())
    assert placement.nodes["report1"].cx == placement.nodes["db3"].cx
    assert placement.nodes["report1"].y > placement.shapes[0].box.bottom


def test_that_replicas_stand_below_their_sources_and_a_parent_over_the_middle() -> None:
    boxes = place(b.tree_with_broken()).nodes
    assert boxes["bill1"].bottom < boxes["bill2"].y == boxes["bill3"].y < boxes["bill4"].y == boxes["bill5"].y
    assert boxes["bill2"].cx == (boxes["bill4"].cx + boxes["bill5"].cx) / 2
    assert boxes["bill4"].x < boxes["bill5"].x


def test_that_a_ring_stands_in_one_row_each_server_right_of_its_source() -> None:
    boxes = place(b.ring(4)).nodes
    assert len({box.y for box in boxes.values()}) == 1
    assert [n for n, _ in sorted(boxes.items(), key=lambda p: p[1].x)] == ["ring1", "ring2", "ring3", "ring4"]


def test_that_a_replica_of_several_sources_stands_below_their_middle() -> None:
    boxes = place(b.multi_source()).nodes
    sources = [boxes[n] for n in ("ap", "eu", "us")]
    assert boxes["gather"].cx == (sources[0].cx + sources[2].cx) / 2
    assert all(s.bottom < boxes["gather"].y for s in sources)


names = st.integers(min_value=0, max_value=11).map(lambda i: f"s{i}")
links = st.lists(st.tuples(names, names), max_size=30)


@given(links)
def test_that_any_graph_of_replication_gets_a_drawing_without_overlap(edges: list[tuple[str, str]]) -> None:
    nodes = tuple(b.source_node(f"s{i}") for i in range(12))
    cluster = b.asynchronous(nodes, tuple(ReplicationEdge(a, r, f"{a}-{r}") for a, r in edges))
    boxes = place(cluster).nodes
    assert len(boxes) == 12
    for one, other in combinations(boxes.values(), 2):
        assert not one.overlaps(other)
    router = Router(boxes, LANES)
    for a, r in edges:
        route = router.replication(a, r)
        assert (route is None) == (a == r)


@given(links)
def test_that_groups_hold_every_server_once_and_sources_lie_above(edges: list[tuple[str, str]]) -> None:
    order = [f"s{i}" for i in range(12)]
    found = groups(order, edges)
    assert sorted(m for g in found for m in g.members) == sorted(order)
    layer = {m: g.layer for g in found for m in g.members}
    home = {m: i for i, g in enumerate(found) for m in g.members}
    for a, r in edges:
        assert home[a] == home[r] or layer[a] < layer[r]


@given(st.lists(st.integers(min_value=0, max_value=3), min_size=1, max_size=14), st.data())
def test_that_any_split_of_a_cluster_gets_a_drawing_without_overlap(parts: list[int], data: st.DataObject) -> None:
    """Part 0 is the primary component, 1 and 2 are islands, 3 is nobody's."""
    segments = data.draw(st.lists(st.integers(min_value=0, max_value=2), min_size=len(parts), max_size=len(parts)))
    nodes = tuple(
        b.node(f"db{i}", segment=segment, component="" if part == 3 else str(part))
        for i, (part, segment) in enumerate(zip(parts, segments, strict=True))
    )
    components = tuple(
        Component(str(p), p == 0, tuple(n.node_id for n, q in zip(nodes, parts, strict=True) if q == p))
        for p in range(3)
        if p in parts
    )
    placement = place(b.galera(nodes, components))
    assert set(placement.nodes) == {n.node_id for n in nodes}
    for one, other in combinations([*placement.nodes.values(), *(h.box for h in placement.holes)], 2):
        assert not one.overlaps(other)
    for one, other in combinations([s.box for s in placement.shapes], 2):
        assert not one.overlaps(other)


def test_that_a_node_claimed_by_two_views_stands_where_its_own_view_puts_it() -> None:
    cluster = b.partitioned()
    slow = replace(cluster.components[0], members=("db1", "db2", "db3"))  # db1 has not noticed yet that db3 is gone
    placement = place(replace(cluster, components=(slow, cluster.components[1])))
    assert _inside(placement.nodes["db3"], placement.shapes[1].box)
    assert [h.node_id for h in placement.holes] == ["db3"]


def test_that_members_nobody_knows_more_of_do_not_disturb() -> None:
    cluster = b.healthy()
    wider = replace(cluster.components[0], members=(*cluster.components[0].members, "ghost"))
    assert place(replace(cluster, components=(wider,))).nodes == place(cluster).nodes


def test_that_a_straight_edge_is_straight_and_a_blocked_one_goes_around() -> None:
    boxes = {"a": Box(0, 0, 196, 124), "mid": Box(0, 208, 196, 124), "low": Box(0, 416, 196, 124)}
    router = Router(boxes, LANES)
    straight, around = router.replication("a", "mid"), router.replication("a", "low")
    assert straight is not None
    assert around is not None
    assert len(straight.points) == 2
    assert any(x > 196 for x, _ in around.points)
    for (x0, y0), (x1, y1) in zip(around.points, around.points[1:], strict=False):
        piece = Box(min(x0, x1), min(y0, y1), max(0.1, abs(x1 - x0)), max(0.1, abs(y1 - y0)))
        assert not piece.overlaps(boxes["mid"])


def _inside(inner: Box, outer: Box) -> bool:
    return inner.x >= outer.x and inner.y >= outer.y and inner.right <= outer.right and inner.bottom <= outer.bottom


def test_that_who_left_stands_below_the_labels_of_the_edges_inside() -> None:
    """The middle member of a replica set was cut off: its card lay on the lag of the last one."""
    gone = b.killed()
    first, last = (n.node_id for n in gone.nodes if n.component and n.node_id in {"db1", "db3"})
    placed = place(replace(gone, replication=(ReplicationEdge(first, last),)))
    home = placed.shapes[0].box
    assert placed.nodes["db2"].y - home.bottom >= LANES.label + 32
