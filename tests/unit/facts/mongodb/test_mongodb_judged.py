"""Majority, even votes, lag and what an oplog still holds: of sets made up here, where the truth is constructed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from services.connections.mongo.document import Document, Stamp, Value
from services.facts.mongodb.judged import Left, lag_by_own_words_s, lag_s, left_of, votes_of
from services.facts.mongodb.oplog import Oplog, parse_oplog
from services.facts.mongodb.replica_set import ReplicaSet, SetMember, parse_set
from services.facts.mongodb.server import parse_server
from services.facts.mongodb.sharding import holders_of, parse_cluster, parse_hosts
from services.facts.mongodb.values import place

NOW = 1_800_000_000
CODES = {"PRIMARY": 1, "SECONDARY": 2, "RECOVERING": 3, "STARTUP2": 5, "ARBITER": 7, "DOWN": 8, "ROLLBACK": 9}


def view(*states: str, own: int = 0, behind: tuple[int, ...] = (), **config: dict[int, Value]) -> ReplicaSet:
    """A set of members in these states, as member `own` sees it; `config`: what is written of single members."""
    late = (*behind, *[0] * len(states))
    told: list[Value] = [
        {
            "_id": n,
            "name": f"h{n}:27017",
            "state": CODES[state],
            "health": 0.0 if state == "DOWN" else 1.0,
            "self": n == own,
            "optime": {"ts": Stamp(0, 0) if state == "DOWN" else Stamp(NOW - late[n], 1), "t": 3},
        }
        for n, state in enumerate(states)
    ]
    written: list[Value] = [
        {"_id": n, "host": f"h{n}:27017", **{name: values[n] for name, values in config.items() if n in values}}
        for n in range(len(states))
    ]
    found = parse_set(
        {"set": "rs0", "members": told}, {"config": {"_id": "rs0", "protocolVersion": 1, "members": written}}
    )
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("states", "reached", "has", "spare", "even"),
    [
        (("PRIMARY", "SECONDARY", "SECONDARY"), 3, True, 1, False),
        (("PRIMARY", "SECONDARY", "DOWN"), 2, True, 0, False),
        (("SECONDARY", "DOWN", "DOWN"), 1, False, 0, False),
        (("PRIMARY", "SECONDARY"), 2, True, 0, True),
        (("PRIMARY", "SECONDARY", "ARBITER"), 3, True, 1, False),
        (("PRIMARY", "SECONDARY", "SECONDARY", "SECONDARY"), 4, True, 1, True),
        (("PRIMARY", "ROLLBACK", "RECOVERING", "DOWN", "DOWN"), 3, True, 0, False),
    ],
)
def test_that_a_majority_is_counted_of_all_votes_and_only_of_those_that_answer(
    states: tuple[str, ...], reached: int, has: bool, spare: int, even: bool
) -> None:
    votes = votes_of(view(*states))
    assert (votes.reached, votes.has, votes.spare, votes.even) == (reached, has, spare, even)


def test_that_members_without_a_vote_count_neither_way() -> None:
    votes = votes_of(view("PRIMARY", "DOWN", "SECONDARY", "SECONDARY", votes={2: 0, 3: 0}))
    assert (votes.reached, votes.whole, votes.majority, votes.has, votes.even) == (1, 2, 2, False, True)


def test_that_a_primary_without_a_majority_is_told_as_lonely() -> None:
    assert votes_of(view("PRIMARY", "DOWN", "DOWN")).lonely
    assert not votes_of(view("PRIMARY", "SECONDARY", "DOWN")).lonely
    assert not votes_of(view("SECONDARY", "DOWN", "DOWN")).lonely


@pytest.mark.parametrize("members", [8, 64, 1003])
def test_that_more_votes_than_a_set_can_have_are_not_believed_nor_counted_as_far_as_they_were_read(
    members: int,
) -> None:
    told = view("PRIMARY", *["SECONDARY"] * (members - 1))
    assert (told.votes, told.majority, votes_of(told).has) == (None, None, None)
    without_votes = view("PRIMARY", *["SECONDARY"] * 9, votes=dict.fromkeys(range(3, 10), 0))
    assert (without_votes.votes, without_votes.majority) == (3, 2)


def counted_by(server: int, *states: str) -> ReplicaSet:
    """A set of members in these states, of which the asked server counts so many as voters itself (4.4 and newer)."""
    status: Document = {"set": "rs0", "votingMembersCount": server, "majorityVoteCount": server // 2 + 1,
                        "members": [{"_id": n, "name": f"h{n}:1", "state": CODES[state], "health": 1.0, "self": n == 0}
                                    for n, state in enumerate(states)]}  # fmt: skip
    written: list[Value] = [{"_id": n, "host": f"h{n}:1"} for n in range(len(states))]
    found = parse_set(status, {"config": {"_id": "rs0", "members": written}})
    assert found is not None
    return found


def test_that_members_in_their_first_sync_have_no_vote_where_the_server_counts_none() -> None:
    """Two of three voters are down, two more were just added: 5.0 and newer hide `newlyAdded`, the count shows it."""
    added = counted_by(3, "PRIMARY", "SECONDARY", "SECONDARY", "STARTUP2", "STARTUP2")
    votes = votes_of(added)
    assert (votes.whole, votes.majority, votes.reached, votes.has) == (3, 2, 3, True)
    older = votes_of(counted_by(5, "PRIMARY", "SECONDARY", "SECONDARY", "STARTUP2", "STARTUP2"))
    assert (older.whole, older.majority, older.has) == (5, 3, True)


def test_that_a_count_of_the_server_which_nothing_explains_makes_the_majority_not_known() -> None:
    votes = votes_of(counted_by(3, "PRIMARY", "SECONDARY", "SECONDARY", "SECONDARY", "STARTUP2"))
    assert (votes.whole, votes.majority, votes.has) == (None, None, None)


def test_that_without_a_configuration_no_vote_is_made_up() -> None:
    told: Document = {"set": "rs0", "members": [{"_id": 0, "name": "h0", "state": 1, "health": 1.0, "self": True}]}
    found = parse_set(told, None)
    assert found is not None
    assert found.missing == ("config",)
    votes = votes_of(found)
    assert (votes.whole, votes.has, votes.even, votes.lonely) == (None, None, None, False)
    newer = parse_set({**told, "votingMembersCount": 3, "majorityVoteCount": 2}, None)  # 4.4 and newer say it here too
    assert newer is not None
    assert (newer.votes, newer.majority, votes_of(newer).has) == (3, 2, None)


def test_that_without_a_status_nobody_has_a_state() -> None:
    found = parse_set(
        None, {"config": {"_id": "rs0", "members": [{"_id": 0, "host": "h0:1"}, {"_id": 1, "host": "h1"}]}}
    )
    assert found is not None
    assert (found.missing, found.votes, found.protocol) == (("status",), 2, 0)
    assert [(one.state, one.reached, one.place.port) for one in found.members] == [("", None, 1), ("", None, 27017)]
    assert votes_of(found).has is None


def test_that_a_member_which_is_not_reached_has_no_lag_and_no_optime() -> None:
    found = view("PRIMARY", "SECONDARY", "DOWN", behind=(0, 7))
    assert [lag_s(found, one) for one in found.members] == [None, 7, None]
    assert found.members[2].optime is None


def test_that_a_member_which_lacks_the_last_entry_is_behind_for_as_long_as_that_is_there() -> None:
    """Where the majority's writes hang on it nothing newer is written: by its entries it was never behind."""
    first, second = view("PRIMARY", "SECONDARY", behind=(30, 31)), view("PRIMARY", "SECONDARY", own=1, behind=(30, 31))
    assert lag_by_own_words_s(first, second) == 1
    assert lag_by_own_words_s(replace(first, at=float(NOW)), second) == 29
    even = view("PRIMARY", "SECONDARY", own=1, behind=(30, 30))
    assert lag_by_own_words_s(replace(first, at=float(NOW)), even) == 0
    heard = replace(first.members[1], heard_at=float(NOW))
    assert (lag_s(first, first.members[1]), lag_s(first, heard), lag_s(second, heard)) == (1, 29, 1)


