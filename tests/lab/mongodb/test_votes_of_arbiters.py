"""An arbiter that voted in terms before, in a set that comes back to protocolVersion 1: its vote stops nothing."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.lab.mongodb.conforming import primary_of, reconfigure, until
from tests.lab.mongodb.servers import Server, binary

pytestmark = pytest.mark.long


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[list[Server]]:
    """Two members with data, and an arbiter."""
    path = binary("mongod", "3.2")
    assert path is not None
    made = [Server(path, tmp_path, "--replSet", "rs0", "--oplogSize", "16", "--smallfiles") for _ in range(3)]
    yield made
    for one in made:
        one.kill()


def _kept_term(server: Server) -> int:
    """The term of the vote that a server's data keep, -1 for none."""
    said: Any = server.command("local", {"find": "replset.election", "limit": 1})
    return next((int(one["term"]) for one in said["cursor"]["firstBatch"]), -1)


def _whole(servers: list[Server]) -> bool:
    status: Any = servers[0].command("admin", {"replSetGetStatus": 1})
    told = sorted(one["stateStr"] for one in status["members"])
    return told == ["ARBITER", "PRIMARY", "SECONDARY"] and primary_of(servers[:2]) is not None


def _written(servers: list[Server]) -> bool:
    leading = primary_of(servers)
    asked = {"insert": "t", "documents": [{"by": "the lab"}], "writeConcern": {"w": 2, "wtimeout": 20_000}}
    return leading is not None and "writeConcernError" not in leading.command("app", asked)


def _made_anew(one: Server, servers: list[Server]) -> None:
    """Empty its data: it comes back by an initial sync, and keeps no vote. Where it led the other one leads first."""
    one.stop()
    rest = [server for server in servers[:2] if server is not one]
    until(lambda: primary_of(rest), limit_s=120)
    shutil.rmtree(one.folder)
    one.folder.mkdir()
    one.start()
    until(lambda: _whole(servers), limit_s=120)
    until(lambda: _written(servers[:2]))


def _other(servers: list[Server]) -> tuple[Server, Server]:
    leading = until(lambda: primary_of(servers[:2]))
    return leading, next(one for one in servers[:2] if one is not leading)


def _elected(servers: list[Server]) -> None:
    """Stop who leads: the other one needs the arbiter's vote. Then have both back, and in step."""
    leading, other = _other(servers)
    leading.stop()
    until(lambda: other.command("admin", {"isMaster": 1})["ismaster"])
    leading.start()
    until(lambda: _whole(servers))
    until(lambda: _written(servers[:2]))


@pytest.mark.timeout(600)
def test_that_an_arbiters_old_vote_is_set_back_by_the_change_and_stops_no_election(servers: list[Server]) -> None:
    first, _, arbiter = servers
    members = [{"_id": n, "host": one.name, "arbiterOnly": one is arbiter} for n, one in enumerate(servers)]
    first.command("admin", {"replSetInitiate": {"_id": "rs0", "version": 1, "members": members}})
    until(lambda: _whole(servers))
    for _ in range(2):
        _elected(servers)
    assert _kept_term(arbiter) >= 2
    reconfigure(_other(servers)[0], lambda config: config.update(protocolVersion=0))
    until(lambda: _written(servers[:2]))
    leading, other = _other(servers)
    for one in (other, leading):  # as TERMS-BEFORE asks for it: each one anew, the primary last
        _made_anew(one, servers)
    assert [_kept_term(one) for one in servers[:2]] == [-1, -1]
    assert _kept_term(arbiter) >= 2  # it alone tells of it
    reconfigure(_other(servers)[0], lambda config: config.update(protocolVersion=1))
    until(lambda: _written(servers[:2]))
    until(lambda: _kept_term(arbiter) == 0)
    _elected(servers)
    arbiter.stop()
    arbiter.start()
    until(lambda: _whole(servers))
    _elected(servers)
    until(lambda: _written(servers[:2]))
