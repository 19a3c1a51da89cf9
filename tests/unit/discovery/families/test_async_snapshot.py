"""Asynchronous replication as a picture: trees, rings, several sources, delays, and channels that stopped."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.discovery.families.galera.kind import GALERA
from services.discovery.families.replication.kind import ASYNC
from services.discovery.families.single.kind import SINGLE
from services.discovery.model import ReplicationEdge
from services.facts.model import ReplicaSeen
from services.types import Health, Reach
from tests.unit.discovery.scenes import (
    AT,
    address,
    channel,
    estate,
    machine,
    member,
    node,
    only,
    plain,
    server,
)


def _edges(snapshot_edges: tuple[ReplicationEdge, ...]) -> set[tuple[str, str, str]]:
    return {(e.source_id, e.replica_id, e.channel) for e in snapshot_edges}


def test_that_a_tree_is_one_cluster_named_after_its_root() -> None:
    cluster = only(estate(plain(1), plain(2, channel(1)), plain(3, channel(1)), plain(4, channel(2))))
    assert (cluster.kind, cluster.name, cluster.cluster_id) == (ASYNC, "db1", "async:db1")
    assert _edges(cluster.replication) == {("db1", "db2", ""), ("db1", "db3", ""), ("db2", "db4", "")}
    assert [n.state for n in cluster.nodes] == ["source", "replica of db1", "replica of db1", "replica of db2"]
    assert cluster.health is Health.GOOD
    assert cluster.agreement == "Seen from db1, db2, db3, db4"


def test_that_a_ring_survives() -> None:
    cluster = only(estate(*(plain(n, channel(n % 3 + 1)) for n in (1, 2, 3))))
    assert len(cluster.replication) == 3
    assert {n.state for n in cluster.nodes} == {"replica of db1", "replica of db2", "replica of db3"}


def test_that_two_channels_from_one_source_are_two_edges() -> None:
    gather = plain(3, channel(1, name="a"), channel(1, name="b"))
    cluster = only(estate(plain(1), gather))
    assert _edges(cluster.replication) == {("db1", "db3", "a"), ("db1", "db3", "b")}


def test_that_several_sources_of_one_replica_never_overwrite_one_another() -> None:
    gather = plain(4, *(channel(n, name=f"from{n}") for n in (1, 2, 3)))
    cluster = only(estate(plain(1), plain(2), plain(3), gather))
    assert _edges(cluster.replication) == {(f"db{n}", "db4", f"from{n}") for n in (1, 2, 3)}
    assert node(estate(plain(1), plain(2), plain(3), gather), "db4").state == "replica of 3 sources"


def test_that_an_unknown_source_is_a_placeholder_not_in_the_inventory() -> None:
    snapshot = estate(plain(2, channel(1)))
    stranger = node(snapshot, "source:10.20.0.11:3306")
    assert (stranger.state, stranger.health, stranger.host) == ("not in the inventory", Health.UNKNOWN, "")
    assert only(snapshot).replication[0].source_id == "source:10.20.0.11:3306"


def test_that_a_null_lag_is_never_zero() -> None:
    stopped = channel(1, io_running="No", seconds_behind=None, io_errno=1236, io_error="log purged")
    snapshot = estate(plain(1), plain(2, stopped))
    (edge,) = only(snapshot).replication
    assert (edge.lag_s, edge.health) == (None, Health.BAD)
    assert edge.reason == "IO thread stopped: error 1236: log purged"
    judged = node(snapshot, "db2")
    assert (judged.state, judged.numbers[0]) == ("IO thread stopped", ("lag", "not known", Health.UNKNOWN))


def test_that_a_zero_of_a_stopped_thread_is_not_believed() -> None:
    (edge,) = only(estate(plain(1), plain(2, channel(1, sql_running="No", seconds_behind=0.0)))).replication
    assert edge.lag_s is None


@pytest.mark.parametrize(
    ("bent", "state", "health", "reason"),
    [
        ({"sql_running": "No", "sql_errno": 1062, "sql_error": "Duplicate entry '7'"}, "SQL thread stopped", Health.BAD,
         "SQL thread stopped: error 1062: Duplicate entry '7'"),
        ({"io_running": "Connecting", "io_errno": 1045, "io_error": "Access denied"}, "IO thread cannot connect",
         Health.BAD, "the IO thread cannot connect to db1: error 1045: Access denied"),
        ({"io_running": "Connecting"}, "replica of db1", Health.WARN, "the IO thread is connecting to db1"),
        ({"seconds_behind": 30.0}, "replica of db1", Health.WARN, "30 s behind"),
        ({"seconds_behind": 300.0}, "replica of db1", Health.BAD, "5 min behind"),
        ({"seconds_behind": None}, "replica of db1", Health.UNKNOWN, "the server does not report its lag"),
        ({"delay_s": 3600, "seconds_behind": 3601.0}, "replica of db1", Health.GOOD, "delayed by 1 h on purpose"),
        ({"delay_s": 3600, "seconds_behind": 3700.0}, "replica of db1", Health.BAD,
         "1 min 40 s behind in addition to the intended 1 h"),
    ],
)  # fmt: skip
def test_that_a_channel_is_judged_with_its_reason(
    bent: dict[str, object], state: str, health: Health, reason: str
) -> None:
    snapshot = estate(plain(1), plain(2, channel(1, **bent)))
    judged = node(snapshot, "db2")
    assert (judged.state, judged.health, judged.reason) == (state, health, reason)
    assert only(snapshot).replication[0].reason == reason


def test_that_a_replica_that_does_not_answer_has_an_unknown_edge() -> None:
    silent = replace(plain(2, channel(1), at=AT - 60), reach=Reach.NONE)
    (edge,) = only(estate(plain(1), silent)).replication
    assert edge.health is Health.UNKNOWN


def test_that_a_source_is_found_by_its_uuid_behind_any_address() -> None:
    source = replace(plain(1), server=server(1, server_uuid="aaaa"))
    virtual = channel(1, source_host="vip.example", source_uuid="aaaa")
    assert only(estate(source, plain(2, virtual))).replication[0].source_id == "db1"


def test_that_a_source_behind_a_vip_is_found_by_its_server_id_when_it_sees_the_replica() -> None:
    virtual = channel(1, source_host="vip.example")
    seen = plain(1, replicas=(ReplicaSeen(host=address(2)),))
    assert only(estate(seen, plain(2, virtual))).replication[0].source_id == "db1"
    apart = estate(plain(1), plain(2, virtual))
    assert {c.kind for c in apart.clusters} == {SINGLE, ASYNC}


def test_that_a_copied_server_uuid_stays_two_nodes_and_is_told() -> None:
    twins = [replace(plain(n, *([channel(1)] if n == 2 else [])), server=server(n, server_uuid="same")) for n in (1, 2)]
    snapshot = estate(*twins)
    assert len(only(snapshot).nodes) == 2
    assert [p.code for p in snapshot.problems] == ["server-uuid-shared"]


def test_that_replicas_with_the_same_server_id_are_told() -> None:
    twin = replace(plain(3, channel(1)), server=server(3, server_id=102))
    cluster = only(estate(plain(1), plain(2, channel(1)), twin))
    assert [p.sentence for p in cluster.problems] == [
        "db2 and db3 have the same server_id 102: replication drops events or breaks."
    ]


def test_that_two_servers_on_one_host_are_told_by_their_ports() -> None:
    first = replace(plain(1), host="a", address="10.20.0.11", server=server(1, port=3306))
    second = replace(plain(1), host="b", address="10.20.0.11", server=server(1, port=3307, server_id=7),
                     machine=machine(1, process_pid=9))  # fmt: skip
    third = plain(2, channel(1, source_port=3307, source_server_id=7))
    edges = {e for c in estate(first, second, third).clusters for e in c.replication}
    assert [e.source_id for e in edges] == ["b"]


def test_that_a_replica_behind_a_galera_node_is_drawn_with_the_cluster() -> None:
    report = plain(9, channel(3))
    cluster = only(estate(member(1), member(2), member(3), report))
    assert cluster.kind == GALERA
    behind = cluster.node("db9")
    assert behind is not None
    assert (behind.state, behind.component, behind.segment) == ("replica of db3", "", None)
    assert _edges(cluster.replication) == {("db3", "db9", "")}
    assert cluster.components[0].members == ("db1", "db2", "db3")


def test_that_an_edge_between_two_galera_clusters_is_in_both() -> None:
    other = "11111111-5b1a-11f0-9c57-6a0f2f4b6a77"
    far = member(4, 1, state_uuid=other, local_state_uuid=other, cluster_name="archive")
    far = replace(far, replication=plain(4, channel(1)).replication)
    snapshot = estate(member(1), member(2), member(3), far)
    assert [_edges(c.replication) for c in snapshot.clusters] == [{("db1", "db4", "")}] * 2


def test_that_the_gap_counts_what_the_source_has_while_the_io_thread_is_stopped() -> None:
    stopped = channel(1, io_running="No", gtid_received="0-1-90", gtid_executed="0-1-90")
    (edge,) = only(estate(plain(1), plain(2, stopped))).replication
    assert edge.gtid_gap == 10


def _gap(**of_channel: object) -> tuple[str, str, Health] | None:
    """Return the gap on the card of a replica whose source stands at 0-1-100."""
    numbers = node(estate(plain(1), plain(2, channel(1, **of_channel))), "db2").numbers
    return next((number for number in numbers if number[0] == "GTID gap"), None)


def test_that_the_gap_is_told_by_the_source_while_nothing_was_received_since_the_start() -> None:
    """MySQL forgets Retrieved_Gtid_Set when the IO thread starts anew."""
    assert _gap(gtid_received="", gtid_executed="0-1-100") == ("GTID gap", "0 transactions", Health.GOOD)
    assert _gap(gtid_received="", gtid_executed="0-1-90") == ("GTID gap", "10 transactions", Health.GOOD)


def test_that_a_gap_which_nobody_can_tell_is_not_known_and_none_without_gtid() -> None:
    alone = node(estate(plain(2, channel(1, gtid_received="", gtid_executed="0-1-90"))), "db2").numbers
    assert ("GTID gap", "not known", Health.UNKNOWN) in alone
    assert _gap(gtid_received="", gtid_executed="", gtid_mode="No") is None


def test_that_the_gap_has_the_colour_of_the_lag_and_is_bad_where_a_thread_is_stopped() -> None:
    behind = {"gtid_received": "0-1-100", "gtid_executed": "0-1-90"}
    assert _gap(**behind, seconds_behind=1.0) == ("GTID gap", "10 transactions", Health.GOOD)
    assert _gap(**behind, seconds_behind=30.0) == ("GTID gap", "10 transactions", Health.WARN)
    assert _gap(**behind, seconds_behind=None, sql_running="No") == ("GTID gap", "10 transactions", Health.BAD)
    whole = {"gtid_received": "0-1-100", "gtid_executed": "0-1-100"}
    assert _gap(**whole, seconds_behind=None, sql_running="No") == ("GTID gap", "0 transactions", Health.GOOD)


def test_that_a_cluster_keeps_its_id_when_the_root_changes() -> None:
    before = estate(plain(1), plain(2, channel(1)), plain(3, channel(1)))
    after = estate(plain(1, channel(2)), plain(2), plain(3, channel(2)), previous=before, at=AT + 1)
    assert only(after).cluster_id == only(before).cluster_id
    assert only(after).name == "db2"


def test_that_a_server_on_its_own_is_a_single() -> None:
    cluster = only(estate(plain(1)))
    assert (cluster.kind, cluster.nodes[0].state) == (SINGLE, "serving")


def test_that_a_heartbeat_is_preferred_to_what_the_server_says() -> None:
    replica = plain(2, channel(1, seconds_behind=0.0))
    assert replica.replication is not None
    beating = replace(replica, replication=replace(replica.replication, heartbeat_lag_s=4.2))
    (edge,) = only(estate(plain(1), beating)).replication
    assert (edge.lag_s, edge.lag_source) == (4.2, "heartbeat")