@pytest.mark.parametrize("state", ["ARBITER", "STARTUP2", "ROLLBACK"])
def test_that_who_does_not_read_the_oplog_in_common_has_no_lag(state: str) -> None:
    found = view("PRIMARY", state, behind=(0, 500))
    assert lag_s(found, found.members[1]) is None
    assert left_of(found.members[1], [Oplog(Stamp(NOW - 100, 1), Stamp(NOW, 1))]) == Left("not-known")


def test_that_a_delayed_member_is_behind_only_by_what_is_beyond_its_delay() -> None:
    for name in ("slaveDelay", "secondaryDelaySecs"):
        found = view("PRIMARY", "SECONDARY", "SECONDARY", behind=(0, 3610, 3500), **{name: {1: 3600, 2: 3600}})
        assert [lag_s(found, one) for one in found.members[1:]] == [10, 0]


def test_that_what_is_configured_of_a_member_is_read_with_the_defaults() -> None:
    found = view("PRIMARY", "SECONDARY", "ARBITER", hidden={1: True}, priority={1: 0}, tags={1: {"dc": "east"}})
    one = found.members[1]
    assert (one.hidden, one.priority, one.votes, one.tags, one.delay_s) == (True, 0.0, 1, (("dc", "east"),), 0)
    assert (found.members[0].priority, found.members[0].hidden, found.members[0].arbiter) == (1.0, False, False)


