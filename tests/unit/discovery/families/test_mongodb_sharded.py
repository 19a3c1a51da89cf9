"""A sharded cluster is one cluster: its shards, its config servers of either kind, its mongos, and what differs."""

from __future__ import annotations

from dataclasses import replace

from services.discovery.changes import events_between
from services.discovery.families.mongodb.kind import REPLICA_SET, SHARDED
from services.discovery.families.mongodb.problems import (
    CONFIG_STRINGS,
    METADATA_DIFFER,
    METADATA_GONE,
    OLD_PROTOCOL,
    SHARD_SILENT,
)
from services.discovery.looks.crawl import leads_of
from services.discovery.snapshot import updated_estate
from services.facts.model import NodeFacts
from services.facts.mongodb.model import Metadata, MongoFacts
from services.facts.mongodb.sharding import Router, Shard, ShardedCluster, parse_cluster
from services.types import Health
from tests.unit.discovery import mongo_scenes as m
from tests.unit.discovery import scenes as s
from tests.unit.recorded.mongo_replies import recorded

MIRRORS = "c1:27019,c2:27019,c3:27019"
CSRS = "csrs/n1:27019,n2:27019,n3:27019"
ROUTERS = (Router(m.place("r1:27017"), "3.2.5", s.AT - 5), Router(m.place("r9:27017"), "3.2.5", s.AT - 9000))


def cluster_of(config: str) -> ShardedCluster:
    shard = Shard("rs0", m.hosts("rs0/m1:27018,m2:27018,m3:27018"))
    return ShardedCluster("c1d", m.hosts(config), (shard,), ROUTERS, balancer=True)


def shard_members(config: str) -> list[NodeFacts]:
    uses = ShardedCluster(config=m.hosts(config))
    return [m.member(n, shard=True, cluster=uses) for n in (1, 2, 3)]


def csrs_members() -> list[NodeFacts]:
    config = m.rows("PRIMARY", "SECONDARY", "SECONDARY", prefix="n")
    config = tuple(replace(one, place=m.place(f"n{one.id}:27019")) for one in config)
    known = cluster_of(CSRS)
    return [
        m.member(n, m.view(n, config, name="csrs", id="7a00", config_servers=True), config="replica-set", cluster=known)
        for n in (1, 2, 3)
    ]


def test_that_mirrored_config_servers_shard_and_mongos_are_one_cluster() -> None:
    known = cluster_of(MIRRORS)
    hosts = [m.router(1, known), *(m.mirror(n, known) for n in (1, 2, 3)), *shard_members(MIRRORS)]
    cluster = s.only(s.estate(*hosts))
    assert (cluster.kind, cluster.cluster_id, cluster.name) == (SHARDED, "c1d", "shards rs0")
    assert [(c.title, c.primary, c.members) for c in cluster.components] == [("shard rs0", True, ("m1", "m2", "m3"))]
    assert {n.name: n.role for n in cluster.nodes} == {
        **dict.fromkeys(("c1", "c2", "c3"), "mirrored"),
        "m1": "primary", "m2": "secondary", "m3": "secondary", "r1": "mongos",
    }  # fmt: skip
    assert [p.code for p in cluster.problems] == [OLD_PROTOCOL]
    assert cluster.health is Health.GOOD


def test_that_a_config_replica_set_is_a_part_of_its_own() -> None:
    cluster = s.only(s.estate(m.router(1, cluster_of(CSRS)), *shard_members(CSRS), *csrs_members()))
    assert [(c.title, c.primary, c.votes) for c in cluster.components] == [
        ("shard rs0", True, 3),
        ("config servers csrs", True, 3),
    ]
    assert cluster.problems == ()
    assert cluster.health is Health.GOOD


def test_that_a_member_of_the_config_servers_set_is_not_good_where_its_state_was_not_read() -> None:
    """Its account may not ask for the status of the set: it may recover, or roll back."""
    first, *others = csrs_members()
    assert first.mongo is not None
    blind = replace(first, mongo=replace(first.mongo, set=None))
    cluster = s.only(s.estate(*shard_members(CSRS), blind, *others, m.router(1, cluster_of(CSRS))))
    found = next(n for n in cluster.nodes if n.host == blind.host)
    assert found.health is Health.UNKNOWN


