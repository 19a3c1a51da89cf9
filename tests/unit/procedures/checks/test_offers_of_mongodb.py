"""What is offered where MongoDB is: at a member and for its cluster, and nothing of it elsewhere."""

from __future__ import annotations

import pytest

from services.discovery.model import ClusterSnapshot, EstateSnapshot
from services.errors import BadInput
from services.facts.mongodb.sharding import Shard, ShardedCluster
from services.procedures.catalogue import all_procedures
from services.procedures.service.offers import fitting, fitting_cluster, in_order, refuse_other_kinds, why_not
from tests.unit.discovery import scenes as s
from tests.unit.discovery.mongo_scenes import down, hosts, member, router, view

ABOUTS = tuple(procedure.about for procedure in all_procedures())
OF_MONGODB = {"mongo-protocol-upgrade", "mongo-rolling-upgrade"}
OF_SHARDED = OF_MONGODB | {"mongo-config-rs"}


def _names(estate: EstateSnapshot, cluster: ClusterSnapshot) -> set[str]:
    return {about.name for about in fitting_cluster(ABOUTS, cluster, estate)}


def _of_nodes(cluster: ClusterSnapshot) -> dict[str, set[str]]:
    return {node.host: {about.name for about in fitting(ABOUTS, cluster, node)} for node in cluster.nodes}


def test_that_every_member_that_answers_and_its_set_are_offered_both() -> None:
    estate = s.estate(member(1), member(2), down(3))
    cluster = s.only(estate)
    assert _names(estate, cluster) == OF_MONGODB
    assert _of_nodes(cluster) == {"m1": OF_MONGODB, "m2": OF_MONGODB, "m3": set()}
    assert {about.name for about in ABOUTS if not why_not(about, cluster, estate)} == OF_MONGODB


def test_that_a_sharded_cluster_is_offered_all_by_its_members() -> None:
    shards = (Shard("rs0", hosts("rs0/m1:27018,m2:27018,m3:27018")),)
    told = ShardedCluster("77", hosts("csrs/c1:27019"), shards=shards)
    estate = s.estate(*(member(n, view(n), shard=True, cluster=told) for n in (1, 2, 3)), router(1, told))
    cluster = s.only(estate)
    assert _names(estate, cluster) == OF_SHARDED
    assert _of_nodes(cluster) == {"m1": OF_SHARDED, "m2": OF_SHARDED, "m3": OF_SHARDED, "r1": set()}


def test_that_a_set_none_of_which_answers_says_so() -> None:
    before = s.estate(member(1), member(2), member(3))
    estate = s.estate(down(1), down(2), down(3), previous=before)
    cluster = s.only(estate)
    assert _names(estate, cluster) == set()
    said = {why_not(about, cluster, estate) for about in ABOUTS if about.name in OF_MONGODB}
    assert len(said) == 1
    assert said.pop()


def test_that_the_cards_for_a_cluster_come_first_and_others_keep_their_order() -> None:
    cluster = s.only(s.estate(member(1), member(2), member(3)))
    names = [about.name for about in in_order(ABOUTS, cluster)]
    assert set(names[:2]) == OF_MONGODB
    assert names[2:] == [about.name for about in ABOUTS if about.name not in OF_MONGODB]
    assert in_order(ABOUTS, None) == ABOUTS


def test_that_a_plan_for_another_kind_of_cluster_is_refused_by_what_it_is() -> None:
    """Each member 'takes no statement' was told, and the plan asked for nodes."""
    restart = next(about for about in ABOUTS if about.name == "rolling-restart")
    own = next(about for about in ABOUTS if about.name == "mongo-rolling-upgrade")
    seen = s.estate(member(1), member(2), member(3)).clusters
    for cluster in ("", seen[0].name, seen[0].cluster_id):
        with pytest.raises(BadInput, match=f"for Galera clusters, and {seen[0].name} is not one"):
            refuse_other_kinds(restart, cluster, seen)
    refuse_other_kinds(own, "", seen)
    refuse_other_kinds(restart, "another", seen)


def test_that_hosts_of_which_nothing_is_known_may_be_its_dead_cluster() -> None:
    seen = s.estate(member(1), member(2), member(3), s.unreached(1))
    restart = next(about for about in ABOUTS if about.name == "bootstrap-after-crash")
    assert len(seen.clusters) == 2
    refuse_other_kinds(restart, "", seen.clusters)
