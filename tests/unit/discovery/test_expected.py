"""A cluster smaller than the inventory expects is said to be, with who is missing; what nobody knows accuses nobody."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.cli.terminal import estate_text
from app.written_estate import expected_sizes
from services.discovery.as_json import snapshot_from_json, snapshot_to_json
from services.discovery.expected import SMALLER
from services.discovery.model import ClusterSnapshot, EstateSnapshot
from services.facts.model import NodeFacts, Problem
from services.inventory.model import ClusterEntry, Inventory
from services.types import Health
from tests.unit.discovery.scenes import AT, channel, estate, member, plain, sql_gone, unreached


def _one(found: EstateSnapshot) -> ClusterSnapshot:
    (cluster,) = found.clusters
    return cluster


def _said(cluster: ClusterSnapshot) -> list[str]:
    return [p.sentence for p in cluster.problems if p.code == SMALLER]


def _without_db3(seconds: float = 20.0) -> tuple[NodeFacts, ...]:
    """Return two members that see each other only, and a third whose server was stopped."""
    at = AT + seconds
    left = member(1).galera, member(2).galera
    members = [m for m in left[0].members if m.name != "db3"] if left[0] is not None else []
    view = {"cluster_size": 2, "conf_id": 8, "members": tuple(members), "cluster_weight": 2,
            "incoming_addresses": ("10.20.0.11:0", "10.20.0.12:0")}  # fmt: skip
    return member(1, at=at, **view), member(2, at=at, **view), sql_gone(member(3), at=at, process_state="")


def test_that_a_cluster_of_the_expected_size_is_as_good_as_before() -> None:
    cluster = _one(estate(member(1), member(2), member(3), expected={"db1": 3}))
    assert (cluster.expected, cluster.size, cluster.health, _said(cluster)) == (3, 3, Health.GOOD, [])


def test_that_a_cluster_that_never_had_all_its_nodes_is_not_good_though_each_node_is() -> None:
    cluster = _one(estate(member(1), member(2), member(3), expected={"db2": 5}))
    assert all(n.health is Health.GOOD for n in cluster.nodes)
    assert cluster.health is Health.WARN
    assert _said(cluster) == ["The primary component has 3 of the 5 nodes expected by the inventory."]


def test_that_the_missing_are_named_where_they_are_known() -> None:
    whole = estate(member(1), member(2), member(3))
    cluster = _one(estate(*_without_db3(), previous=whole, at=AT + 20.5, expected={"db3": 3}))
    assert (cluster.expected, cluster.size) == (3, 2)
    assert _said(cluster) == ["The primary component has 2 of the 3 nodes expected by the inventory: db3 missing."]


def test_that_members_nobody_can_name_count() -> None:
    alone = member(1, members=(), incoming_addresses=())
    cluster = _one(estate(alone, expected={"db1": 3}))
    assert (cluster.size, _said(cluster)) == (3, [])


def test_that_more_nodes_than_expected_are_no_shortage() -> None:
    cluster = _one(estate(member(1), member(2), member(3), expected={"db1": 2}))
    assert (cluster.size, cluster.health, _said(cluster)) == (3, Health.GOOD, [])


def test_that_without_a_primary_component_the_quorum_is_the_trouble_and_not_the_number() -> None:
    islands = [member(n, cluster_status="non-Primary", conf_id=None) for n in (1, 2, 3)]
    cluster = _one(estate(*islands, expected={"db1": 5}))
    assert (cluster.size, cluster.health, _said(cluster)) == (None, Health.BAD, [])


def test_that_the_inventory_may_say_nothing() -> None:
    cluster = _one(estate(member(1), member(2), member(3), expected={"elsewhere": 9}))
    assert (cluster.expected, cluster.size, cluster.health) == (None, None, Health.GOOD)


def test_that_an_asynchronous_tree_misses_what_is_gone_and_not_what_nobody_reaches() -> None:
    whole = (plain(1), plain(2, channel(1)), plain(3, channel(1)))
    before = estate(*whole)
    stopped = sql_gone(whole[2], at=AT + 20, process_state="")
    fresh = [replace(f, at=AT + 20, sql_at=AT + 20, ssh_at=AT + 20) for f in whole]
    cluster = _one(estate(fresh[0], fresh[1], stopped, previous=before, at=AT + 20.5, expected={"db1": 3}))
    assert _said(cluster) == ["There are 2 of the 3 nodes expected by the inventory: no server on db3."]
    far = estate(fresh[0], fresh[1], unreached(3, whole[2], at=AT + 20), previous=before, at=AT + 20.5,
                 expected={"db1": 3})  # fmt: skip
    assert _said(_one(far)) == []


def test_that_nothing_is_missing_where_nobody_answered() -> None:
    written = dict.fromkeys(("db1", "db2"), "orders")
    refused = [replace(unreached(n), problems=(Problem("sql", "Refused.", "connection-refused"),)) for n in (1, 2)]
    cluster = _one(estate(*refused, written=written, expected={"db1": 3, "db2": 3}))
    assert (cluster.expected, cluster.size, cluster.health, _said(cluster)) == (3, None, Health.BAD, [])
    heard = _one(estate(plain(1), refused[1], written=written, expected={"db1": 3, "db2": 3}))
    assert _said(heard) == ["There are 1 of the 3 nodes expected by the inventory: no server on db2."]


def test_that_check_prints_it_and_json_keeps_it() -> None:
    found = estate(member(1), member(2), member(3), expected={"db1": 4})
    assert "! Galera: The primary component has 3 of the 4 nodes" in estate_text(found)
    assert snapshot_from_json(snapshot_to_json(found)) == found


@pytest.mark.parametrize("expected", [None, 3])
def test_that_each_seed_of_the_inventory_carries_its_clusters_number(expected: int | None) -> None:
    inventory = Inventory(clusters=(ClusterEntry("orders", ("db1", "db2"), expected), ClusterEntry("other", ("x",))))
    assert expected_sizes(inventory) == ({} if expected is None else {"db1": 3, "db2": 3})
