"""The same sequences on scripted and on real servers: outcomes are equal, and replies have the recorded ones' form."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from services.connections.mongo.document import Stamp
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

WHOLE = ["PRIMARY", "SECONDARY", "SECONDARY"]
_SEEN = ("isMaster", "buildInfo", "serverStatus", "getCmdLineOpts", "replSetGetStatus", "replSetGetConfig")


@pytest.fixture(params=["scripted", "real"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Maker]:
    """Servers of either kind."""
    maker = Maker(request.param, tmp_path)
    yield maker
    maker.end()


def replica_set(make: Maker, *options: str, name: str = "rs0", **more: Any) -> list[AnyRun]:
    """A set of three; the first is preferred as primary, and is it."""
    servers = [make("mongod", "--replSet", name, "--oplogSize", "16", *options) for _ in range(3)]
    members = [{"_id": n, "host": one.name, "priority": 1 if n else 3} for n, one in enumerate(servers)]
    servers[0].command("admin", {"replSetInitiate": {"_id": name, "version": 1, "members": members, **more}})
    for one in servers:
        until(partial(_whole, one))
    return servers


def _whole(server: AnyRun) -> bool:
    return states(server) == WHOLE


def _second_version(server: AnyRun) -> bool:
    config: Any = server.command("admin", {"replSetGetConfig": 1})["config"]
    return bool(config["version"] == 2)


def insert(server: AnyRun, *keys: int, w: int | str = "majority") -> dict[str, Any]:
    """Insert documents."""
    concern = {"w": w, "wtimeout": 20_000}
    return dict(
        server.command("app", {"insert": "t", "documents": [{"_id": k} for k in keys], "writeConcern": concern})
    )


def written(servers: list[AnyRun], key: int) -> AnyRun | None:
    """Insert at whoever leads and return it, None where nobody does.

    A slow machine elects again at times: the one that led steps down and closes its connections in the middle of it.
    """
    leading = primary_of(servers)
    said = insert(leading, key) if leading is not None else {}
    there = any(one["code"] == 11000 for one in said.get("writeErrors", ()))
    return leading if (said.get("n") == 1 or there) and "writeConcernError" not in said else None


def test_a_set_before_and_after_it_is_initiated(make: Maker) -> None:
    alone = make("mongod", "--replSet", "rs0")
    assert refusal(alone, "admin", {"replSetGetStatus": 1}).code == 94
    hello = alone.command("admin", {"isMaster": 1})
    assert (hello["ismaster"], hello["secondary"], hello["isreplicaset"]) == (False, False, True)
    assert "setName" not in hello
    members = [{"_id": 0, "host": alone.name}]
    assert refusal(alone, "admin", {"replSetInitiate": {"_id": "other", "version": 1, "members": members}}).code == 93
    alone.command("admin", {"replSetInitiate": {"_id": "rs0", "version": 1, "members": members}})
    assert refusal(alone, "admin", {"replSetInitiate": {"_id": "rs0", "version": 1, "members": members}}).code == 23
    until(lambda: states(alone) == ["PRIMARY"])
    assert refusal(make("mongod"), "admin", {"replSetGetStatus": 1}).code == 76


def test_members_elections_and_configuration(make: Maker) -> None:
    servers = replica_set(make)
    first, second, third = servers
    until(lambda: "syncingTo" in str(first.command("admin", {"replSetGetStatus": 1})))
    like_recorded(first, "7-pv1.s0", _SEEN)
    like_recorded(second, "7-pv1.s1", _SEEN)
    assert insert(first, 1, 2)["n"] == 2
    assert refusal(second, "app", {"insert": "t", "documents": [{"_id": 9}]}).code == 10107
    until(lambda: number_of_rows(second.command("app", {"find": "t"})) == 2)
    third.kill()
    until(lambda: states(first)[2] == "(not reachable/healthy)")
    said = first.command("app", {"insert": "t", "documents": [{"_id": 3}], "writeConcern": {"w": 3, "wtimeout": 300}})
    assert isinstance(said["writeConcernError"], dict)
    assert said["writeConcernError"]["code"] == 64
    third.start()
    until(lambda: states(third) == WHOLE)
    until(lambda: number_of_rows(third.command("app", {"find": "t"})) == 3)
    assert refusal(second, "admin", {"replSetStepDown": 10}).code == 10107
    with suppress(OSError, EOFError):  # the server closes the connection
        first.command("admin", {"replSetStepDown": 30, "secondaryCatchUpPeriodSecs": 10})
    until(lambda: written(servers[1:], 4))
    assert refusal(first, "app", {"insert": "t", "documents": [{"_id": 9}]}).code == 10107


def test_a_killed_primary_is_succeeded_and_comes_back_to_its_priority(make: Maker) -> None:
    servers = replica_set(make)
    assert insert(servers[0], 1)["n"] == 1
    term = servers[0].command("admin", {"replSetGetStatus": 1})["term"]
    servers[0].kill()
    new = until(lambda: written(servers[1:], 2))
    later = new.command("admin", {"replSetGetStatus": 1})["term"]
    assert isinstance(term, int)
    assert isinstance(later, int)
    assert later > term
    servers[0].start()
    until(lambda: states(servers[0]) == WHOLE)  # by its priority
    until(lambda: number_of_rows(servers[0].command("app", {"find": "t"})) == 2)
    servers[1].kill()
    servers[2].kill()
    until(lambda: states(servers[0])[0] == "SECONDARY")  # one vote of three is no majority


def test_a_configuration_has_rules(make: Maker) -> None:
    servers = replica_set(make)
    first = servers[0]
    config: Any = first.command("admin", {"replSetGetConfig": 1})["config"]
    del config["settings"]["replicaSetId"]
    assert refusal(first, "admin", {"replSetReconfig": config}).code == 103
    assert refusal(servers[1], "admin", {"replSetReconfig": config | {"version": 2}}).code == 10107
    voiceless = [one | ({"votes": 0} if one["_id"] == 2 else {}) for one in config["members"]]
    wrong = refusal(first, "admin", {"replSetReconfig": config | {"version": 2, "members": voiceless}})
    assert (wrong.code, "votes:0" in wrong.message) == (103, True)

    def hide(config: dict[str, Any]) -> None:
        config["members"][2] |= {"priority": 0, "votes": 0, "hidden": True}

    reconfigure(first, hide)
    for one in servers:
        until(partial(_second_version, one))
    until(lambda: servers[2].command("admin", {"isMaster": 1}).get("hidden"))
    assert servers[0].name in str(servers[2].command("admin", {"isMaster": 1})["hosts"])
    reconfigure(first, lambda config: config["members"].pop())
    until(lambda: "isreplicaset" in servers[2].command("admin", {"isMaster": 1}))
    assert refusal(servers[2], "admin", {"replSetGetStatus": 1}).code == 93
    assert servers[2].command("admin", {"isMaster": 1})["setName"] == "rs0"


def test_the_old_protocol_becomes_the_new_one(make: Maker) -> None:
    servers = replica_set(make, protocolVersion=0)
    first = servers[0]
    assert insert(first, 1)["n"] == 1
    like_recorded(first, "6-pv0.s0", ("replSetGetStatus", "replSetGetConfig"))
    status: Any = first.command("admin", {"replSetGetStatus": 1})
    assert status["term"] == -1
    assert all(isinstance(one["optime"], Stamp) for one in status["members"])
    reconfigure(first, lambda config: config.update(protocolVersion=1))

    def raised(server: AnyRun) -> bool:
        status: Any = server.command("admin", {"replSetGetStatus": 1})
        return bool(status["term"] == 0 and all(one["optime"]["t"] == 0 for one in status["members"]))

    for one in servers:
        until(partial(raised, one))
        assert states(one) == WHOLE  # no election
    like_recorded(first, "7-pv1.s0", ("replSetGetStatus", "replSetGetConfig"))
    assert insert(first, 2)["n"] == 1
    reconfigure(first, lambda config: config.update(protocolVersion=0))
    until(lambda: first.command("admin", {"replSetGetStatus": 1})["term"] == -1)


def test_an_old_set_elects_as_well(make: Maker) -> None:
    servers = replica_set(make, protocolVersion=0)
    servers[0].kill()
    new = until(lambda: primary_of(servers[1:]))
    with suppress(CommandFailed):
        assert insert(new, 1)["n"] == 1
    servers[0].start()
    until(lambda: states(servers[0]) == WHOLE)
