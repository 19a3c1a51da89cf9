"""Two hosts that show one identity: drawn once only while they agree, else both stay and neither is believed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.discovery.clash import CLASH, contradict
from services.discovery.model import EstateSnapshot
from services.facts.model import NodeFacts
from services.types import Health
from tests.unit.discovery.scenes import address, estate, group_uuid, member, node, only


def posing(**galera: object) -> NodeFacts:
    """Return what db9 answers: all that db2 says of itself, but for what is given."""
    victim = member(2)
    assert victim.galera is not None
    return replace(victim, host="db9", address=address(9), galera=replace(victim.galera, **galera))


def alone() -> NodeFacts:
    victim = member(2)
    assert victim.galera is not None
    lost = replace(victim.galera, cluster_status="non-Primary", local_state=0, local_state_comment="Initialized",
                   ready=False)  # fmt: skip
    return replace(victim, galera=lost)


def with_a_poser(*, first: bool) -> EstateSnapshot:
    others = (member(1), member(3))
    return estate(*((posing(), alone()) if first else (alone(), posing())), *others)


@pytest.mark.parametrize("first", [True, False])
def test_that_a_node_that_lost_its_group_stays_though_another_host_shows_its_uuid_and_serves(first: bool) -> None:
    snapshot = with_a_poser(first=first)
    assert {n.host for c in snapshot.clusters for n in c.nodes} >= {"db1", "db2", "db3", "db9"}
    assert snapshot.hosts_total == 4
    victim = next(n for c in snapshot.clusters for n in c.nodes if n.host == "db2")
    assert victim.health is Health.BAD
    assert all(cluster.health is not Health.GOOD for cluster in snapshot.clusters)


def test_that_a_clash_is_told_with_both_names_in_the_estate_and_in_the_cluster() -> None:
    snapshot = with_a_poser(first=True)
    told = [problem for problem in snapshot.problems if problem.code == CLASH]
    assert len(told) == 1
    assert "db2" in told[0].sentence
    assert "db9" in told[0].sentence
    assert any(problem.code == CLASH for cluster in snapshot.clusters for problem in cluster.problems)


def test_that_a_member_that_repeats_the_uuid_of_another_does_not_take_its_place() -> None:
    thief = member(3, node_uuid=group_uuid(2))
    snapshot = estate(member(1), alone(), thief)
    assert {n.host for c in snapshot.clusters for n in c.nodes if n.host} == {"db1", "db2", "db3"}
    assert node(snapshot, "db2").health is Health.BAD
    assert any(problem.code == CLASH for problem in snapshot.problems)


def test_that_one_server_that_a_person_wrote_down_twice_is_drawn_once_and_counted_twice() -> None:
    again = replace(member(3), host="third")
    names = {host: host for host in ("db1", "db2", "db3", "third")}
    snapshot = estate(member(1), member(2), member(3), again, names=names)
    assert len(only(snapshot).nodes) == 3
    assert (snapshot.hosts_answering, snapshot.hosts_total) == (4, 4)
    assert [p.code for p in snapshot.problems] == ["same-server"]


def test_that_what_only_one_of_two_answers_says_contradicts_nothing() -> None:
    whole = member(2)
    assert not contradict(whole, replace(whole, machine=None, server=None))
    assert not contradict(whole, whole)


def test_that_servers_that_began_at_different_times_are_not_one() -> None:
    whole = member(2)
    assert whole.server is not None
    early, late = (replace(whole, server=replace(whole.server, started_at=at)) for at in (1000.0, 2000.0))
    assert contradict(early, late)
