"""The session and the facts on real MongoDB 3.2: every read is answered, members and lag are what was made."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from services.clock import SystemClock
from services.connections.host import HostSession
from services.connections.mongo.login import Credentials
from services.connections.reads.mongo import MONGO_READS, MongoRead
from services.errors import AuthFailed, QueryFailed
from services.facts.mongodb.judged import lag_s, left_of, votes_of
from services.facts.mongodb.reading import MongoAnswer, read_mongodb
from services.facts.mongodb.replica_set import ReplicaSet
from services.inventory.model import HostEntry, MongoAccess
from services.secrets import MemoryVault, SecretRef
from tests.lab.mongodb.servers import Server, binary, initiate

pytestmark = pytest.mark.lab
MONGOD = binary("mongod", "3.2")
Run = Callable[..., Server]


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    made: list[Server] = []

    def start(*options: str) -> Server:
        assert MONGOD is not None
        made.append(Server(MONGOD, tmp_path, *options))
        return made[-1]

    yield start
    for server in made:
        server.stop()


def session(server: Server, user: str = "", password: str = "", **more: Any) -> HostSession:
    sql = MongoAccess(user, SecretRef("env", "P"), port=server.port, **{"tls": "off", **more})
    entry = HostEntry("m1", "127.0.0.1", sql=sql, kind="mongodb")
    return HostSession(entry, MemoryVault({"env:P": password}), clock=SystemClock())


def read(server: Server, user: str = "", password: str = "", **more: Any) -> MongoAnswer:
    own = session(server, user, password, **more)
    try:
        return read_mongodb(own)
    finally:
        own.close()


def until(server: Server, holds: Callable[[ReplicaSet], bool], limit_s: float = 60) -> ReplicaSet:
    """Read until it holds; the last view where it never does fails the test."""
    deadline = time.monotonic() + limit_s
    while True:
        view = read(server).facts.set
        assert view is not None
        if holds(view):
            return view
        assert time.monotonic() < deadline, view
        time.sleep(0.5)


def test_that_every_read_of_the_registry_is_answered_or_is_not_the_servers_own(run: Run) -> None:
    server = run()
    own = session(server)
    refused: dict[str, int] = {}
    for name in MONGO_READS:
        try:
            own.ask(MongoRead(name))
        except QueryFailed as problem:
            refused[name] = problem.errno
    own.close()
    # compatibility: 'no option found to get', 3.4 brought it; oplog-size: it has no such collection.
    assert refused == {
        "balancer-status": 59,
        "compatibility": 0,
        "list-shards": 59,
        "oplog-size": 0,
        "replica-set-config": 76,
        "replica-set-status": 76,
    }
    answer = read(server)
    facts = answer.facts
    assert (facts.server.role, facts.server.engine, facts.server.wire) == ("standalone", "wiredTiger", 4)
    assert (facts.set, facts.oplog, facts.cluster, answer.problems) == (None, None, None, ())
    assert facts.server.port == server.port


def test_that_members_votes_and_lag_are_what_was_made(run: Run) -> None:
    servers = [run("--replSet", "rs0", "--oplogSize", "16") for _ in range(3)]
    initiate(servers, m2={"priority": 0, "hidden": True, "tags": {"dc": "east"}})
    view = until(
        servers[0], lambda found: [one.state for one in found.members] == ["PRIMARY", "SECONDARY", "SECONDARY"]
    )
    third = view.members[2]
    assert (third.hidden, third.priority, third.votes, third.tags) == (True, 0.0, 1, (("dc", "east"),))
    assert (votes_of(view).has, votes_of(view).spare, votes_of(view).even) == (True, 1, False)
    servers[0].command("app", {"insert": "t", "documents": [{"n": n} for n in range(100)]})
    view = until(servers[0], lambda found: [lag_s(found, one) for one in found.members] == [None, 0, 0])
    seen = until(servers[1], lambda found: found.own is not None and found.own.syncs_from is not None)
    assert seen.own is not None
    assert seen.own.syncs_from is not None
    assert seen.own.syncs_from.port in {one.port for one in servers}
    oplogs = [read(one).facts.oplog for one in servers]
    assert [one is not None and one.window_s is not None and one.full is False for one in oplogs] == [True] * 3
    assert left_of(view.members[1], [oplogs[0], oplogs[2]]).reach == "within"
    servers[2].kill()
    view = until(servers[0], lambda found: found.members[2].reached is False)
    assert (lag_s(view, view.members[2]), view.members[2].optime, votes_of(view).spare) == (None, None, 0)
    servers[1].kill()
    view = until(servers[0], lambda found: votes_of(found).has is False)
    assert votes_of(view).reached == 1
    until(servers[0], lambda found: found.own is not None and found.own.state == "SECONDARY")


def test_that_a_keyfile_cluster_is_read_by_scram_and_its_arbiter_by_hello(run: Run, tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text(secrets.token_hex(64))
    key.chmod(0o600)
    servers = [run("--replSet", "rs0", "--oplogSize", "16", "--keyFile", str(key)) for _ in range(3)]
    initiate(servers, m2={"arbiterOnly": True})
    root = Credentials("root", "r00t")
    servers[0].command("admin", {"createUser": "root", "pwd": "r00t", "roles": ["root"]})
    roles = ["clusterMonitor", {"role": "read", "db": "config"}, {"role": "read", "db": "local"}]
    servers[0].command("admin", {"createUser": "mon,itor=", "pwd": "s3cret", "roles": roles}, root)
    servers[0].command("admin", {"createUser": "nobody", "pwd": "s3cret", "roles": []}, root)
    answer = read(servers[0], "mon,itor=", "s3cret")
    facts = answer.facts
    assert answer.problems == ()
    assert facts.set is not None
    assert facts.oplog is not None
    with pytest.raises(AuthFailed):
        read(servers[0], "mon,itor=", "wrong")
    barred = read(servers[0], "nobody", "s3cret")
    assert (barred.facts.set, barred.facts.oplog, barred.facts.server.role) == (None, None, "member")
    assert {one.code for one in barred.problems} == {"query-failed"}
    arbiter = read(servers[2], "mon,itor=", "s3cret").facts
    assert (arbiter.server.arbiter, arbiter.server.set_name) == (True, "rs0")
    # It has no users, so from its own host (here, and through SSH) the localhost exception lets its status be read.
    assert arbiter.set is None or arbiter.set.missing == ("config",)


def test_that_its_unix_socket_and_a_server_without_tls_are_reached(run: Run) -> None:
    server = run()
    by_socket = read(server, via="socket", socket=str(server.folder / f"mongodb-{server.port}.sock"))
    assert by_socket.facts.server.role == "standalone"
