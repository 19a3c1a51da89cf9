"""Clusters stand as a person wrote them down, whoever answers; what servers tell of themselves comes first."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.discovery.families.galera.kind import GALERA
from services.discovery.families.replication.kind import ASYNC
from services.discovery.families.single.kind import SINGLE, UNKNOWN
from services.discovery.model import SPARE, EstateSnapshot, kind_words
from services.facts.model import NodeFacts, Problem
from services.inventory.membership import written_clusters
from services.inventory.model import ClusterEntry, HostEntry, Inventory
from services.types import ClusterKind, Health, Reach
from tests.unit.discovery.scenes import AT, channel, estate, facts, machine, member, node, only, plain, unreached

ORDERS = {f"db{n}": "orders" for n in range(1, 6)}


def silent(name: str) -> NodeFacts:
    return NodeFacts(name, AT, Reach.NONE, problems=(Problem("sql", "No route.", "unreachable"),))


def idle(number: int, **more: object) -> NodeFacts:
    """Return a host that answers over SSH and runs no server."""
    bare = machine(number, process_state="", process_pid=None, unit_state="inactive/dead", **more)
    return NodeFacts(f"db{number}", AT, Reach.SSH_ONLY, f"10.20.0.{10 + number}", machine=bare, ssh_at=AT)


def shape(snapshot: EstateSnapshot) -> list[tuple[str, ClusterKind, list[str]]]:
    return [(c.name, c.kind, sorted(n.name for n in c.nodes)) for c in snapshot.clusters]


def test_that_two_clusters_of_unreachable_hosts_stay_two() -> None:
    hosts = [silent(f"{cluster}-{n:02d}") for cluster in ("east", "west") for n in range(15)]
    snapshot = estate(*hosts, written={one.host: one.host.partition("-")[0] for one in hosts})
    assert [(c.name, c.kind, len(c.nodes)) for c in snapshot.clusters] == [
        ("east", UNKNOWN, 15),
        ("west", UNKNOWN, 15),
    ]


def test_that_a_silent_host_stands_in_the_group_its_fellows_are_in() -> None:
    cluster = only(estate(member(1, 2), member(2, 2), unreached(4), written=ORDERS))
    assert (cluster.kind, [n.name for n in cluster.nodes]) == (GALERA, ["db1", "db2", "db4"])
    assert cluster.silent == ("db4",)


def test_that_a_group_of_another_state_takes_nobody_from_it() -> None:
    other = "11111111-5b1a-11f0-9c57-6a0f2f4b6a77"
    snapshot = estate(
        member(1, 2), member(2, 2), member(5, 1, state_uuid=other, local_state_uuid=other, members=()),
        unreached(4), written=ORDERS,
    )  # fmt: skip
    assert {c.cluster_id: len(c.nodes) for c in snapshot.clusters}[other] == 1
    assert len(snapshot.clusters) == 2


def test_that_a_written_cluster_keeps_its_place_when_its_servers_begin_to_replicate() -> None:
    written = {"db1": "billing", "db2": "billing", "db3": "billing"}
    dark = estate(unreached(1), unreached(2), unreached(3), written=written)
    light = estate(plain(1), plain(2, channel(1)), unreached(3), previous=dark, written=written)
    assert only(light).cluster_id == only(dark).cluster_id
    assert shape(light) == [("billing", ASYNC, ["db1", "db2", "db3"])]


def test_that_a_host_alone_in_no_cluster_comes_after_the_clusters() -> None:
    snapshot = estate(replace(idle(9), host="a-spare"), member(1, 2), member(2, 2), written={"db1": "orders"})
    assert [c.kind for c in snapshot.clusters] == [GALERA, SINGLE]


def test_that_one_host_that_never_answered_is_called_nothing() -> None:
    dark = only(estate(unreached(1)))
    assert (dark.kind, kind_words(dark)) == (UNKNOWN, "type not known: no host answered")
    heard = only(estate(replace(unreached(1), reach=Reach.SSH_ONLY, ssh_at=AT)))
    assert (heard.kind, kind_words(heard)) == (UNKNOWN, "replication not known")
    assert only(estate(idle(1))).kind is only(estate(plain(1))).kind == SINGLE
    assert kind_words(only(estate(idle(1)))) == "type not known: no server runs"
    assert kind_words(only(estate(plain(1)))) == "single server"
    stopped = replace(plain(1), reach=Reach.SSH_ONLY, machine=idle(1).machine)
    assert kind_words(only(estate(stopped))) == "single server"  # it was heard, and had nothing to do with others
    gone = only(estate(replace(plain(1), reach=Reach.NONE)))
    assert (gone.kind, kind_words(gone)) == (SINGLE, "single server")


def test_that_a_silent_host_in_no_cluster_comes_after_the_clusters() -> None:
    snapshot = estate(replace(unreached(9), host="a-silent"), member(1, 2), member(2, 2))
    assert [c.kind for c in snapshot.clusters] == [GALERA, UNKNOWN]


def test_that_a_spare_host_is_drawn_with_its_cluster_and_takes_nothing_from_its_health() -> None:
    snapshot = estate(member(1, 2), member(2, 2), idle(4), written=ORDERS, expected={"db1": 2})
    cluster = only(snapshot)
    spare = node(snapshot, "db4")
    assert (spare.role, spare.state, spare.health) == (SPARE, "not running", Health.UNKNOWN)
    assert (cluster.health, cluster.silent, cluster.problems) == (Health.GOOD, (), ())
    again = estate(member(1, 2), member(2, 2), idle(4), previous=snapshot, written=ORDERS)
    assert node(again, "db4").role == SPARE


def test_that_a_member_that_is_down_is_no_spare() -> None:
    told = estate(member(1), member(2), idle(3), written=ORDERS)  # db1 and db2 speak of db3
    assert (node(told, "db3").role, node(told, "db3").health) == ("", Health.BAD)
    heard = replace(idle(4), server=facts(4).server)
    assert node(estate(member(1, 2), member(2, 2), heard, written=ORDERS), "db4").role == ""


def test_that_a_server_that_serves_by_itself_is_drawn_beside_its_written_group() -> None:
    cluster = only(estate(member(1, 2), member(2, 2), plain(4), written=ORDERS))
    beside = next(n for n in cluster.nodes if n.name == "db4")
    assert (beside.state, beside.role, cluster.silent) == ("serving", "", ())


@pytest.mark.parametrize(
    ("clusters", "expected"),
    [
        ((ClusterEntry("a", ("n1",)),), {"n1": "a"}),
        ((ClusterEntry("a", ("n1",), networks=("10.0.0.0/24",)),), {"n1": "a", "n2": "a"}),
        ((ClusterEntry("a", ("n1",), networks=("10.0.0.0/24",)), ClusterEntry("b", ("n2",))), {"n1": "a", "n2": "b"}),
        (
            (
                ClusterEntry("a", ("n1",), networks=("10.0.0.0/24",)),
                ClusterEntry("b", ("n1",), networks=("10.0.0.0/8",)),
            ),
            {"n1": "a"},
        ),
    ],
)
def test_that_seeds_and_networks_say_whose_a_host_is(
    clusters: tuple[ClusterEntry, ...], expected: dict[str, str]
) -> None:
    hosts = (HostEntry("n1", "10.0.0.1"), HostEntry("n2", "10.0.0.2"), HostEntry("n3", "192.168.9.3"))
    assert written_clusters(Inventory(hosts=hosts, clusters=clusters)) == expected
