"""A session to a scripted server that answers with the recorded replies of 3.2.5, read to the end: wire to facts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import bson
import pytest
from bson import json_util

from services.clock import SystemClock
from services.connections.host import HostSession
from services.connections.limits import Limits
from services.errors import AuthFailed, TimedOut, Unreachable
from services.facts.mongodb.reading import MongoAnswer, read_mongodb
from services.inventory.model import HostEntry, MongoAccess
from services.secrets import MemoryVault, SecretRef
from tests.unit.connections.mongo_peer import HELLO_32, MongoPeer
from tests.unit.recorded.mongo_replies import FOLDER

LIMITS = Limits(connect_s=10.0, handshake_s=10.0)
FIRST, LAST = bson.Timestamp(1795249000, 1), bson.Timestamp(1795249421, 1)


def answers(name: str) -> dict[str, Any]:
    """What the recorded server answers, as it would stand on the wire; its oplog's ends were not recorded."""
    replies = json_util.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    said = {
        command: {"ok": 0.0, "errmsg": "x", **found.get("details", {})} if "__error__" in found else found
        for command, found in replies.items()
        if command not in {"config", "config.dbhash"}
    }
    for collection, documents in replies.get("config", {}).items():
        said[collection] = {"cursor": {"id": 0, "ns": "x", "firstBatch": documents}, "ok": 1.0}

    def oplog(command: Mapping[str, Any]) -> Mapping[str, Any]:
        end = FIRST if command["sort"]["$natural"] == 1 else LAST
        return {"cursor": {"id": 0, "ns": "local.oplog.rs", "firstBatch": [{"ts": end}]}, "ok": 1.0}

    return {**said, "oplog.rs": oplog, "collStats": {"size": 900, "maxSize": 16 << 20, "ok": 1.0}}


@contextmanager
def peer_of(name: str, *, users: Mapping[str, str] | None = None, **more: Any) -> Iterator[MongoPeer]:
    said = answers(name)
    with MongoPeer({**said, **more}, hello=said["isMaster"], users=users) as peer:
        yield peer


def read(peer: MongoPeer, user: str = "") -> MongoAnswer:
    sql = MongoAccess(user, SecretRef("env", "P"), port=peer.port, tls="off")
    session = HostSession(
        HostEntry("n1", "127.0.0.1", sql=sql, kind="mongodb"),
        MemoryVault({"env:P": "s3cret"}),
        clock=SystemClock(),
        limits=LIMITS,
    )
    try:
        return read_mongodb(session)
    finally:
        session.close()


def test_that_a_member_is_read_with_its_set_and_its_oplog() -> None:
    with peer_of("1-sccc.s0") as peer:
        answer = read(peer)
    facts = answer.facts
    assert answer.problems == ()
    assert (facts.server.role, facts.server.shard, facts.server.engine) == ("member", True, "wiredTiger")
    assert facts.set is not None
    assert [one.state for one in facts.set.members] == ["PRIMARY", "SECONDARY", "SECONDARY"]
    assert facts.oplog is not None
    assert (facts.oplog.window_s, facts.oplog.full) == (421, False)
    assert facts.cluster is not None
    assert (facts.cluster.config.kind, facts.cluster.shards) == ("mirrored", None)


def test_that_a_mongos_is_read_with_its_cluster_and_asked_for_no_set() -> None:
    with peer_of("5-csrs.m1") as peer:
        answer = read(peer)
    facts = answer.facts
    assert (answer.problems, facts.set, facts.oplog) == ((), None, None)
    assert facts.cluster is not None
    assert (facts.cluster.config.kind, facts.cluster.balancer) == ("replica-set", True)
    assert "replSetGetStatus" not in peer.commands()
    assert "balancerStatus" not in peer.commands()  # 3.4 brought it


@pytest.mark.parametrize(("name", "kind", "states"), [("1-sccc.c2", "mirrored", []), ("5-csrs.n2", "replica-set", [1])])
def test_that_config_servers_of_either_kind_tell_the_cluster(name: str, kind: str, states: list[int]) -> None:
    with peer_of(name) as peer:
        answer = read(peer)
    facts = answer.facts
    assert (answer.problems, facts.server.config) == ((), kind)
    assert (facts.set is not None) is bool(states)
    assert (facts.oplog is not None) is bool(states)
    assert facts.cluster is not None
    assert facts.cluster.shards is not None
    assert [one.name for one in facts.cluster.shards] == ["rs0"]


def test_that_what_the_account_may_not_ask_is_a_problem_of_its_part_and_the_rest_is_read() -> None:
    denied = {"ok": 0.0, "code": 13, "errmsg": "not authorized on local to execute command"}
    more = {"oplog.rs": denied, "collStats": denied, "shards": denied}
    with peer_of("1-sccc.s0", **more) as peer:
        member = read(peer)
    assert (member.facts.oplog, {one.part for one in member.problems}) == (
        None,
        {"oplog-first", "oplog-last", "oplog-size"},
    )
    assert member.facts.set is not None
    with peer_of("1-sccc.m1", **more) as peer:
        router = read(peer)
    assert router.facts.cluster is not None
    assert router.facts.cluster.shards is not None  # listShards is of another right
    assert [one.part for one in router.problems] == ["config-shards"]


def test_that_a_read_which_takes_too_long_leaves_the_rest_of_a_server_known() -> None:
    stopped = {"ok": 0.0, "code": 50, "errmsg": "operation exceeded time limit"}
    with peer_of("1-sccc.c2", dbHash=stopped) as peer:
        answer = read(peer)
    assert (answer.facts.server.config, answer.facts.metadata) == ("mirrored", None)
    assert [one.part for one in answer.problems] == ["config-hash"]


