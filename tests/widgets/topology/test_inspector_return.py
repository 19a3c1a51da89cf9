"""The inspector's "Return by IST": donor and cluster, with margin, unit and age; the gcache an absence needs."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pytestqt.qtbot import QtBot

from app.window.charts.ist_numbers import KEPT, KEPT_WHOLE, RATE, REACH, WINDOW, ist_rows
from services.discovery.model import ClusterReach, ClusterSnapshot
from services.facts.galera.ist import MARGIN
from services.sampling.ist_reach import HOUR_S, WEEK_S
from services.types import Health
from tests.widgets import builders as b
from widgets.topology.inspector.content import RETURN, Row, content
from widgets.topology.inspector.panel import Inspector
from widgets.topology.inspector.prepared import prepared_content
from widgets.topology.wording import component_detail

HOUR_RATE = 100_000.0
VALUES = {REACH: 12_884.0, KEPT: 7_400.0, KEPT_WHOLE: 0.0, RATE: HOUR_RATE, WINDOW: HOUR_S}


def _cluster(reach: ClusterReach | None = None) -> ClusterSnapshot:
    return replace(b.healthy(), ist_reach=reach or ClusterReach(3 * HOUR_S, "db2", 3))


def _rows(values: dict[str, float], cluster: ClusterSnapshot | None = None) -> dict[str, Row]:
    shown = cluster or _cluster()
    return {row.label: row for row in ist_rows(values, shown, shown.nodes[0])}


def _read(row: Row) -> tuple[str, str]:
    return row.value, row.note


def test_that_donor_and_cluster_tell_how_long_with_the_margin_off() -> None:
    rows = _rows(VALUES)
    assert _read(rows["this donor"]) == ("3 h 35 min", "minus 20 % margin")
    assert _read(rows["cluster"]) == ("3 h", "db2, 2nd of 3")
    assert _read(rows["written"]) == ("100 kB/s", "over one hour")
    assert _rows({**VALUES, WINDOW: WEEK_S})["written"].note == "over the same hour last week"
    assert _rows({**VALUES, WINDOW: 142.4})["written"].note == "over 2 min 22 s"
    assert _read(rows["kept now"]) == ("at least 2 h 03 min", "")
    assert _read(_rows({**VALUES, KEPT_WHOLE: 1.0})["kept now"]) == ("the last 2 h 03 min", "")


def test_that_an_absence_tells_the_gcache_it_needs_and_whether_that_is_more_than_there_is() -> None:
    rows = _rows(VALUES)
    assert rows["gcache.size"].value == "1.61 GB"
    assert _read(rows["1 h away"]) == ("needs 450 MB", "")
    assert _read(rows["8 h away"]) == ("needs 3.6 GB", "it has less")
    assert _read(rows["24 h away"]) == ("needs 10.8 GB", "it has less")
    assert [rows[f"{time} away"].health for time in ("1 h", "8 h", "24 h")] == [
        Health.UNKNOWN, Health.WARN, Health.WARN,
    ]  # fmt: skip


def test_that_the_gcache_needed_is_what_makes_that_absence_a_safe_one() -> None:
    written = b.facts("db1").galera
    assert written is not None
    assert written.gcache_size is not None
    needed = _rows({**VALUES, RATE: 0.999 * written.gcache_size * MARGIN / (8 * HOUR_S)})["8 h away"]
    assert _read(needed) == ("needs 1.61 GB", "")


@pytest.mark.parametrize(
    ("safe", "health"), [(60.0, Health.WARN), (4 * HOUR_S - 1, Health.WARN), (4 * HOUR_S, Health.UNKNOWN)]
)
def test_that_a_short_reach_warns_and_is_no_fault(safe: float, health: Health) -> None:
    rows = _rows({**VALUES, REACH: safe}, _cluster(ClusterReach(safe, "db2", 3)))
    assert (rows["this donor"].health, rows["cluster"].health) == (health, health)


def test_that_a_week_is_counted_no_further() -> None:
    rows = _rows({**VALUES, REACH: WEEK_S, RATE: 0.0}, _cluster(ClusterReach(WEEK_S, "db2", 3)))
    assert _read(rows["this donor"]) == ("a week or more", "")
    assert rows["cluster"].value == "a week or more"
    assert "1 h away" not in rows


def test_that_what_is_not_known_says_why() -> None:
    assert _read(_rows({})["this donor"]) == ("not known yet", "takes a minute")
    shown = _cluster(ClusterReach(donors=1, reason="The reach of only one donor is known."))
    rows = _rows({}, shown)
    assert rows["cluster"].value == "not known yet"
    assert rows[""].value == "The reach of only one donor is known."
    assert "" not in _rows({}, _cluster(ClusterReach(reason="The reach of no donor is known.")))
    node = shown.nodes[0]
    assert node.facts is not None
    assert node.facts.galera is not None
    empty = replace(node, facts=replace(node.facts, galera=replace(node.facts.galera, cached_downto=0)))
    assert _read(ist_rows({}, shown, empty)[0]) == ("none", "keeps no write sets")


def test_that_a_server_outside_galera_has_no_such_rows() -> None:
    replica = b.sst_running().node("report1")
    assert replica is not None
    assert ist_rows(VALUES, b.sst_running(), replica) == ()


def test_that_the_section_carries_its_age_and_takes_the_place_of_the_cards_number() -> None:
    cluster = _cluster()
    extra = {RETURN: ist_rows(VALUES, cluster, cluster.nodes[0])}
    made = content(cluster, cluster.nodes[0], b.AT, extra)
    section = next(s for s in made.sections if s.title == RETURN)
    assert (section.age, section.stale) == ("0.6 s ago", "")
    replication = next(s for s in made.sections if s.title == "Replication")
    assert "IST reach" not in [r.label for r in replication.rows]
    old = content(cluster, cluster.nodes[0], b.AT + 30, extra)
    assert next(s for s in old.sections if s.title == RETURN).stale == "31 s ago"


def test_that_the_inspector_shows_it_between_replication_and_machine(qtbot: QtBot) -> None:
    inspector = Inspector()
    qtbot.addWidget(inspector)
    inspector.show()
    cluster = _cluster()
    inspector.show_node(prepared_content(cluster, cluster.nodes[0], b.AT, {}))
    assert inspector.rows(RETURN) == ()
    extra = {RETURN: ist_rows(VALUES, cluster, cluster.nodes[0])}
    inspector.show_node(prepared_content(cluster, cluster.nodes[0], b.AT, extra))
    assert inspector.rows(RETURN)[0] == ("this donor", "3 h 35 min")
    qtbot.wait(20)
    tops = [inspector._sections[title].y() for title in ("Replication", RETURN, "Machine")]
    assert tops == sorted(tops)
    assert len(set(tops)) == 3


def test_that_the_enclosure_tells_the_clusters_reach() -> None:
    cluster = _cluster()
    assert component_detail(cluster.components[0], cluster).endswith("view 214 · IST reach 3 h")
    unknown = _cluster(ClusterReach(reason="The reach of no donor is known."))
    assert component_detail(unknown.components[0], unknown).endswith("view 214")