def member(behind: int) -> SetMember:
    return view("PRIMARY", "SECONDARY", behind=(0, behind)).members[1]


def oplog(first: int) -> Oplog:
    return Oplog(Stamp(NOW - first, 1), Stamp(NOW, 1), 1000, 1000)


@pytest.mark.parametrize(
    ("behind", "sources", "left"),
    [
        (0, [oplog(100)], Left("within", 100)),
        (49, [oplog(100)], Left("within", 51)),
        (50, [oplog(100)], Left("near", 50)),
        (99, [oplog(100)], Left("near", 1)),
        (101, [oplog(100)], Left("beyond")),
        (101, [oplog(100), oplog(1000)], Left("within", 899)),
        (101, [oplog(100), None], Left("not-known")),
        (0, [None], Left("not-known")),
        (0, [], Left("not-known")),
        (0, [oplog(0)], Left("within", 0)),
    ],
)
def test_that_beyond_is_said_only_when_no_oplog_can_hold_the_place(
    behind: int, sources: list[Oplog | None], left: Left
) -> None:
    assert left_of(member(behind), sources) == left


def test_that_an_oplog_is_what_its_two_ends_and_sizes_say() -> None:
    found = parse_oplog(
        [{"ts": Stamp(NOW - 3600, 5)}], [{"ts": Stamp(NOW, 2)}], {"maxSize": 1000, "size": 950, "ok": 1.0}
    )
    assert found is not None
    assert (found.window_s, found.full, found.size, found.used) == (3600, True, 1000, 950)
    assert parse_oplog([], [], None) is None
    assert parse_oplog([], [], {"count": 0, "size": 0, "ok": 1.0}) is None  # of a server without one
    half = parse_oplog([{"ts": Stamp(NOW, 1)}], [], {"maxSize": 1000, "size": 10})
    assert half is not None
    assert (half.window_s, half.full) == (None, False)
    upside_down = parse_oplog([{"ts": Stamp(NOW, 1)}], [{"ts": Stamp(NOW - 9, 1)}], None)
    assert upside_down is not None
    assert (upside_down.window_s, upside_down.full) == (None, None)


