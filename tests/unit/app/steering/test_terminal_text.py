"""Snapshots as text for a terminal, the charts' plan and the inspector's numbers: pure, on synthetic values."""

from __future__ import annotations

import logging
from dataclasses import replace

import pytest

from app.cli.terminal import component_sentence, estate_text
from app.cli.visible import VisibleLines
from app.window.charts.node_numbers import machine_rows
from services.discovery.families.galera.kind import GALERA
from services.discovery.families.replication.kind import ASYNC
from services.discovery.model import ClusterSnapshot, Component, EstateSnapshot, NodeView, ReplicationEdge, Unasked
from services.discovery.snapshot import updated_estate
from services.facts.model import NodeFacts, Problem
from services.sampling.model import Metric
from services.types import Flavour, Health, Reach

NODES = (
    NodeView("n1", "db1", address="10.20.0.11:3306", state="Synced", health=Health.GOOD, role="writer"),
    NodeView(
        "n2",
        "db2",
        state="no answer",
        health=Health.UNKNOWN,
        numbers=(("receive queue", "12", Health.WARN),),
    ),
)
CLUSTER = ClusterSnapshot(
    "8f21c0de",
    GALERA,
    "orders",
    100.0,
    Flavour.MARIADB,
    "10.11.14",
    nodes=NODES,
    components=(Component("pc", True, ("n1",), votes=1, votes_known=2, may_lose=0, view_id="214"),),
    agreement="Seen from db1",
    health=Health.WARN,
    problems=(Problem("discovery", "db3 was not tried."),),
)


def test_that_a_cluster_is_told_with_its_quorum_its_nodes_and_whose_eyes_saw_it() -> None:
    text = estate_text(EstateSnapshot(100.0, (CLUSTER,), hosts_total=2, hosts_answering=1))
    assert text.splitlines() == [
        "orders  Galera · MariaDB 10.11.14 · state 8f21c0de",
        "  Primary component: 1 of 2 votes, may lose none, view 214",
        "    ● db1 (writer)  Synced  10.20.0.11:3306",
        "  ○ db2  no answer    receive queue 12",
        "  Seen from db1",
        "  ! discovery: db3 was not tried.",
        "",
        "1 of 2 hosts answer",
    ]


def test_that_a_host_reached_by_neither_way_is_told_with_both_reasons_and_none_twice() -> None:
    sql, ssh = "db1 port 3306 refused the connection.", "There is no route to db1 port 22."
    twice = "The way to the database: There is no route to db1 port 22."
    for of_sql, told in ((sql, [sql, ssh]), (twice, [ssh, twice]), (ssh, [ssh])):
        problems = (Problem("sql", of_sql, "connection-refused" if of_sql == sql else "no-route"),
                    Problem("ssh", ssh, "no-route"))  # fmt: skip
        facts = NodeFacts("db1", 1.0, Reach.NONE, problems=problems)
        lines = [line.strip() for line in estate_text(updated_estate(None, {"db1": facts}, 1.0)).splitlines()]
        found = [line for line in lines if "port" in line]
        assert found == ([told[0]] if of_sql == twice else told)


def test_that_every_health_has_a_shape_of_its_own() -> None:
    shapes = {estate_text(_with(health)).splitlines()[1].strip()[0] for health in Health}
    assert len(shapes) == len(Health)


def _with(health: Health) -> EstateSnapshot:
    node = NodeView("n", "n", state="word", health=health)
    return EstateSnapshot(1.0, (replace(CLUSTER, nodes=(node,), components=(), agreement="", problems=()),))


def test_that_a_part_without_majority_promises_nothing() -> None:
    assert (
        component_sentence(Component("c", False, ("n1",), votes=1, votes_known=3), CLUSTER)
        == "non-Primary: 1 of 3 votes"
    )


def test_that_an_asynchronous_edge_tells_its_lag() -> None:
    edge = ReplicationEdge("n1", "n2", "", Health.GOOD, "Yes", "Yes", lag_s=2.0)
    cluster = replace(CLUSTER, kind=ASYNC, components=(), replication=(edge,))
    text = estate_text(EstateSnapshot(1.0, (cluster,)))
    assert any("db1" in line and "db2" in line and "2" in line for line in text.splitlines())


def test_that_an_empty_estate_is_told_as_such() -> None:
    assert estate_text(EstateSnapshot(1.0)) == "0 of 0 hosts answer\n"


@pytest.mark.parametrize(("value", "health"), [(10.0, Health.UNKNOWN), (97.0, Health.BAD)])
def test_that_a_number_over_its_limit_is_marked(value: float, health: Health) -> None:
    metric = Metric("innodb.checkpoint_age_share", "redo age", "%", "gauge", "x", "", warn=75.0, bad=90.0)
    rows = machine_rows({"innodb.checkpoint_age_share": value, "innodb.redo_capacity": 8e9}, (metric,))
    assert rows == (("redo age", f"{value:.0f} % of 8 GB", health),)


def test_that_a_machine_without_samples_has_no_numbers() -> None:
    assert machine_rows({}, ()) == ()


def test_that_hosts_that_were_not_asked_are_told_with_the_ways_to_allow_it() -> None:
    named = (Unasked("10.20.0.12", "db2", ("db1", "db4"), "db1"), Unasked("10.20.0.13", "10.20.0.13", ("db1",), "db1"))
    text = estate_text(EstateSnapshot(100.0, (CLUSTER,), unasked=named))
    assert "2 hosts are named but were not queried:" in text
    assert "  ○ db2  10.20.0.12  named by db1, db4" in text
    assert "--also 10.20.0.12" in text
    assert "not queried" not in estate_text(EstateSnapshot(100.0, (CLUSTER,)))


def test_that_a_log_record_is_visible_and_never_looks_like_two() -> None:
    record = logging.LogRecord(
        "paramiko.transport", 30, "x", 1, "banner %s", ("a\x1b[2J\n2026 ERROR all is lost\u202e",), None
    )
    said = VisibleLines("%(levelname)s %(name)s: %(message)s").format(record)
    assert said == "WARNING paramiko.transport: banner a\ufffd[2J\n    2026 ERROR all is lost\ufffd"
