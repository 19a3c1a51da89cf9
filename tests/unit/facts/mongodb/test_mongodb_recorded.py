"""What the recorded replies of MongoDB 3.2.5 are read as: config servers of both kinds, a shard, mongos."""

from __future__ import annotations

import pytest

from services.connections.mongo.document import Stamp
from services.facts.mongodb.judged import lag_by_own_words_s, lag_s, votes_of
from services.facts.mongodb.sharding import ShardedCluster, listed_shards, parse_cluster, parse_hosts
from tests.unit.recorded.mongo_replies import FOLDER, Recorded, recorded

CONFIG = "127.0.0.1:29001,127.0.0.1:29002,127.0.0.1:29003"
SET = "csReplSet/127.0.0.1:29001,127.0.0.1:29004,127.0.0.1:29005"


def cluster(one: Recorded) -> ShardedCluster:
    return parse_cluster(
        version=one.config("version"),
        shards=one.config("shards"),
        routers=one.config("mongos"),
        settings=one.config("settings"),
        locks=one.config("locks"),
        shard_map=one.answer("getShardMap"),
        sharding_state=one.answer("shardingState"),
    )


@pytest.mark.parametrize(
    ("name", "role", "config", "mode", "engine"),
    [
        ("1-sccc.c1", "standalone", "mirrored", "", "wiredTiger"),
        ("1-sccc.c3", "standalone", "mirrored", "", "wiredTiger"),
        ("1-sccc.m1", "router", "", "", ""),
        ("1-sccc.s0", "member", "", "", "wiredTiger"),
        ("2-members-added.c1", "member", "mirrored", "sccc", "wiredTiger"),
        ("3-stepped-down.c1", "member", "mirrored", "sccc", "wiredTiger"),
        ("4-c1-restarted-old-string.c1", "member", "replica-set", "", "wiredTiger"),
        ("5-csrs.n1", "member", "replica-set", "", "wiredTiger"),
    ],
)
def test_that_each_process_is_told_for_what_it_is_in_each_phase(
    name: str, role: str, config: str, mode: str, engine: str
) -> None:
    server = recorded(name).server
    assert (server.role, server.config, server.config_mode, server.engine) == (role, config, mode, engine)
    assert (server.version, server.wire) == ("3.2.5", 4)


def test_that_a_shards_server_and_a_primary_are_told_apart_from_the_others() -> None:
    shard = recorded("1-sccc.s0").server
    assert (shard.shard, shard.set_name, shard.writable, shard.port) == (True, "rs0", True, 28000)
    assert shard.own is not None
    assert shard.own.name == "127.0.0.1:28000"
    assert shard.data_path == "/var/lib/mongodb/s0"
    assert shard.rollbacks == 1440318261
    assert recorded("3-stepped-down.c1").server.writable is False


def test_that_no_replica_set_is_made_of_a_server_that_has_none() -> None:
    for name, errno in (("1-sccc.c1", 76), ("1-sccc.m1", None)):
        one = recorded(name)
        assert one.answer("replSetGetStatus") is None
        assert one.errno("replSetGetStatus") == errno


def test_that_members_have_their_states_votes_and_sources() -> None:
    view = recorded("2-members-added.c1").set
    assert (view.name, view.config_servers, view.protocol, view.term, view.version) == ("csReplSet", True, 1, 1, 3)
    assert [(one.place.port, one.state, one.votes, one.priority) for one in view.members] == [
        (29001, "PRIMARY", 1, 1.0),
        (29004, "SECONDARY", 0, 0.0),
        (29005, "SECONDARY", 0, 0.0),
    ]
    assert [one.syncs_from and one.syncs_from.port for one in view.members] == [None, 29001, 29001]
    assert (view.votes, view.majority) == (1, 1)
    own = recorded("5-csrs.n1").set.own
    assert own is not None
    assert own.syncs_from is not None
    assert (own.place.port, own.syncs_from.port) == (29004, 29005)


