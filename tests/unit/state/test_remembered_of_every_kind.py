"""What is remembered of clusters that are not Galera's: who was in one, and of which kind it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.discovery.families.galera.kind import GALERA
from services.discovery.families.mongodb.kind import REPLICA_SET, SHARDED
from services.discovery.families.registry import kind_kept
from services.discovery.model import ClusterSnapshot, EstateSnapshot, NodeView
from services.discovery.snapshot import updated_estate
from services.facts.model import NodeFacts
from services.facts.mongodb.model import MongoFacts
from services.facts.mongodb.server import MongoServer
from services.history.state.remembered_clusters import keep_cluster, remembered_estate
from services.history.state.rows import sightings
from services.history.state.store import StateStore
from services.inventory.kinds import MONGODB
from services.types import ClusterKind, Reach

MEMBER = MongoFacts(MongoServer(role="member"), None, None, None, None, None)
HOSTS = ("d1", "d2", "d3")


def _seen(state: StateStore, kind: ClusterKind, at: float = 100.0) -> None:
    nodes = tuple(NodeView(host, host, host, facts=NodeFacts(host, at, sql_at=at, mongo=MEMBER)) for host in HOSTS)
    cluster = ClusterSnapshot("58f0c0ffee", kind, "rs0", at, nodes=nodes)
    state.remember_nodes(sightings(cluster))
    keep_cluster(state, cluster)


def _down(host: str) -> NodeFacts:
    return NodeFacts(host, 200.0, reach=Reach.NONE, speaks=MONGODB.speaks)


@pytest.mark.parametrize("kind", [REPLICA_SET, SHARDED])
def test_that_members_that_are_all_down_stand_in_the_cluster_that_they_were_in(
    tmp_path: Path, kind: ClusterKind
) -> None:
    with StateStore.open(tmp_path / "state.sqlite") as state:
        _seen(state, kind)
        past = remembered_estate(state, kind_kept, HOSTS)
    (cluster,) = past.clusters
    assert (cluster.cluster_id, cluster.kind, {n.host for n in cluster.nodes}) == ("58f0c0ffee", kind, set(HOSTS))
    now = updated_estate(past, {host: _down(host) for host in HOSTS}, 200.0)
    (shown,) = now.clusters
    assert (shown.cluster_id, shown.kind, {n.host for n in shown.nodes}) == ("58f0c0ffee", kind, set(HOSTS))


def test_that_a_kind_that_no_family_declares_is_left_out_and_an_old_store_knew_galera_alone(tmp_path: Path) -> None:
    assert (kind_kept(""), kind_kept("of another version")) == (GALERA, None)
    with StateStore.open(tmp_path / "state.sqlite") as state:
        _seen(state, REPLICA_SET)
        state.set_setting("cluster.kind.58f0c0ffee", "of another version")
        assert remembered_estate(state, kind_kept, HOSTS) == EstateSnapshot(at=0.0)
