"""What the conformance tests of scripted and real servers share: making servers, waiting, and comparing replies."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from services.connections.mongo.document import Document
from services.connections.mongo.wire import CommandFailed
from tests.lab.mongodb.scripted.server import ScriptedServer
from tests.lab.mongodb.servers import Server, binary
from tests.unit.recorded.mongo_replies import recorded

AnyRun = Server | ScriptedServer
WAIT_S = 60.0
_SET = ("ismaster", "secondary", "setName", "setVersion", "hosts", "primary", "me")
READ_FIELDS: Mapping[str, tuple[str, ...]] = {
    "isMaster": (*_SET, "maxWireVersion", "localTime", "msg", "configsvr"),
    "buildInfo": ("version",),
    "serverStatus": ("version", "uptime", "host", "storageEngine", "process", "opcounters", "connections", "network"),
    "getCmdLineOpts": ("argv",),
    "replSetGetStatus": ("set", "myState", "term", "members", "configsvr"),
    "replSetGetConfig": ("config",),
    "listShards": ("shards",),
    "getShardMap": ("map",),
}
"""Of each reply, what Pilothouse's facts read."""
_MEMBER = ("_id", "name", "health", "state", "stateStr", "uptime", "optime", "optimeDate", "configVersion")
_PART: Mapping[str, tuple[str, ...]] = {
    "storageEngine": ("name",),
    "connections": ("current",),
    "network": ("bytesIn",),
}


class Maker:
    """Makes servers of one kind, 'scripted' or 'real', and ends them."""

    def __init__(self, kind: str, folder: Path) -> None:
        self.kind, self._folder = kind, folder
        self.made: list[AnyRun] = []

    def __call__(self, program: str, *options: str) -> AnyRun:
        """Start one."""
        if self.kind == "scripted":
            self.made.append(ScriptedServer(program, self._folder, *options))
        else:
            path = binary(program, "3.2")
            assert path is not None
            self.made.append(Server(path, self._folder, *options))
        return self.made[-1]

    def end(self) -> None:
        """End them all."""
        for one in reversed(self.made):
            one.kill()
        for one in self.made:
            if isinstance(one, ScriptedServer):
                one.wait()


def until(truth: Callable[[], Any], limit_s: float = WAIT_S) -> Any:
    """Wait for something that is true, and return it; a server that does not answer meanwhile is waited for."""
    deadline = time.monotonic() + limit_s
    while True:
        last: object = None
        try:
            found = truth()
            if found:
                return found
        except (OSError, EOFError, CommandFailed) as problem:
            last = problem
        assert time.monotonic() < deadline, last
        time.sleep(0.1)


def states(server: AnyRun) -> list[str]:
    """The members' states as one of them sees them."""
    members: Any = server.command("admin", {"replSetGetStatus": 1})["members"]
    return [one["stateStr"] for one in members]


def primary_of(servers: Sequence[AnyRun]) -> AnyRun | None:
    """The only one that takes writes, None where there is none or more than one."""
    found = [one for one in servers if one.command("admin", {"isMaster": 1})["ismaster"]]
    return found[0] if len(found) == 1 else None


def refusal(server: AnyRun, database: str, command: Mapping[str, Any]) -> CommandFailed:
    """The error that a command is answered with."""
    try:
        said = server.command(database, command)
    except CommandFailed as problem:
        return problem
    raise AssertionError(said)


def reconfigure(server: AnyRun, change: Callable[[dict[str, Any]], object]) -> None:
    """Change a set's configuration as the shell's rs.reconfig does."""
    config: Any = server.command("admin", {"replSetGetConfig": 1})["config"]
    settings = {key: value for key, value in config["settings"].items() if key != "replicaSetId"}
    config |= {"version": config["version"] + 1, "settings": settings}
    change(config)
    server.command("admin", {"replSetReconfig": config})


def like_recorded(server: AnyRun, name: str, commands: Sequence[str]) -> None:
    """Hold replies against recorded ones: the fields that are read are there, or not, and of the same types."""
    for command in commands:
        real, said = recorded(name).answer(command), server.command("admin", {command: 1})
        assert real is not None
        told = [{field: shape(reply.get(field), key=field) for field in READ_FIELDS[command]} for reply in (said, real)]
        assert told[0] == told[1], (command, told)


def shape(value: object, *, key: str = "") -> object:
    """What a value is made of: types, and names of the fields that are read."""
    if isinstance(value, dict):
        if key in _PART or key == "map":
            return {one: shape(value.get(one)) for one in _PART.get(key, ("config",))}
        return {one: shape(inner, key=one) for one, inner in value.items()}
    if isinstance(value, list):
        rows = [_member(one) for one in value]
        return [shape(rows[0])] if rows else []
    return type(value).__name__


def _member(value: object) -> object:
    if isinstance(value, dict) and "stateStr" in value:
        return {one: value.get(one) for one in _MEMBER}
    return value


def number_of_rows(reply: Document) -> int:
    """How many documents a find brought."""
    cursor: Any = reply["cursor"]
    return len(cursor["firstBatch"])