def test_that_a_set_between_two_primaries_has_a_majority_and_no_lag() -> None:
    view = recorded("3-stepped-down.c1").set
    assert view.primary is None
    votes = votes_of(view)
    assert (votes.reached, votes.whole, votes.has, votes.spare, votes.even) == (3, 3, True, 1, False)
    assert [lag_s(view, one) for one in view.members] == [None, None, None]


def test_that_an_optime_is_read_under_both_protocols() -> None:
    old, new = recorded("6-pv0.s0").set, recorded("7-pv1.s0").set
    assert (old.protocol, old.term, new.protocol) == (0, -1, 1)
    assert new.term is not None
    assert new.term >= 0
    assert {(one.optime_term, one.optime) for one in old.members} == {(-1, Stamp(1795249447, 1))}
    assert all(one.optime is not None and one.optime_term is not None for one in new.members)


def test_that_a_member_which_heard_of_newer_operations_than_the_primary_told_is_not_ahead() -> None:
    view = recorded("5-csrs.c1").set
    own, primary = view.own, view.primary
    assert own is not None
    assert primary is not None
    assert own.optime is not None
    assert primary.optime is not None
    assert own.optime > primary.optime
    assert lag_s(view, own) == 0


def test_that_lag_by_own_words_needs_a_primary_of_the_same_set() -> None:
    shard, other = recorded("1-sccc.s0").set, recorded("5-csrs.n1").set
    assert lag_by_own_words_s(shard, other) is None
    assert lag_by_own_words_s(recorded("5-csrs.n2").set, other) == 0
    assert lag_by_own_words_s(other, recorded("5-csrs.n2").set) is None


def test_that_the_cluster_is_the_same_in_the_eyes_of_mongos_and_config_servers() -> None:
    router, config = cluster(recorded("1-sccc.m1")), cluster(recorded("1-sccc.c1"))
    assert router.id == config.id == "6b01550b4b657743d0f5e0de"
    assert router.shards == config.shards
    assert router.shards is not None
    (shard,) = router.shards
    assert (shard.name, shard.hosts.set_name, len(shard.hosts.places)) == ("rs0", "rs0", 3)
    answer = recorded("1-sccc.m1").answer("listShards")
    assert answer is not None
    assert parse_cluster(shards=listed_shards(answer)).shards == router.shards


def test_that_the_config_servers_in_use_are_of_the_kind_that_is_used_not_of_the_options() -> None:
    before, between, after = (
        cluster(recorded(name)) for name in ("1-sccc.m1", "4-c1-restarted-old-string.m1", "5-csrs.m1")
    )
    assert (before.config, before.config.kind) == (parse_hosts(CONFIG), "mirrored")
    options = recorded("4-c1-restarted-old-string.m1").server.config_string
    assert (parse_hosts(options).kind, between.config.kind) == ("mirrored", "replica-set")
    assert (after.config, after.config.kind) == (parse_hosts(SET), "replica-set")


def test_that_balancer_and_routers_are_read_from_the_config_database() -> None:
    before, during = cluster(recorded("1-sccc.m1")), cluster(recorded("2-members-added.m1"))
    assert (before.balancer, during.balancer) == (True, False)
    assert before.routers is not None
    assert [(one.name.port, one.version) for one in before.routers] == [(27102, "3.2.5"), (27101, "3.2.5")]
    at = recorded("1-sccc.m1").server.at
    assert at is not None
    assert [one.alive(at) for one in before.routers] == [True, True]
    assert [one.alive(at + 120) for one in before.routers] == [False, False]
    assert before.routers[0].alive(None) is None


def test_that_every_recorded_file_is_read_without_a_word_of_complaint() -> None:
    names = sorted(path.stem for path in FOLDER.glob("*.json"))
    assert len(names) == 37
    for name in names:
        one = recorded(name)
        assert one.server.role
        cluster(one)
        if one.answer("replSetGetStatus") is not None:
            view = one.set
            assert view.missing == ()
            assert {member.state for member in view.members} <= {"PRIMARY", "SECONDARY", "RECOVERING", "STARTUP2"}