def test_that_a_mirror_on_an_empty_folder_tells_that_it_has_no_metadata() -> None:
    with peer_of("1-sccc.c2", dbHash={"ok": 1.0, "host": "c2", "collections": {}, "md5": "d41d"}) as peer:
        answer = read(peer)
    assert answer.facts.metadata is not None
    assert answer.facts.metadata.hashes == ()


def test_that_a_server_that_stops_every_read_is_not_waited_for_fifteen_times() -> None:
    stopped = {"ok": 0.0, "code": 50, "errmsg": "operation exceeded time limit"}
    names = ("buildInfo", "serverStatus", "getCmdLineOpts", "replSetGetStatus", "replSetGetConfig", "listDatabases")
    with (
        peer_of("1-sccc.s0", **dict.fromkeys(names, stopped)) as peer,
        pytest.raises(TimedOut, match="at a time limit"),
    ):
        read(peer)
    assert peer.commands()[1:] == ["isMaster", "buildInfo", "serverStatus", "getCmdLineOpts"]


@pytest.mark.parametrize("tells_status", [False, True])
def test_that_an_arbiter_under_access_control_is_told_by_its_hello_alone(tells_status: bool) -> None:
    """Reached by SSH it takes us for its own machine, and tells its status without an account; seen on 3.2.5."""
    hello = {**HELLO_32, "setName": "rs0", "arbiterOnly": True, "me": "h:1", "hosts": ["h:1"]}
    itself = {"_id": 0, "name": "h:1", "state": 7, "health": 1.0, "self": True}
    status = {"ok": 1.0, "set": "rs0", "myState": 7, "members": [itself]}
    denied = {"ok": 0.0, "code": 13, "errmsg": "not authorized on admin to execute command"}
    told = {"replSetGetStatus": status, "replSetGetConfig": denied} if tells_status else {}
    users = None if tells_status else {"monitor": "s3cret"}
    with MongoPeer(told, hello=hello, users=users) as peer:
        answer = read(peer, *(users or ()))
    facts = answer.facts
    assert (facts.server.role, facts.server.arbiter, facts.set, facts.oplog) == ("member", True, None, None)
    assert {one.code for one in answer.problems} == ({"query-failed"} if tells_status else {"mongo-hearsay"})


@pytest.mark.parametrize("says", [{"arbiterOnly": True}, {"ismaster": False, "secondary": False}])
def test_that_who_does_not_prove_that_it_knows_the_password_is_not_believed(says: dict[str, Any]) -> None:
    """It called itself an arbiter, or a set's member without a primary: its set, its folders and its hosts counted."""
    hello = {**HELLO_32, "ismaster": False, "setName": "rs0", "me": "h:1", "hosts": ["h:1", "evil:1"], **says}
    itself = {"_id": 0, "name": "h:1", "state": 7, "health": 1.0, "self": True}
    status = {"ok": 1.0, "set": "rs0", "myState": 7, "members": [itself]}
    config = {"ok": 1.0, "config": {"_id": "rs0", "version": 9, "members": [{"_id": 0, "host": "evil:1"}]}}
    options = {"ok": 1.0, "parsed": {"storage": {"dbPath": "/etc"}, "config": "/etc/rsyslog.d/mongo.conf"}}
    told = {"replSetGetStatus": status, "replSetGetConfig": config, "getCmdLineOpts": options}
    refused = {"ok": 0.0, "code": 18, "errmsg": "Authentication failed."}
    with MongoPeer({**told, "saslStart": refused}, hello=hello) as peer:
        answer = read(peer, "monitor")
    facts = answer.facts
    assert (facts.proven, facts.set, facts.cluster, facts.server.data_path) == (False, None, None, "")
    assert [one.code for one in answer.problems] == ["mongo-hearsay"]
    asked = set(peer.commands()) - {"isMaster", "hello", "saslStart", "saslContinue", "buildInfo"}
    assert not asked


def test_that_an_arbiter_which_tells_its_status_and_not_its_configuration_tells_nobody_its_set() -> None:
    """Through SSH 3.2.5 gives it by the localhost exception: without the set's id it was drawn as another set."""
    hello = {**HELLO_32, "ismaster": False, "setName": "rs0", "arbiterOnly": True, "me": "h:1", "hosts": ["m:1"]}
    members = [{"_id": 0, "name": "m:1", "state": 1}, {"_id": 1, "name": "h:1", "state": 7, "self": True}]
    denied = {"ok": 0.0, "code": 13, "errmsg": "not authorized on admin"}
    told = {"replSetGetStatus": {"set": "rs0", "members": members, "ok": 1.0}, "replSetGetConfig": denied}
    with MongoPeer(told, hello=hello) as peer:
        answer = read(peer)
    assert (answer.facts.server.arbiter, answer.facts.set) == (True, None)
    assert "replica-set-config" in {one.part for one in answer.problems}


def test_that_a_login_that_is_refused_and_a_connection_that_ends_are_no_facts() -> None:
    with peer_of("1-sccc.s0", users={"monitor": "other"}) as peer, pytest.raises(AuthFailed):
        read(peer, "monitor")
    with peer_of("1-sccc.s0", serverStatus=lambda _: b"\0") as peer, pytest.raises(Unreachable):
        read(peer)


@pytest.mark.parametrize(("count", "known"), [(1000, True), (1001, False)])
def test_that_a_list_of_databases_that_would_be_cut_is_held_against_nobody(count: int, *, known: bool) -> None:
    listed = [{"name": f"d{n}", "sizeOnDisk": 1.0, "empty": False} for n in range(count)]
    with peer_of("1-sccc.s0", listDatabases={"databases": listed, "ok": 1.0}) as peer:
        assert (read(peer).facts.contents is not None) is known
