"""Mirrored config servers, scripted and real: whole, with one down and back again, and as they become a set."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from services.connections.mongo.wire import CommandFailed
from tests.lab.mongodb.conforming import (
    AnyRun,
    Maker,
    like_recorded,
    number_of_rows,
    primary_of,
    reconfigure,
    refusal,
    states,
    until,
)


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


_CATALOG = {"dbHash": 1, "collections": ["chunks", "databases", "shards", "version"]}
_SET = ("--configsvr", "--replSet", "cfg")


def _catalog_takes(router: AnyRun, name: str) -> None:
    """Wait until a change of the catalog goes through; one that did, and whose answer was lost, is no refusal."""

    def tried() -> bool:
        try:
            router.command("admin", {"enableSharding": name})
        except CommandFailed as problem:
            if problem.code != 23:
                raise
        return True

    until(tried)


def _votes(config: dict[str, Any]) -> None:
    for one in config["members"]:
        one |= {"priority": 1, "votes": 1}


def test_mirrors_become_a_set_and_every_mongos_goes_over_by_itself(make: Maker) -> None:
    mirrors = [make("mongod", "--configsvr") for _ in range(3)]
    shard = make("mongod", "--replSet", "rs0", "--shardsvr", "--oplogSize", "16")
    members = [{"_id": 0, "host": shard.name}]
    shard.command("admin", {"replSetInitiate": {"_id": "rs0", "version": 1, "members": members}})
    until(lambda: primary_of([shard]))
    string = ",".join(one.name for one in mirrors)
    routers = [make("mongos", "--configdb", string) for _ in range(2)]
    routers[0].command("admin", {"addShard": f"rs0/{shard.name}"})
    assert routers[1].command("app", {"insert": "t", "documents": [{"_id": 1}]})["n"] == 1
    first, before = mirrors[0], mirrors[1].command("config", _CATALOG)["collections"]

    config = {"_id": "cfg", "configsvr": True, "version": 1, "members": [{"_id": 0, "host": first.name}]}
    assert first.command("admin", {"replSetInitiate": config})["ok"] == 1
    assert refusal(first, "admin", {"replSetGetStatus": 1}).code == 76  # it was not started for one
    first.stop()
    first.restart_with(*_SET, "--configsvrMode=sccc")
    until(lambda: primary_of([first]))
    like_recorded(first, "2-members-added.c1", ("isMaster", "replSetGetStatus", "replSetGetConfig", "getCmdLineOpts"))
    assert first.command("admin", {"isMaster": 1})["configsvr"] == 0
    for router in routers:
        _catalog_takes(router, "mirrored")

    new = [make("mongod", *_SET) for _ in range(2)]
    for number, one in enumerate(new, 1):
        member = {"_id": number, "host": one.name, "priority": 0, "votes": 0}
        reconfigure(first, lambda known, member=member: known["members"].append(member))  # type: ignore[misc]
    until(lambda: states(first) == ["PRIMARY", "SECONDARY", "SECONDARY"])
    assert new[0].command("admin", {"isMaster": 1})["configsvr"] == 1
    same = first.command("config", _CATALOG)["collections"]
    until(lambda: [one.command("config", _CATALOG)["collections"] for one in (*mirrors[1:], *new)] == [same] * 4)
    assert {name: same[name] for name in ("chunks", "shards", "version")} == {
        name: before[name] for name in ("chunks", "shards", "version")
    }

    mirrors[2].stop()
    assert refusal(routers[0], "admin", {"enableSharding": "refused"}).code in {13663, 25}
    reconfigure(first, _votes)
    with contextlib.suppress(OSError, EOFError):  # it closes every connection
        first.command("admin", {"replSetStepDown": 600, "secondaryCatchUpPeriodSecs": 10})
    until(lambda: primary_of(new))
    like_recorded(first, "3-stepped-down.c1", ("replSetGetStatus",))
    first.stop()
    first.restart_with(*_SET)
    until(lambda: first.command("admin", {"isMaster": 1})["configsvr"] == 1 and states(first)[0] == "SECONDARY")
    for router in routers:
        _catalog_takes(router, "converted")
        told: Any = router.command("admin", {"getShardMap": 1})["map"]
        assert told["config"].startswith("cfg/")
        parsed: Any = router.command("admin", {"getCmdLineOpts": 1})["parsed"]
        assert parsed["sharding"]["configDB"] == string  # it goes on showing what it was started with
        assert router.command("app", {"insert": "t", "documents": [{"by": router.name}]})["n"] == 1
    mirrors[1].stop()
    _catalog_takes(routers[0], "without the mirrors")
    assert number_of_rows(routers[1].command("app", {"find": "t"})) == 3