def test_that_one_shard_without_a_majority_makes_the_cluster_bad_and_is_named() -> None:
    cut = m.view(1, m.rows("SECONDARY", "DOWN", "DOWN"))
    alone = m.member(1, cut, shard=True, cluster=ShardedCluster(config=m.hosts(CSRS)))
    cluster = s.only(s.estate(m.router(1, cluster_of(CSRS)), alone, m.down(2), m.down(3), *csrs_members()))
    assert cluster.health is Health.BAD
    assert "of shard rs0 that answers reaches a majority" in cluster.problems[0].sentence


def test_that_a_shard_that_lost_a_member_tells_who_is_in_no_part_of_it() -> None:
    uses = ShardedCluster(config=m.hosts(MIRRORS))
    seen = m.rows("DOWN", "PRIMARY", "SECONDARY")
    hosts = [m.down(1), *(m.member(n, m.view(n, seen), shard=True, cluster=uses) for n in (2, 3))]
    (part,) = s.only(s.estate(m.router(1, cluster_of(MIRRORS)), *hosts)).components
    assert (part.members, part.absent) == (("m2", "m3"), ("m1",))
    whole = s.only(s.estate(m.router(1, cluster_of(MIRRORS)), *shard_members(MIRRORS)))
    assert [c.absent for c in whole.components] == [()]


def test_that_a_mongos_that_uses_other_config_servers_is_told() -> None:
    other = m.router(2, cluster_of("c1:27019,c3:27019,c2:27019"))
    hosts = [m.router(1, cluster_of(MIRRORS)), other, *shard_members(MIRRORS)]
    cluster = s.only(s.estate(*hosts))
    assert CONFIG_STRINGS in [p.code for p in cluster.problems]
    swapped = s.only(s.estate(m.router(1, cluster_of(CSRS)), m.router(2, cluster_of(MIRRORS)), *csrs_members()))
    assert CONFIG_STRINGS in [p.code for p in swapped.problems]
    fewer = s.only(s.estate(m.router(1, cluster_of(CSRS)), m.router(2, cluster_of("csrs/n1:27019,n2:27019"))))
    assert CONFIG_STRINGS not in [p.code for p in fewer.problems]


def test_that_a_mongos_names_shards_config_servers_and_the_mongos_of_the_last_minute_as_sure() -> None:
    router = m.router(2, cluster_of(MIRRORS))
    assert router.mongo is not None
    asked = replace(router.mongo.server, at=s.AT)
    found = {one.name: one.sure for one in leads_of(replace(router, mongo=replace(router.mongo, server=asked)))}
    assert (found["c1:27019"], found["m1:27018"], found["r1:27017"]) == (True, True, True)
    assert found["r9:27017"] is False


def test_that_a_mongos_that_can_not_read_its_cluster_is_not_good_by_answering() -> None:
    mute = replace(cluster_of(CSRS), shards=None, config=m.hosts(CSRS))
    cluster = s.only(s.estate(m.router(1, mute)))
    assert [(n.state, n.health) for n in cluster.nodes if n.name == "r1"] == [("mongos", Health.UNKNOWN)]


def test_that_a_shard_stays_in_its_cluster_while_nobody_who_tells_it_answers() -> None:
    before = s.estate(m.router(1, cluster_of(CSRS)), *shard_members(CSRS))
    alone = [m.member(n, shard=True, cluster=None) for n in (1, 2, 3)]
    after = updated_estate(before, {f.host: f for f in alone}, s.AT + 1)
    assert [c.cluster_id for c in after.clusters] == ["c1d"]
    assert [c.cluster_id for c in s.estate(*alone).clusters] == ["5f00"]


