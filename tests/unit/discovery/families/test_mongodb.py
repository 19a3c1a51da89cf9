"""A replica set of MongoDB, drawn as the quorum it is: kill, partition, step-down, rollback, mere claims."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.discovery.changes import events_between
from services.discovery.families.mongodb.kind import REPLICA_SET
from services.discovery.families.mongodb.problems import (
    ARBITER_BLOCKS,
    EVEN_VOTES,
    MAJORITY_NOT_KNOWN,
    NO_PRIMARY_MEMBER,
    OLD_PROTOCOL,
    STALE_PRIMARY,
    UNEXPECTED_EMPTY,
)
from services.discovery.looks.crawl import leads_of
from services.discovery.model import ALL_DOWN, NO_PRIMARY, NO_PRIMARY_HEARD, TWO_PRIMARIES, ClusterSnapshot, NodeView
from services.discovery.snapshot import updated_estate
from services.facts.model import NodeFacts
from services.facts.mongodb.model import Contents, MongoFacts
from services.facts.mongodb.server import MongoServer
from services.types import Health, Reach
from tests.unit.discovery import mongo_scenes as m
from tests.unit.discovery import scenes as s


def told(cluster: ClusterSnapshot) -> dict[str, tuple[str, Health]]:
    return {n.name: (n.state, n.health) for n in cluster.nodes}


def parts(cluster: ClusterSnapshot) -> list[tuple[bool, tuple[str, ...], int, int, int | None]]:
    return [(c.primary, c.members, c.votes, c.votes_known, c.may_lose) for c in cluster.components]


def codes(cluster: ClusterSnapshot) -> list[str]:
    return [p.code for p in cluster.problems]


def node(cluster: ClusterSnapshot, name: str) -> NodeView:
    return next(n for n in cluster.nodes if n.name == name)


def test_that_a_set_is_one_cluster_with_its_primary_its_votes_and_its_numbers() -> None:
    cluster = s.only(s.estate(m.member(1), m.member(2), m.member(3)))
    assert (cluster.kind, cluster.cluster_id, cluster.name) == (REPLICA_SET, "5f00", "rs0")
    assert cluster.health is Health.GOOD
    assert told(cluster) == {
        "m1": ("PRIMARY", Health.GOOD),
        "m2": ("SECONDARY", Health.GOOD),
        "m3": ("SECONDARY", Health.GOOD),
    }
    assert [n.role for n in cluster.nodes] == ["primary", "secondary", "secondary"]
    assert parts(cluster) == [(True, ("m1", "m2", "m3"), 3, 3, 1)]
    assert cluster.problems == ()
    assert [label for label, _, _ in node(cluster, "m2").numbers] == ["lag", "oplog window", "engine"]
    assert node(cluster, "m1").numbers[0][0] == "oplog window"  # a primary has no lag


def test_that_a_member_names_the_others_by_host_and_port() -> None:
    assert [(one.address, one.port, one.sure) for one in leads_of(m.member(1))] == [
        ("m2", 27018, True),
        ("m3", 27018, True),
    ]


def test_that_members_that_nobody_may_ask_stand_in_their_part_and_are_judged_by_hearsay() -> None:
    cluster = s.only(s.estate(m.member(1)))
    assert {n.name: n.host for n in cluster.nodes} == {"m1": "m1", "m2:27018": "", "m3:27018": ""}
    assert node(cluster, "m2:27018").health is Health.UNKNOWN
    assert parts(cluster)[0][2:] == (3, 3, 1)


def test_that_a_killed_secondary_leaves_a_part_that_may_lose_none_and_it_has_no_lag() -> None:
    seen = m.rows("PRIMARY", "SECONDARY", "DOWN")
    cluster = s.only(s.estate(m.member(1, m.view(1, seen)), m.member(2, m.view(2, seen)), m.down(3)))
    assert parts(cluster) == [(True, ("m1", "m2"), 2, 3, 0)]
    assert node(cluster, "m3").numbers == ()
    assert node(cluster, "m3").health is not Health.GOOD


def test_that_a_part_without_a_majority_is_no_cluster_whatever_its_members_call_themselves() -> None:
    seen = m.rows("PRIMARY", "DOWN", "DOWN")
    cluster = s.only(s.estate(m.member(1, m.view(1, seen)), m.down(2), m.down(3)))
    assert parts(cluster) == [(False, ("m1",), 1, 3, None)]
    assert told(cluster)["m1"] == ("PRIMARY, no majority", Health.BAD)
    assert node(cluster, "m1").role == ""
    assert codes(cluster) == [NO_PRIMARY_HEARD]
    assert cluster.health is Health.BAD
    assert len(cluster.silent) == 2


def test_that_a_later_primary_whose_votes_nobody_may_read_outvotes_an_earlier_one() -> None:
    old = (m.row(1, "PRIMARY"), m.row(2), m.row(3))
    unread = tuple(replace(one, votes=None) for one in (m.row(1, "SECONDARY"), m.row(2, "PRIMARY"), m.row(3)))
    later = m.member(2, m.view(2, unread, term=6, votes=None, majority=None))
    cluster = s.only(s.estate(m.member(1, m.view(1, old, term=5)), later, m.down(3)))
    assert told(cluster)["m1"][1] is Health.BAD
    assert "outvoted" not in told(cluster)["m2"][0]


def test_that_an_outvoted_primary_is_told_as_one_whose_writes_may_be_rolled_back() -> None:
    old = m.view(1, m.rows("PRIMARY", "DOWN", "DOWN"), term=1)
    new = m.rows("DOWN", "PRIMARY", "SECONDARY")
    cluster = s.only(
        s.estate(m.member(1, old), m.member(2, m.view(2, new, term=2)), m.member(3, m.view(3, new, term=2)))
    )
    assert parts(cluster) == [(True, ("m2", "m3"), 2, 3, 0), (False, ("m1",), 1, 3, None)]
    assert told(cluster)["m1"] == ("PRIMARY, outvoted", Health.BAD)
    assert told(cluster)["m2"] == ("PRIMARY", Health.GOOD)
    assert (node(cluster, "m1").role, node(cluster, "m2").role) == ("", "primary")
    assert codes(cluster) == [STALE_PRIMARY]
    assert "writes on m1 may be rolled back" in cluster.problems[0].sentence


def test_that_two_that_both_still_count_a_majority_are_two_primaries() -> None:
    """For as long as heartbeats are believed a cut-off primary counts those that left it."""
    old = m.view(1, term=1)
    new = m.rows("DOWN", "PRIMARY", "SECONDARY")
    cluster = s.only(s.estate(m.member(1, old), m.member(2, m.view(2, new, term=2))))
    assert TWO_PRIMARIES in codes(cluster)
    assert told(cluster)["m1"][1] is Health.BAD
    assert told(cluster)["m2"] == ("PRIMARY", Health.GOOD)
    assert (node(cluster, "m2").reason, cluster.health) == ("", Health.BAD)


def test_that_with_the_old_protocol_the_later_election_counts() -> None:
    old = (m.row(1, "PRIMARY", elected_at=100.0), m.row(2, "DOWN"), m.row(3, "DOWN"))
    new = (m.row(1, "DOWN"), m.row(2, "PRIMARY", elected_at=200.0), m.row(3))
    views = {"protocol": 0, "term": -1}
    cluster = s.only(s.estate(m.member(1, m.view(1, old, **views)), m.member(2, m.view(2, new, **views))))
    assert node(cluster, "m2").role == "primary"
    assert told(cluster)["m1"][0] == "PRIMARY, outvoted"
    assert OLD_PROTOCOL in codes(cluster)


def test_that_a_majority_without_a_primary_waits_for_an_election() -> None:
    seen = m.rows("DOWN", "SECONDARY", "SECONDARY")
    cluster = s.only(s.estate(m.down(1), m.member(2, m.view(2, seen)), m.member(3, m.view(3, seen))))
    assert parts(cluster) == [(True, ("m2", "m3"), 2, 3, 0)]
    assert codes(cluster) == [NO_PRIMARY_MEMBER]
    assert node(cluster, "m2").health is Health.UNKNOWN  # nobody it could be behind
    assert node(cluster, "m2").reason == "how far it is behind is not known: its set has no primary now"
    assert cluster.health is not Health.GOOD


@pytest.mark.parametrize(
    ("state", "health"),
    [("RECOVERING", Health.WARN), ("ROLLBACK", Health.BAD), ("STARTUP2", Health.TRANSFER)],
)
def test_that_a_member_that_follows_nobody_is_not_good(state: str, health: Health) -> None:
    seen = m.rows("PRIMARY", "SECONDARY", state)
    cluster = s.only(s.estate(*(m.member(n, m.view(n, seen)) for n in (1, 2, 3))))
    assert told(cluster)["m3"] == (state, health)


def test_that_even_votes_and_an_arbiter_that_blocks_a_majority_write_are_told() -> None:
    four = m.rows("PRIMARY", "SECONDARY", "SECONDARY", "SECONDARY")
    assert codes(s.only(s.estate(*(m.member(n, m.view(n, four)) for n in (1, 2, 3, 4))))) == [EVEN_VOTES]
    psa = (m.row(1, "PRIMARY"), m.row(2, "DOWN"), m.row(3, "ARBITER"))
    cluster = s.only(s.estate(m.member(1, m.view(1, psa)), m.down(2), m.member(3, m.view(3, psa))))
    assert codes(cluster) == [ARBITER_BLOCKS]
    assert told(cluster)["m3"] == ("ARBITER", Health.GOOD)
    assert node(cluster, "m3").role == "arbiter"


def test_that_all_down_is_told_by_the_hosts_alone() -> None:
    before = s.estate(m.member(1), m.member(2), m.member(3))
    machine = s.machine(1, process_state="", process_pid=None)
    gone = [
        replace(m.member(n), reach=Reach.SSH_ONLY, machine=machine, ssh_at=s.AT + 60, sql_at=s.AT, at=s.AT + 60)
        for n in (1, 2, 3)
    ]
    cluster = s.only(updated_estate(before, {f.host: f for f in gone}, s.AT + 60))
    assert codes(cluster) == [ALL_DOWN]
    assert cluster.components == ()


def test_that_all_members_cut_off_from_each_other_have_no_majority() -> None:
    cut = {n: tuple(m.row(i, "SECONDARY" if i == n else "DOWN") for i in (1, 2, 3)) for n in (1, 2, 3)}
    cluster = s.only(s.estate(*(m.member(n, m.view(n, cut[n])) for n in (1, 2, 3))))
    assert codes(cluster) == [NO_PRIMARY]
    assert [c.primary for c in cluster.components] == [False] * 3
    assert told(cluster)["m1"] == ("SECONDARY, no majority", Health.BAD)


def test_that_two_sets_of_one_name_are_two_clusters() -> None:
    other = m.view(1, m.rows("PRIMARY", "SECONDARY", "SECONDARY", prefix="x"), id="6f00")
    estate = s.estate(m.member(1), m.member(1, other))
    assert [c.cluster_id for c in estate.clusters] == ["5f00", "6f00"]


def test_that_several_members_on_one_host_are_told_apart_by_their_ports() -> None:
    seen = tuple(replace(one, place=m.place(f"box:{27017 + one.id}")) for one in m.THREE)
    hosts = [
        replace(m.member(n, m.view(n, seen)), host=f"box:{27017 + n}", address="box", on="" if n == 1 else "box:27018")
        for n in (1, 2, 3)
    ]
    cluster = s.only(s.estate(*hosts))
    assert [(n.name, n.state) for n in cluster.nodes] == [
        ("box:27018", "PRIMARY"),
        ("box:27019", "SECONDARY"),
        ("box:27020", "SECONDARY"),
    ]


def test_that_an_election_is_an_event() -> None:
    before = s.estate(m.member(1), m.member(2), m.member(3))
    new = m.rows("SECONDARY", "PRIMARY", "SECONDARY")
    after = updated_estate(
        before, {f"m{n}": replace(m.member(n, m.view(n, new, term=2)), sql_at=s.AT + 1) for n in (1, 2, 3)}, s.AT + 1
    )
    said = [event.text for event in events_between(before, after)]
    assert any("m2" in text and "PRIMARY" in text for text in said), said


def test_that_the_source_of_each_member_is_an_edge_with_its_lag() -> None:
    chain = (m.row(1, "PRIMARY"), m.row(2, syncs_from=m.place("m1:27018")), m.row(3, syncs_from=m.place("m2:27018")))
    cluster = s.only(s.estate(*(m.member(n, m.view(n, chain)) for n in (1, 2, 3))))
    assert [(e.source_id, e.replica_id, e.lag_s) for e in cluster.replication] == [("m1", "m2", 0.0), ("m2", "m3", 0.0)]


def test_that_a_member_that_names_thousands_is_bounded() -> None:
    many = tuple(m.row(n, prefix="z") for n in range(1, 65))
    cluster = s.only(s.estate(m.member(1, m.view(1, many))))
    assert len(cluster.nodes) <= 64


def test_that_a_database_that_the_primary_had_before_and_a_follower_lacks_is_told() -> None:
    has, lacks = Contents(("admin", "shop"), s.AT - 20), Contents(("admin",), s.AT - 10)

    def with_contents(number: int, contents: Contents) -> NodeFacts:
        facts = m.member(number)
        assert facts.mongo is not None
        return replace(facts, mongo=replace(facts.mongo, contents=contents))

    cluster = s.only(s.estate(with_contents(1, has), with_contents(2, lacks), with_contents(3, has)))
    assert codes(cluster) == [UNEXPECTED_EMPTY]
    assert "shop: empty or missing on m2" in cluster.problems[0].sentence
    assert cluster.health is Health.WARN
    earlier = replace(lacks, at=s.AT - 30)  # asked before the primary was: it may have been made in between
    assert codes(s.only(s.estate(with_contents(1, has), with_contents(2, earlier)))) == []
    assert codes(s.only(s.estate(m.member(1), with_contents(2, lacks)))) == []  # nobody it could lack anything of


def test_that_a_member_that_was_only_named_and_answers_now_has_not_left() -> None:
    before = s.estate(m.member(1))
    silent = replace(m.down(2), reach=Reach.NOT_TRIED)
    between = updated_estate(before, {"m1": m.member(1), "m2": silent}, s.AT + 1)
    after = updated_estate(between, {"m1": m.member(1), "m2": m.member(2)}, s.AT + 2)
    events = [e.text for one, other in ((before, between), (between, after)) for e in events_between(one, other)]
    assert [text for text in events if "left" in text] == []


def test_that_a_majority_that_nobody_may_tell_is_not_known_and_nothing_is_good() -> None:
    """An account that may not read the configuration: no votes, no majority, no word against anybody."""
    seen = tuple(replace(one, votes=None, priority=None) for one in m.THREE)
    mute = {"votes": None, "majority": None, "missing": ("config",)}
    cluster = s.only(s.estate(*(m.member(n, replace(m.view(n, seen), **mute)) for n in (1, 2, 3))))
    assert codes(cluster) == [MAJORITY_NOT_KNOWN]
    assert cluster.health is Health.UNKNOWN


def test_that_votes_that_no_set_can_have_are_not_believed_and_the_cause_is_told() -> None:
    mute = {"votes": None, "majority": None}
    cluster = s.only(s.estate(*(m.member(n, replace(m.view(n), **mute)) for n in (1, 2, 3))))
    assert codes(cluster) == [MAJORITY_NOT_KNOWN]
    assert "the configuration from m1, m2 and m3 are impossible" in cluster.problems[0].sentence


def test_that_a_member_that_was_started_alone_is_told_where_its_set_counts_it() -> None:
    """In maintenance: whoever writes to it writes what no other member gets."""
    seen = m.rows("PRIMARY", "SECONDARY", "DOWN")
    server = MongoServer("standalone", version="3.2.5", engine="wiredTiger", host="m3:27018", port=27018, uptime_s=9)
    alone = m.facts("m3", MongoFacts(server))
    cluster = s.only(s.estate(m.member(1, m.view(1, seen)), m.member(2, m.view(2, seen)), alone))
    assert told(cluster)["m3"] == ("standalone", Health.BAD)
    other = m.facts("x9", MongoFacts(replace(server, host="x9:27018")))
    assert len(s.estate(m.member(1), m.member(2), m.member(3), other).clusters) == 2


def test_that_a_member_that_was_taken_out_is_removed_and_none_of_its_set() -> None:
    """As 3.2 answers: its greeting names the set, its status is refused, its configuration is without it."""
    two = (m.row(1, "PRIMARY"), m.row(3))
    out = m.member(2)
    assert out.mongo is not None
    assert out.mongo.set is not None
    view = replace(out.mongo.set, members=two, missing=("status",))
    server = replace(out.mongo.server, role="removed", own=None)
    out = replace(out, mongo=replace(out.mongo, set=view, server=server))
    cluster = s.only(s.estate(m.member(1, m.view(1, two)), out, m.member(3, m.view(3, two))))
    assert told(cluster)["m2"] == ("REMOVED", Health.BAD)
    assert _inside(cluster) == {"m1", "m3"}


def test_that_members_that_tell_nothing_of_their_set_are_one_set_of_which_nothing_is_known() -> None:
    """Their account has no rights: each was drawn as a server of its own that serves, and the check said 'ok'."""

    def blind(number: int) -> NodeFacts:
        node = m.member(number)
        assert node.mongo is not None
        server = replace(node.mongo.server, fellows=("m1:27018", "m2:27018", "m3:27018"))
        return replace(node, mongo=replace(node.mongo, set=None, oplog=None, server=server))

    cluster = s.only(s.estate(*(blind(n) for n in (1, 2, 3))))
    assert (cluster.kind, cluster.name, cluster.health) == (REPLICA_SET, "rs0", Health.UNKNOWN)
    assert {name: health for name, (_, health) in told(cluster).items()} == dict.fromkeys(
        ("m1", "m2", "m3"), Health.UNKNOWN
    )
    mixed = s.only(s.estate(m.member(1), m.member(2), blind(3)))  # others tell what it may not
    assert (len(mixed.nodes), told(mixed)["m3"][1]) == (3, Health.UNKNOWN)


def _inside(cluster: ClusterSnapshot) -> set[str]:
    return {member for part in cluster.components for member in part.members}


def test_that_one_that_stepped_down_is_no_primary_by_the_heartbeats_of_others() -> None:
    own = m.rows("SECONDARY", "SECONDARY", "SECONDARY")
    cluster = s.only(s.estate(m.member(1, m.view(1, own)), m.member(2), m.member(3)))
    assert node(cluster, "m1").role == "secondary"
    assert codes(cluster) == [NO_PRIMARY_MEMBER]
    assert cluster.health is Health.BAD
    elected = [m.member(n, m.view(n, term=2)) for n in (2, 3)]  # they heard of an election that m1 had not won yet
    cluster = s.only(s.estate(m.member(1, m.view(1, own)), *elected))
    assert (node(cluster, "m1").role, codes(cluster)) == ("primary", [])


def test_that_of_two_that_one_member_takes_for_primaries_the_later_elected_is() -> None:
    seen = (m.row(1, "PRIMARY", elected_at=100.0), m.row(2, "PRIMARY", elected_at=200.0), m.row(3))
    cluster = s.only(s.estate(m.down(1), m.down(2), m.member(3, m.view(3, seen))))
    assert [n.name for n in cluster.nodes if n.role == "primary"] == ["m2"]


def test_that_a_member_whose_place_is_not_told_is_not_good() -> None:
    seen = (m.row(1, "PRIMARY"), m.row(2, optime=None), m.row(3))
    cluster = s.only(s.estate(m.member(1), m.member(2, m.view(2, seen)), m.member(3)))
    assert told(cluster)["m2"] == ("SECONDARY", Health.UNKNOWN)


def test_that_one_that_reaches_nobody_gives_the_majority_no_vote() -> None:
    alone = m.rows("DOWN", "DOWN", "SECONDARY")
    cluster = s.only(s.estate(m.member(1), m.member(2), m.member(3, m.view(3, alone))))
    assert parts(cluster) == [(True, ("m1", "m2"), 2, 3, 0), (False, ("m3",), 1, 3, None)]


@pytest.mark.parametrize(("heard", "health"), [("ARBITER", Health.GOOD), ("DOWN", Health.BAD)])
def test_that_an_arbiter_that_tells_its_greeting_only_is_of_the_set_that_names_it(heard: str, health: Health) -> None:
    """Under access control it has no accounts: at the first look nobody remembers where it was."""
    seen = (m.row(1, "PRIMARY"), m.row(2), m.row(3, heard, arbiter=True))
    server = MongoServer("member", set_name="rs0", own=m.place("m3:27018"), port=27018, arbiter=True, version="3.2.5")
    mute = m.facts("m3", MongoFacts(server))
    cluster = s.only(s.estate(m.member(1, m.view(1, seen)), m.member(2, m.view(2, seen)), mute))
    assert told(cluster)["m3"] == ("ARBITER", health)


@pytest.mark.parametrize(
    ("arbiter", "seen", "word"),
    [
        (True, "ARBITER", ("ARBITER", Health.GOOD)),
        (True, "DOWN", ("ARBITER", Health.BAD)),
        (False, "STARTUP2", ("STARTUP2", Health.TRANSFER)),
    ],
)
def test_that_who_has_not_proven_that_it_knows_the_password_is_what_the_majority_sees(
    arbiter: bool, seen: str, word: tuple[str, Health]
) -> None:
    """By its own greeting alone anybody is an arbiter, and was good."""
    rows = (m.row(1, "PRIMARY"), m.row(2), m.row(3, seen, arbiter=arbiter))
    server = MongoServer("member", set_name="rs0", own=m.place("m3:27018"), port=27018, arbiter=arbiter)
    unproven = m.facts("m3", MongoFacts(server, proven=False))
    cluster = s.only(s.estate(m.member(1, m.view(1, rows)), m.member(2, m.view(2, rows)), unproven))
    assert told(cluster)["m3"] == word


def test_that_an_arbiter_of_which_no_majority_speaks_is_not_known() -> None:
    server = MongoServer("member", set_name="rs0", own=m.place("m3:27018"), port=27018, arbiter=True)
    cluster = s.only(s.estate(m.facts("m3", MongoFacts(server, proven=False))))
    assert told(cluster)["m3"][1] is Health.UNKNOWN


def test_that_a_silent_mysql_server_at_a_members_address_is_no_member() -> None:
    mysql = replace(m.down(2), speaks="SQL")
    estate = s.estate(m.member(1), mysql, m.member(3))
    assert all(n.host != "m2" for c in estate.clusters if c.kind == REPLICA_SET for n in c.nodes)


def test_that_a_primary_that_takes_no_writes_is_not_good() -> None:
    facts = m.member(1)
    assert facts.mongo is not None
    catching_up = replace(facts, mongo=replace(facts.mongo, server=replace(facts.mongo.server, writable=False)))
    cluster = s.only(s.estate(catching_up, m.member(2), m.member(3)))
    assert told(cluster)["m1"] == ("PRIMARY", Health.WARN)


def test_that_a_primary_whose_host_says_that_no_server_runs_has_no_role_however_long_others_believe_it() -> None:
    dead = replace(
        m.member(1), reach=Reach.SSH_ONLY, machine=s.machine(1, process_state="", process_pid=None), ssh_at=s.AT + 60,
        sql_at=s.AT, at=s.AT + 60,
    )  # fmt: skip
    others = (replace(m.member(n), at=s.AT + 60, sql_at=s.AT + 60) for n in (2, 3))
    cluster = s.only(s.estate(dead, *others, at=s.AT + 60.5))
    assert node(cluster, "m1").role == ""
    assert node(cluster, "m2").role == "secondary"


def test_that_a_member_that_others_spoke_of_first_and_a_host_that_was_found_then_are_one() -> None:
    """Killed before the console was opened it stood twice, as the host and as what its set calls it."""
    seen = m.rows("PRIMARY", "SECONDARY", "DOWN")
    living = [m.member(n, m.view(n, seen)) for n in (1, 2)]
    first = s.estate(*living)
    assert {n.node_id for n in s.only(first).nodes} == {"m1", "m2", "member:m3:27018"}
    found = s.only(s.estate(*living, m.down(3), previous=first, at=s.AT + 2.0))
    assert {n.node_id for n in found.nodes} == {"m1", "m2", "m3"}