# -- what is no reply of any server ------------------------------------------------------------------------------------


ODD: tuple[Any, ...] = (
    None,
    "",
    "x",
    -1,
    10**400,
    float("nan"),
    float("inf"),
    True,
    [],
    {},
    [[]],
    Stamp(0, 0),
    b"\xff",
)


@pytest.mark.parametrize("odd", ODD, ids=repr)
def test_that_odd_values_anywhere_raise_nothing_and_make_nothing_up(odd: Any) -> None:
    names = ("_id", "name", "state", "health", "self", "optime", "lastHeartbeat", "pingMs", "uptime", "syncingTo")
    told: Document = dict.fromkeys((*names, "electionDate", "configVersion", "infoMessage"), odd)
    written: Document = dict.fromkeys(("_id", "host", "votes", "priority", "hidden", "tags", "slaveDelay"), odd)
    for key in (odd, 0):
        found = parse_set(
            {"set": "rs0", "date": odd, "term": odd, "members": [{**told, "_id": key}, odd]},
            {"config": {"_id": "rs0", "version": odd, "settings": odd, "members": [{**written, "_id": key}, odd]}},
        )
        assert found is not None
        votes_of(found)
        for one in found.members:
            assert lag_s(found, one) is None
            left_of(one, [None])
    parse_set({"set": odd, "members": odd}, {"config": odd})
    hello: Document = dict.fromkeys(
        ("ismaster", "setName", "msg", "me", "configsvr", "maxWireVersion", "localTime"), odd
    )
    parse_server(hello, {"version": odd}, {"storageEngine": odd, "uptime": odd}, {"parsed": odd})
    shards: list[Document] = [{"_id": odd, "host": odd, "draining": odd, "tags": odd, "state": odd, "ping": odd}]
    made = parse_cluster(
        version=shards, shards=shards, routers=shards, settings=shards, locks=shards, shard_map={"map": odd}
    )
    assert made.routers is not None
    made.routers[0].alive(NOW)
    parse_oplog([{"ts": odd}], [{"ts": odd}], {"maxSize": odd, "size": odd})


def test_that_a_crowd_of_members_and_hosts_is_cut() -> None:
    members: list[Value] = [{"_id": n, "host": f"h{n}:1"} for n in range(5000)]
    found = parse_set(None, {"config": {"_id": "rs0", "members": members}})
    assert found is not None
    assert len(found.members) == 64
    assert len(parse_hosts("rs0/" + ",".join(f"h{n}:1" for n in range(5000))).places) <= 64


@pytest.mark.parametrize(
    ("told", "host", "port"),
    [
        ("db1:27018", "db1", 27018),
        ("db1", "db1", 27017),
        ("[::1]:27019", "::1", 27019),
        ("x$(id>&2):27017", "", 27017),
        ("0x7f.0.0.1:27017", "", 27017),
        ("a b:1", "", 27017),
        ("", "", 27017),
    ],
)
def test_that_a_name_which_is_no_address_is_kept_for_people_only(told: str, host: str, port: int) -> None:
    found = place(told)
    assert (found.name, found.host, found.port) == (told, host, port)


def test_that_a_held_lock_is_told_with_who_holds_it_for_what_and_since_when() -> None:
    lock = {
        "_id": "shop.orders",
        "state": 2,
        "who": "r1:27017:1:2:conn5",
        "why": "migrating chunk",
        "when": 1_795_200_000.0,
    }
    (told,) = holders_of([lock, {"_id": "x", "state": 0}], 1_795_200_000.0 + 720.0)
    assert told == (
        "shop.orders (by r1:27017:1:2:conn5, for migrating chunk, held 12 min, since 2026-11-20 18:40:00 UTC)"
    )
    assert holders_of([{"_id": "balancer", "state": 2}], 0.0) == ("balancer",)
