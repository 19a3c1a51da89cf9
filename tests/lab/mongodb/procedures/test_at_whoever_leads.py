"""An act that goes to whoever leads when it is sent, on real members: the primary changed since the plan was made."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from services.clock import SystemClock
from services.connections.mongo.change import SetChange, command
from services.inventory.model import HostEntry, MongoAccess
from services.procedures.engine.ports import ActFailed
from services.procedures.execute.acting import RealActor
from services.procedures.execute.live_hosts import LiveHosts
from services.procedures.plan.actions import AtPrimary, Mongo, Reconfigure
from services.secrets import MemoryVault, SecretRef
from tests.lab.mongodb.conforming import primary_of, until
from tests.lab.mongodb.servers import Server, binary, initiate

NAMES = ("m1", "m2", "m3")


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[list[Server]]:
    path = binary("mongod", "3.2")
    assert path is not None
    made = [Server(path, tmp_path, "--replSet", "rs0", "--oplogSize", "16", "--smallfiles") for _ in range(3)]
    initiate(made, m2={"priority": 5})
    yield made
    for one in made:
        one.kill()


@pytest.fixture
def actor(servers: list[Server]) -> Iterator[RealActor]:
    entries = {
        name: HostEntry(name, "127.0.0.1", kind="mongodb",
                        sql=MongoAccess("", SecretRef("env", "P"), port=one.port, tls="off"))
        for name, one in zip(NAMES, servers, strict=True)
    }  # fmt: skip
    hosts = LiveHosts(entries.get, MemoryVault({"env:P": ""}), SystemClock())
    hosts.arm("47", NAMES)
    yield RealActor(hosts, "47", SystemClock())
    hosts.close()


def _config(server: Server) -> dict[str, Any]:
    found: Any = server.command("admin", {"replSetGetConfig": 1})["config"]
    return dict(found)


def test_that_a_change_reaches_the_member_that_was_elected_since(servers: list[Server], actor: RealActor) -> None:
    first, _, third = servers
    until(lambda: all(one.command("admin", {"isMaster": 1}).get("primary") == first.name for one in servers))
    first.stop()
    until(lambda: third.command("admin", {"isMaster": 1})["ismaster"], limit_s=120)
    before = _config(third)
    hide = SetChange(before["version"], (("members.1.priority", 0), ("members.1.hidden", True)))
    action = AtPrimary(NAMES, (Reconfigure(hide), Mongo(command("trial", dropDatabase=1))))
    said = actor.perform("x", "m1", action, {}, limit_s=30.0).output
    assert said[0] == "// at m3"
    assert _config(third)["version"] == before["version"] + 1
    assert _config(third)["members"][1]["hidden"] is True


def test_that_nothing_is_sent_while_nobody_leads(servers: list[Server], actor: RealActor) -> None:
    first, *others = servers
    until(lambda: all(one.command("admin", {"isMaster": 1}).get("primary") == first.name for one in servers))
    for one in others:
        one.stop()
    until(lambda: primary_of([first]) is None)
    before = _config(first)
    change = SetChange(before["version"], (("members.1.hidden", True),))
    with pytest.raises(ActFailed, match="None of m1, m2, m3 is primary now"):
        actor.perform("x", "m1", AtPrimary(NAMES, (Reconfigure(change),)), {}, limit_s=30.0)
    assert _config(first) == before
