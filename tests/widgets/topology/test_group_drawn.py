"""A group of MySQL Group Replication as a person sees it: drawing, tree, terminal, charts. Invented facts."""

from __future__ import annotations

from app.cli.terminal import estate_text
from app.window.charts.chart_plan import chart_plan
from services.discovery.model import ClusterSnapshot
from services.procedures.catalogue import all_procedures
from services.procedures.service.offers import fitting, fitting_cluster, why_not
from tests.unit.discovery import group_scenes as g
from tests.unit.discovery import scenes as s
from tests.widgets import builders as b
from widgets.inventory.tree_model import cluster_entry
from widgets.topology.inspector.content import content
from widgets.topology.placement import place
from widgets.topology.wording import component_detail, component_title, subtitle

ABOUTS = tuple(procedure.about for procedure in all_procedures())


def whole() -> ClusterSnapshot:
    return s.only(s.estate(g.member(1), g.member(2), g.member(3)))


def parted() -> ClusterSnapshot:
    before = s.estate(g.member(1), g.member(2), g.member(3))
    return s.only(s.estate(g.apart(1, 1), g.apart(2, 2, 3), g.apart(3, 2, 3), previous=before))


def test_that_a_group_is_drawn_as_a_quorum_with_its_votes_and_what_it_may_lose() -> None:
    cluster = whole()
    (home,) = cluster.components
    assert component_title(home, cluster) == "Majority"
    assert "may lose 1 at a time" in component_detail(home, cluster)
    placement = place(cluster)
    assert [shape.component_id for shape in placement.shapes] == ["primary"]
    assert subtitle(cluster) == f"Group Replication · MySQL 8.4.3 · group {g.GROUP}"


def test_that_a_minority_stands_outside_and_leaves_its_hole() -> None:
    cluster = parted()
    placement = place(cluster)
    assert [component_title(c, cluster) for c in cluster.components] == ["Majority", "No majority"]
    assert [shape.component_id for shape in placement.shapes] == ["primary", "island-db1"]
    assert [hole.name for hole in placement.holes] == ["db1"]


def test_that_tree_and_terminal_tell_the_group_in_their_words() -> None:
    assert cluster_entry(whole()).detail == "Group 8.4"
    text = estate_text(s.estate(g.member(1), g.member(2), g.member(3)))
    assert "Group Replication · MySQL 8.4.3" in text
    assert "Majority: 3 of 3 votes, may lose 1 at a time, view 3" in text
    assert "db1 (primary)  ONLINE" in text


def test_that_the_inspector_tells_state_mode_and_queues_of_a_member() -> None:
    cluster = whole()
    rows = {
        row.label: row.value
        for section in content(cluster, cluster.nodes[0], s.AT, {}).sections
        for row in section.rows
    }
    assert (rows["state in the group"], rows["mode"], rows["applier queue"]) == ("ONLINE", "one primary", "0")


def test_that_a_group_has_its_own_charts_and_none_of_galera_nor_a_procedure_for_it() -> None:
    cluster = whole()
    specs = {spec.key for spec in chart_plan(cluster, cluster.nodes[0], None).specs}
    galera = {spec.key for spec in chart_plan(b.healthy(), b.healthy().nodes[0], None).specs}
    assert {"group_applier", "group_certify"} == specs - galera
    assert not specs & {"flow", "queue", "ist"}
    assert fitting(ABOUTS, cluster, cluster.nodes[0]) == ()
    assert fitting_cluster(ABOUTS, cluster, b.estate(cluster)) == ()
    why = {why_not(about, cluster, b.estate(cluster)) for about in ABOUTS}
    assert {one.partition(f", and {cluster.name} is not one")[0] for one in why} == {
        "These procedures are for Galera clusters",
        "These procedures are for MongoDB clusters",
        "This procedure is for sharded MongoDB clusters",
    }


def test_that_a_group_without_a_majority_offers_no_start_of_a_galera_cluster() -> None:
    cluster = s.only(s.estate(g.apart(1, 1), g.apart(2, 2), g.apart(3, 3)))
    assert fitting_cluster(ABOUTS, cluster, b.estate(cluster)) == ()