def test_that_a_set_that_only_has_a_shards_name_is_not_taken_into_the_cluster() -> None:
    other = m.view(1, m.rows("PRIMARY", "SECONDARY", prefix="x"), id="6f00")
    estate = s.estate(m.router(1, cluster_of(CSRS)), m.member(1, other))
    assert [(c.kind.code, c.cluster_id) for c in estate.clusters] == [
        (REPLICA_SET.code, "6f00"),
        (SHARDED.code, "c1d"),
    ]


def _recorded(phase: str, *servers: str) -> list[NodeFacts]:
    found = []
    for name in servers:
        said = recorded(f"{phase}.{name}")
        view = said.set if said.answer("replSetGetStatus") is not None else None
        shards = said.config("shards")
        cluster = parse_cluster(
            version=said.config("version"),
            shards=shards,
            routers=said.config("mongos"),
            shard_map=said.answer("getShardMap"),
            sharding_state=said.answer("shardingState") if said.server.shard else None,
        )
        found.append(m.facts(name, MongoFacts(said.server, view, None, cluster)))
    return found


def test_that_what_3_2_5_said_before_and_after_the_conversion_is_one_cluster_each_time() -> None:
    before = s.only(s.estate(*_recorded("1-sccc", "c1", "c2", "c3", "m1", "s0", "s1")))
    assert [(c.title, len(c.members)) for c in before.components] == [("shard rs0", 3)]
    assert OLD_PROTOCOL in [p.code for p in before.problems]
    after = s.only(s.estate(*_recorded("5-csrs", "c1", "m1", "n1", "n2", "s0", "s1")))
    assert [(c.title, len(c.members)) for c in after.components] == [("shard rs0", 3), ("config servers csReplSet", 3)]
    assert after.health is not Health.BAD


def test_that_mirrors_that_differ_are_told_where_they_were_read_at_one_moment() -> None:
    known = cluster_of(MIRRORS)

    def mirror(number: int, chunks: str, at: float = s.AT) -> NodeFacts:
        facts = m.mirror(number, known)
        assert facts.mongo is not None
        hashes = Metadata((("chunks", chunks), ("version", "v")), at)
        return replace(facts, mongo=replace(facts.mongo, metadata=hashes))

    same = s.only(s.estate(mirror(1, "a"), mirror(2, "a"), mirror(3, "a")))
    assert METADATA_DIFFER not in [p.code for p in same.problems]
    other = s.only(s.estate(mirror(1, "a"), mirror(2, "b"), mirror(3, "a")))
    assert METADATA_DIFFER in [p.code for p in other.problems]
    assert "differ in config.chunks" in next(p.sentence for p in other.problems if p.code == METADATA_DIFFER)
    assert other.health is Health.WARN
    old = s.only(s.estate(mirror(1, "a"), mirror(2, "b", s.AT - 300)))
    assert METADATA_DIFFER not in [p.code for p in old.problems]


def test_that_a_shard_of_which_no_member_ever_told_anything_is_named() -> None:
    """Its hosts were down when the console was opened: nothing else names the shard."""
    dead = s.only(s.estate(m.router(1, cluster_of(CSRS)), *csrs_members()))
    told = [p for p in dead.problems if p.code == SHARD_SILENT]
    assert [p.sentence.partition(":")[0] for p in told] == ["No member of shard rs0 answers"]
    assert dead.health is not Health.GOOD
    alive = s.only(s.estate(m.router(1, cluster_of(CSRS)), *shard_members(CSRS), *csrs_members()))
    assert SHARD_SILENT not in [p.code for p in alive.problems]


def test_that_a_set_which_is_whole_is_no_party_of_anothers_quarrel() -> None:
    cut, rest = m.rows("PRIMARY", "DOWN", "DOWN"), m.rows("DOWN", "PRIMARY", "SECONDARY")
    uses = ShardedCluster(config=m.hosts(CSRS))
    hosts = [m.member(n, m.view(n, cut if n == 1 else rest), shard=True, cluster=uses) for n in (1, 2, 3)]
    found = s.only(s.estate(m.router(1, cluster_of(CSRS)), *hosts, *csrs_members()))
    assert not found.observers_agree
    assert "n1" not in found.agreement
    assert "m2 and m3 reach m2 and m3" in found.agreement


