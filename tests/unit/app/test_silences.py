"""What an empty chart says: who does not answer and since when, which way in is missing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.window.charts.chart_plan import ChartPlan, chart_plan
from app.window.charts.silences import silences, why_silent
from services.discovery.families.replication.kind import ASYNC
from services.discovery.families.single.kind import UNKNOWN
from services.discovery.model import ClusterSnapshot, NodeView
from services.facts.model import NodeFacts, Problem
from services.types import Reach
from widgets.common.look.text import format_clock, speak_of_past

AT = 1_795_200_000.0
REFUSED = Problem("sql", "db1: down; next attempt in 9 s.", "connection-refused", "10.0.0.1 port 3306 refused.")

NO_SSH = (
    'Reading this needs SSH, and the inventory has no SSH account for db1. To add one: "Edit the connection '
    "of db1…\" in the host's menu, or [host.ssh] in the inventory."
)


def node(reach: Reach, name: str = "db1", **facts: object) -> NodeView:
    known = NodeFacts(name, AT, reach, **facts)  # type: ignore[arg-type]
    return NodeView(name, name, host=name, reach=reach, watched_since=AT - 60, facts=known)


@pytest.mark.parametrize(
    ("of", "metric", "words"),
    [
        (node(Reach.FULL), "cpu.user", ""),
        (
            node(Reach.NONE, problems=(REFUSED,)),
            "cpu.user",
            f"db1 has never answered; queried since {format_clock(AT - 60)}: 10.0.0.1 port 3306 refused.",
        ),
        (
            node(Reach.NONE, problems=(REFUSED,), sql_at=AT - 30, ssh_at=AT - 20),
            "load.questions",
            f"db1 does not answer since {format_clock(AT - 20)}: 10.0.0.1 port 3306 refused.",
        ),
        (
            node(Reach.SQL_ONLY, no_way=("ssh",)),
            "cpu.user",
            NO_SSH,
        ),
        (node(Reach.SQL_ONLY, no_way=("ssh",)), "load.questions", ""),
        (
            node(Reach.SSH_ONLY, no_way=("sql",)),
            "load.questions",
            NO_SSH.replace("SSH", "SQL").replace("[host.ssh]", "[host.sql]"),
        ),
        (node(Reach.NONE, no_way=("ssh",), problems=(REFUSED,)), "cpu.user", NO_SSH),
        (
            node(Reach.NONE, problems=(REFUSED, Problem("ssh", "No route.", "no-route"))),
            "cpu.user",
            f"db1 has never answered; queried since {format_clock(AT - 60)}: No route.",
        ),
        (
            node(Reach.SSH_ONLY, problems=(REFUSED,), sql_at=AT - 30),
            "load.questions",
            f"db1 does not answer over SQL since {format_clock(AT - 30)}: 10.0.0.1 port 3306 refused.",
        ),
        (node(Reach.NOT_TRIED, no_way=("sql",)), "load.questions", ""),
    ],
)
def test_that_a_metric_says_why_no_sample_of_it_comes(of: NodeView, metric: str, words: str) -> None:
    assert why_silent(of, metric) == words


def test_that_a_chart_speaks_in_place_of_its_plot_only_when_none_of_its_hosts_gives_anything() -> None:
    places = {(chart, host): (host, "load.questions") for chart in ("a", "b") for host in ("db1", "db2")}
    dark = node(Reach.NONE, problems=(REFUSED,))
    other = replace(dark, node_id="db2", name="db2", host="db2")
    both = ClusterSnapshot("c", ASYNC, "c", AT, nodes=(dark, other))
    told = silences(ChartPlan((), places), both)
    assert told.charts["a"].endswith("refused. 1 more does not answer.")
    half = silences(ChartPlan((), places), replace(both, nodes=(dark, node(Reach.FULL, "db2"))))
    assert (half.charts, sorted(half.curves)) == ({}, [("a", "db1"), ("b", "db1")])


def test_that_a_recording_has_no_way_to_add_an_account() -> None:
    speak_of_past(past=True)
    try:
        said = why_silent(node(Reach.SQL_ONLY, no_way=("ssh",)), "cpu.user")
    finally:
        speak_of_past(past=False)
    assert NO_SSH.startswith(said)
    assert said.endswith("for db1.")


def test_that_a_cluster_has_no_replica_only_where_every_member_answered() -> None:
    (db1, db2, dark) = node(Reach.FULL), node(Reach.SQL_ONLY, "db2"), node(Reach.NONE, "db3")
    heard = ClusterSnapshot("c", UNKNOWN, "c", AT, nodes=(db1, db2))
    assert _of_lag(heard) == ""
    assert _of_lag(replace(heard, nodes=(db1, dark))) == "Not known: no answer over SQL from db3."
    assert _of_lag(replace(heard, nodes=(dark,))) == "Not known: no answer over SQL from db3."


def _of_lag(cluster: ClusterSnapshot) -> str:
    return silences(chart_plan(cluster, cluster.nodes[0], None), cluster).charts.get("lag", "")
