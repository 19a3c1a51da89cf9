"""Discovery of real asynchronous replication: the tree from any end, delays that are meant, threads that stopped."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from services.clock import SystemClock
from services.connections.host import HostSession
from services.discovery.families.replication.kind import ASYNC
from services.discovery.looks.crawl import crawl
from services.discovery.model import ClusterSnapshot
from services.discovery.snapshot import updated_estate
from services.inventory.trust import Trust
from services.types import Health
from tests.lab.connections.connecting import LIMITS, entry, vault
from tests.lab.estate.estate import Estate
from tests.lab.estate.waiting import on_this_machine
from tests.sample import sampled


def _found(estate: Estate, seed: str) -> ClusterSnapshot:
    clock, known = SystemClock(), vault(estate)
    started = clock.monotonic()
    trust = Trust(also=(f"{estate.spec.network}.0/24",))
    result = crawl(
        [entry(estate, seed)], lambda host: HostSession(host, known, clock=clock, limits=LIMITS), clock, trust=trust
    )
    assert clock.monotonic() - started < on_this_machine(3.0)
    (cluster,) = updated_estate(None, result.facts, clock.wall()).clusters
    return cluster


def _until(estate: Estate, wanted: Callable[[ClusterSnapshot], bool], limit_s: float = 20.0) -> ClusterSnapshot:
    deadline = time.monotonic() + limit_s
    while True:
        cluster = _found(estate, "src")
        if wanted(cluster):
            return cluster
        assert time.monotonic() < deadline, [(n.name, n.state, n.reason) for n in cluster.nodes]
        time.sleep(1.0)


@pytest.mark.parametrize("seed", sampled(("src", "r1", "r2"), lambda seed: seed == "r2"))
def test_that_the_tree_is_found_from_the_source_and_from_each_replica(replication: Estate, seed: str) -> None:
    cluster = _found(replication, seed)
    assert cluster.kind == ASYNC
    assert len(cluster.nodes) == 3
    assert sorted(n.address for n in cluster.nodes) == [f"10.213.2.{n}:3306" for n in (21, 22, 23)]
    by_id = {n.node_id: n.address for n in cluster.nodes}
    assert {(by_id[e.source_id], by_id[e.replica_id]) for e in cluster.replication} == {
        ("10.213.2.21:3306", "10.213.2.22:3306"),
        ("10.213.2.21:3306", "10.213.2.23:3306"),
    }
    assert all(e.health is Health.GOOD and e.gtid_gap == 0 for e in cluster.replication)


def test_that_a_delay_that_is_meant_is_good_and_a_stopped_thread_is_bad_with_its_error(replication: Estate) -> None:
    replication.delay("r1", 3600)
    replication.break_sql("r2")
    cluster = _until(replication, lambda c: any(e.health is Health.BAD for e in c.replication))
    by_address = {n.address: n for n in cluster.nodes}
    edges = {cluster.node(e.replica_id).address: e for e in cluster.replication}  # type: ignore[union-attr]
    meant, broken = edges["10.213.2.22:3306"], edges["10.213.2.23:3306"]
    assert (meant.health, meant.delay_s, meant.reason) == (Health.GOOD, 3600, "delayed by 1 h on purpose")
    assert (broken.lag_s, broken.sql_running) == (None, "No")
    assert broken.reason.startswith("SQL thread stopped: error 1062: ")
    assert by_address["10.213.2.23:3306"].state == "SQL thread stopped"
    assert cluster.health is Health.BAD


def test_that_both_versions_are_read_in_their_own_words(two_versions: Estate) -> None:
    cluster = _found(two_versions, "old")
    assert [s.version.split(".")[0] for n in cluster.nodes if n.facts and (s := n.facts.server)] in (
        ["10", "11"],
        ["11", "10"],
    )
    assert cluster.version.startswith("10.11.")
    assert cluster.replication[0].health is Health.GOOD