def test_that_a_mirror_on_an_empty_folder_is_told_and_bad() -> None:
    """`check` was green of it, and a mongos that read there ended itself (3.2.5)."""
    known = cluster_of(MIRRORS)

    def mirror(number: int, *hashes: tuple[str, str]) -> NodeFacts:
        facts = m.mirror(number, known)
        assert facts.mongo is not None
        return replace(facts, mongo=replace(facts.mongo, metadata=Metadata(hashes, s.AT)))

    full = ("chunks", "a")
    found = s.only(s.estate(mirror(1, full), mirror(2), mirror(3, full)))
    assert [p.code for p in found.problems if p.code in {METADATA_DIFFER, METADATA_GONE}] == [METADATA_GONE]
    assert "No metadata of the cluster on c2, unlike c1 and c3" in " ".join(p.sentence for p in found.problems)
    assert found.health is Health.BAD
    new = s.only(s.estate(mirror(1), mirror(2), mirror(3)))
    assert METADATA_GONE not in [p.code for p in new.problems]


def test_that_an_event_tells_the_votes_of_the_group_that_changed_and_one_that_lost_its_majority() -> None:
    config = csrs_members()
    before = s.estate(m.router(1, cluster_of(CSRS)), *shard_members(CSRS), *config)
    rows = tuple(
        m.row(n, state, place=m.place(f"n{n}:27019")) for n, state in enumerate(("PRIMARY", "SECONDARY", "DOWN"), 1)
    )
    fewer = [
        m.member(n, m.view(n, rows, name="csrs", id="7a00", config_servers=True), config="replica-set",
                 cluster=cluster_of(CSRS))
        for n in (1, 2)
    ]  # fmt: skip
    hosts = [m.router(1, cluster_of(CSRS)), *shard_members(CSRS), *fewer]
    after = updated_estate(before, {f.host: f for f in hosts}, s.AT + 1)
    texts = [e.text for e in events_between(before, after) if e.kind == "view"]
    assert texts == ["shards rs0: n3 left; 2 of 3 votes"]
    cut = m.view(1, m.rows("SECONDARY", "DOWN", "DOWN"))
    alone = m.member(1, cut, shard=True, cluster=ShardedCluster(config=m.hosts(CSRS)))
    hosts = [m.router(1, cluster_of(CSRS)), alone, m.down(2), m.down(3), *config]
    lost = updated_estate(before, {f.host: f for f in hosts}, s.AT + 2)
    events = [(e.text, e.health) for e in events_between(before, lost) if e.kind == "view"]
    assert ("shard rs0: no part of the set has a majority", Health.BAD) in events
    assert not any("votes" in text for text, _ in events)


def test_that_two_primaries_of_one_shard_are_none_of_another_shard() -> None:
    shards = tuple(Shard(f"s{i}", m.hosts(f"s{i}/{p}1:27018")) for i, p in enumerate("ab"))
    cluster = ShardedCluster("abc", m.hosts("csrs/c1:27019"), shards, (), balancer=True)
    used = ShardedCluster(config=m.hosts("csrs/c1:27019"))

    def shard(number: int, which: int, *states: str, term: int = 1) -> NodeFacts:
        seen = m.rows(*states, prefix="ab"[which])
        return m.member(
            number, m.view(number, seen, name=f"s{which}", id=f"id{which}", term=term), shard=True, cluster=used
        )

    cut = (shard(1, 0, *STATES), shard(2, 0, "DOWN", "PRIMARY", "SECONDARY", term=2))
    one = s.only(s.estate(m.router(1, cluster), *cut, *(shard(n, 1, *STATES) for n in (1, 2, 3))))
    assert one.health is Health.BAD
    assert [n.name for n in one.nodes if n.health is Health.BAD] == ["a1"]


STATES = ("PRIMARY", "SECONDARY", "SECONDARY")
