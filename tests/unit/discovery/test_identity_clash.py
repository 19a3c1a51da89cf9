"""Two hosts that show one identity: drawn once only while they agree, else both stay and neither is believed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from services.discovery.clash import CLASH, contradict
from services.discovery.model import EstateSnapshot
from services.facts.model import DiskFacts, NodeFacts, Problem
from services.types import Health, Reach
from tests.unit.discovery import group_scenes as g
from tests.unit.discovery import scenes as s
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


def in_error() -> NodeFacts:
    """Return db1 as it says itself: out of its group, in error, and without SSH."""
    return replace(g.left(1, "ERROR"), machine=None, reach=Reach.SQL_ONLY)


def repeating(**more: Any) -> NodeFacts:
    """Return db9, which repeats who db1 is and says that it is the primary of a group of its own."""
    own = replace(g.member(1, g.view(1, g.row(1))), machine=None, reach=Reach.SQL_ONLY)
    return replace(own, **{"host": "db9", "address": s.address(9), **more})


NAMES = {host: host for host in ("db1", "db2", "db3", "db9")}


@pytest.mark.parametrize("names", [NAMES, {"db1": "db1"}, {}])
@pytest.mark.parametrize("first", [True, False])
def test_that_a_member_in_error_stays_though_another_host_shows_its_id_and_says_online(
    first: bool, names: dict[str, str]
) -> None:
    answers = (repeating(), in_error()) if first else (in_error(), repeating())
    snapshot = estate(*answers, names=names)
    cluster = only(snapshot)
    told = {n.host: n.health for n in cluster.nodes if n.host}
    assert told == {"db1": Health.BAD, "db9": Health.WARN}
    assert cluster.health is not Health.GOOD
    assert CLASH in {p.code for p in snapshot.problems} & {p.code for p in cluster.problems}
    assert "same-server" not in {p.code for p in snapshot.problems}
    assert [c.members for c in cluster.components] == [("db9",)]


def test_that_a_member_written_down_twice_is_drawn_once_while_all_it_says_agrees() -> None:
    again = replace(g.member(3), host="third", address="10.9.9.9")
    names = {host: host for host in ("db1", "db2", "db3", "third")}
    snapshot = estate(g.member(1), g.member(2), g.member(3), again, names=names)
    assert (len(only(snapshot).nodes), only(snapshot).health) == (3, Health.GOOD)
    assert [p.code for p in snapshot.problems] == ["same-server"]


def _of(server: dict[str, Any], **more: Any) -> NodeFacts:
    whole = g.member(2)
    assert whole.server is not None
    return replace(whole, host="db9", server=replace(whole.server, **server), **more)


STOPPED = s.ReplicationFacts(channels=(s.channel(7, sql_running="No", sql_errno=1062),))
FULL = replace(s.machine(2), data_disk=DiskFacts("/var/lib/mysql", "/dev/vdb", 100 * 10**9, 0))


@pytest.mark.parametrize(
    "other",
    [
        _of({"read_only": False, "super_read_only": False}),
        _of({"started_at": None}),
        _of({}, replication=STOPPED),
        _of({}, machine=FULL),
        _of({}, problems=(Problem("group", "Refused.", "query-failed"),)),
        _of({}, sql_at=s.AT - 8.0),
        _of({}, group=g.view(2, g.row(1), g.row(2), g.row(3, "UNREACHABLE"))),
        _of({}, group=g.view(2, view_id="17:99")),
        s.unreached(9, _of({})),
        s.sql_gone(_of({})),
    ],
    ids=["read-only", "start", "channels", "disk", "refused", "moment", "rows", "view", "silent", "sql-gone"],
)
@pytest.mark.parametrize("first", [True, False])
def test_that_two_written_hosts_stay_two_while_one_is_silent_or_says_anything_else(
    other: NodeFacts, first: bool
) -> None:
    both = (other, g.member(2)) if first else (g.member(2), other)
    snapshot = estate(g.member(1), *both, g.member(3), names=NAMES)
    assert {n.host for c in snapshot.clusters for n in c.nodes} >= {"db2", "db9"}
    assert "same-server" not in {p.code for p in snapshot.problems}
    assert any(n.health is not Health.GOOD for c in snapshot.clusters for n in c.nodes)


def test_that_a_written_host_never_gives_way_to_one_that_was_found() -> None:
    found = replace(g.member(2), host="found", address="10.9.9.9")
    snapshot = estate(found, g.member(2), names={"db2": "db2"})
    assert {n.host for n in only(snapshot).nodes if n.host} == {"db2"}
    silent = estate(found, s.sql_gone(g.member(2)), names={"db2": "db2"})
    assert {n.host for c in silent.clusters for n in c.nodes if n.host} == {"db2", "found"}


def test_that_a_third_host_is_compared_with_each_that_shows_its_id() -> None:
    third = repeating(host="db8", address=s.address(8))
    snapshot = estate(in_error(), repeating(), third, names={"db1": "db1"})
    assert {n.host for n in only(snapshot).nodes if n.host} == {"db1", "db9"}
