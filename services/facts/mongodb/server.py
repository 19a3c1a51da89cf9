"""What one MongoDB process is: its role, version, engine, and how it was started.

Sources: replies of 3.2.5 (tests/unit/recorded/mongodb-3.2.5); MongoDB manual, "hello" (isdbgrid, setName, configsvr),
"serverStatus" (storageEngine), "getCmdLineOpts". `configsvr` in isMaster is 0 of a mirrored config server, also while
it is a replica set in sccc mode, and 1 (3.4 and newer: 2) of one in a config replica set: tried on 3.2.5.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from services.connections.mongo.document import Document
from services.facts.mongodb.values import MOST_MEMBERS, Place, inside, line, moment, number, place, yes

_VERSION = re.compile(r"(\d{1,3})\.(\d{1,3})\.(\d{1,4})(?:[-+~].{0,40})?$")
Role = Literal["standalone", "member", "removed", "not-initiated", "router", ""]
ConfigKind = Literal["mirrored", "replica-set", ""]


@dataclass(frozen=True, slots=True)
class MongoServer:
    """One mongod or mongos. '' and None are 'not known', or not its own.

    Attributes:
        role: alone; a member of a replica set; one that its set's configuration has no more (3.2 names the set and says
            'isreplicaset' beside it, tried); started for one, and in none; a mongos.
        config: of which kind of config server it is, '' for none. shard: it was started as a shard's server.
        set_name: of the replica set. own: how the set calls it. writable: it takes writes.
        engine: storage engine. compatibility: featureCompatibilityVersion (3.4 and newer).
        wire: newest wire version. at: its own clock when it was asked, epoch seconds. uptime_s: since its start.
        fellows: how its greeting calls the members of its set that are not hidden: told to who may ask nothing else.
        rollbacks: a number that moves by one with every rollback of its data; a start of 3.2 begins it anywhere.
        pid: its process, as its own PID namespace numbers it.
        config_mode: 'sccc' where a config server was started so. data_path, configuration: where its data and its
            configuration file are. config_string: of a mongos, what it was started with.
    """

    role: Role = ""
    config: ConfigKind = ""
    shard: bool = False
    set_name: str = ""
    own: Place | None = None
    writable: bool | None = None
    arbiter: bool = False
    version: str = ""
    engine: str = ""
    compatibility: str = ""
    wire: int | None = None
    at: float | None = None
    uptime_s: int | None = None
    host: str = ""
    port: int | None = None
    config_mode: str = ""
    data_path: str = ""
    configuration: str = ""
    config_string: str = ""
    rollbacks: int | None = None
    fellows: tuple[str, ...] = ()
    pid: int | None = None


def parse_server(
    hello: Document,
    build: Document | None = None,
    status: Document | None = None,
    options: Document | None = None,
    compatibility: Document | None = None,
) -> MongoServer:
    """Return what the process is, out of the replies that were read."""
    build, status, parsed = build or {}, status or {}, inside(options or {}, "parsed")
    sharding = inside(parsed, "sharding")
    writable = yes(hello.get("isWritablePrimary", hello.get("ismaster")))
    told = (compatibility or {}).get("featureCompatibilityVersion")
    return MongoServer(
        role=_role(hello),
        config=_config(hello),
        shard=line(sharding.get("clusterRole")) == "shardsvr",
        set_name=line(hello.get("setName")),
        own=place(hello["me"]) if "me" in hello else None,
        writable=writable,
        arbiter=yes(hello.get("arbiterOnly")) is True,
        version=line(build.get("version") or status.get("version"), 40),
        engine=line(inside(status, "storageEngine").get("name"), 40),
        compatibility=line(told["version"] if isinstance(told, dict) and "version" in told else told, 20),
        wire=number(hello.get("maxWireVersion")),
        at=moment(hello.get("localTime")),
        uptime_s=number(status.get("uptime")),
        host=line(status.get("host")),
        port=number(inside(parsed, "net").get("port")),
        config_mode=line(sharding.get("configsvrMode"), 20),
        data_path=line(inside(parsed, "storage").get("dbPath"), 1000),
        configuration=line(parsed.get("config"), 1000),
        config_string=line(sharding.get("configDB"), 4000),
        rollbacks=number(inside(status, "repl").get("rbid")),
        fellows=_fellows(hello),
        pid=number(status.get("pid")),
    )


def release(version: str) -> tuple[int, int, int] | None:
    """Return a whole version ('3.2.22', '8.0.4-rc1') as numbers, None for what is none."""
    found = _VERSION.match(version.strip())
    return (int(found[1]), int(found[2]), int(found[3])) if found else None


def _fellows(hello: Document) -> tuple[str, ...]:
    """Return the members that a greeting names (MongoDB manual, "hello"), sorted."""
    lists = (hello.get(name) for name in ("hosts", "passives", "arbiters"))
    named = (line(one) for told in lists if isinstance(told, list) for one in told[:MOST_MEMBERS])
    return tuple(sorted({name for name in named if name}))


def _role(hello: Document) -> Role:
    if not hello:
        return ""
    if hello.get("msg") == "isdbgrid":
        return "router"
    if hello.get("setName"):
        return "removed" if yes(hello.get("isreplicaset")) else "member"
    return "not-initiated" if yes(hello.get("isreplicaset")) else "standalone"


def _config(hello: Document) -> ConfigKind:
    told = number(hello.get("configsvr"))
    if told is None:
        return ""
    return "replica-set" if told > 0 else "mirrored"
