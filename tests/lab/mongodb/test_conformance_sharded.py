"""Mirrored config servers, scripted and real: what a mongos does with them whole, with one down, and back again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lab.mongodb.conforming import Maker, like_recorded, number_of_rows, primary_of, refusal, until


@pytest.fixture(params=["scripted", "real"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Maker]:
    """Servers of either kind."""
    maker = Maker(request.param, tmp_path)
    yield maker
    maker.end()


def test_a_mirror_down_makes_the_catalog_read_only(make: Maker) -> None:
    mirrors = [make("mongod", "--configsvr") for _ in range(3)]
    shard = make("mongod", "--replSet", "rs0", "--shardsvr", "--oplogSize", "16")
    members = [{"_id": 0, "host": shard.name}]
    shard.command("admin", {"replSetInitiate": {"_id": "rs0", "version": 1, "members": members}})
    until(lambda: primary_of([shard]))
    string = ",".join(one.name for one in mirrors)
    first, second = (make("mongos", "--configdb", string) for _ in range(2))
    assert first.command("admin", {"addShard": f"rs0/{shard.name}"})["shardAdded"] == "rs0"
    first.command("admin", {"enableSharding": "scratch"})
    assert refusal(first, "admin", {"enableSharding": "scratch"}).code == 23
    assert second.command("app", {"insert": "t", "documents": [{"_id": 1}]})["n"] == 1
    like_recorded(first, "1-sccc.m1", ("isMaster", "buildInfo", "getCmdLineOpts", "listShards", "getShardMap"))
    like_recorded(mirrors[0], "1-sccc.c1", ("isMaster", "serverStatus", "getCmdLineOpts"))
    assert refusal(mirrors[0], "admin", {"replSetGetStatus": 1}).code == 76
    assert shard.command("admin", {"shardingState": 1})["configServer"] == string
    asked = {"dbHash": 1, "collections": ["chunks", "databases", "shards", "version"]}
    hashes = [one.command("config", asked)["collections"] for one in mirrors]
    assert hashes[0] == hashes[1] == hashes[2]
    mirrors[2].kill()
    refused = refusal(first, "admin", {"enableSharding": "more"})
    assert (refused.code, "SyncClusterConnection::update prepare failed" in refused.message) == (13663, True)
    stopped = [{"q": {"_id": "balancer"}, "u": {"$set": {"stopped": True}}, "upsert": True}]
    assert refusal(first, "config", {"update": "settings", "updates": stopped}).code == 25
    assert second.command("app", {"insert": "t", "documents": [{"_id": 2}]})["n"] == 1
    assert number_of_rows(first.command("app", {"find": "t"})) == 2
    mirrors[2].start()
    until(lambda: first.command("admin", {"enableSharding": "more"}))
    assert first.command("config", {"update": "settings", "updates": stopped})["n"] == 1
