"""The Observer's reads of a MongoDB server: every command that it may be asked, by name, whole, and without values.

A caller names one of them (`MongoRead`); no text and no document comes from a caller. None changes anything, none locks
more than a look does, none counts or resets. `tests/unit/allowlist/test_mongo_reads.py` holds each against the grammar
of `mongo/only_reads.py`, which also stands before the wire.

Where a server has no such command (59), it says so: a mongos knows no replSetGetStatus, a mongod no listShards.
Sources: MongoDB manual, "Database Commands"; replies of 3.2.5 (tests/unit/recorded/mongodb-3.2.5).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class MongoRead:
    """A command of the registry, by its name."""

    name: str


@dataclass(frozen=True, slots=True)
class MongoTemplate:
    """One command of the registry.

    Attributes:
        command: as it is sent, the name first. limit: how many documents of a find are taken, 0 of no find.
    """

    name: str
    database: str
    command: Mapping[str, Any]
    limit: int = 0

    def read(self) -> MongoRead:
        """Return the read."""
        return MongoRead(self.name)


MONGO_READS: Final[dict[str, MongoTemplate]] = {}


def _known(name: str, command: Mapping[str, Any], database: str = "admin") -> MongoRead:
    MONGO_READS[name] = MongoTemplate(name, database, command)
    return MongoRead(name)


def _find(
    name: str,
    database: str,
    collection: str,
    limit: int,
    *,
    only: Mapping[str, Any] | None = None,
    sort: Mapping[str, int] | None = None,
    fields: Mapping[str, int] | None = None,
) -> MongoRead:
    """Note a find: of a whole collection where nothing is said, at most `limit` documents, and no cursor is left."""
    command: dict[str, Any] = {"find": collection, "filter": dict(only or {})}
    if sort:
        command["sort"] = dict(sort)
    if fields:
        command["projection"] = dict(fields)
    command |= {"limit": limit, "batchSize": limit, "singleBatch": True}
    MONGO_READS[name] = MongoTemplate(name, database, command, limit)
    return MongoRead(name)


# -- the server

HELLO = _known("hello", {"isMaster": 1})
"""`hello` where the server knows the name (4.4.2 and newer); isMaster is the same everywhere."""
BUILD_INFO = _known("build-info", {"buildInfo": 1})
SERVER_STATUS = _known("server-status", {"serverStatus": 1})
COMMAND_LINE = _known("command-line", {"getCmdLineOpts": 1})
DATABASES = _known("databases", {"listDatabases": 1})
"""Names, sizes and whether they are empty; takes an intent lock of one database after the other (3.2 source,
list_databases.cpp)."""
COMPATIBILITY = _known("compatibility", {"getParameter": 1, "featureCompatibilityVersion": 1})
OWN_RIGHTS = _known("own-rights", {"connectionStatus": 1, "showPrivileges": True})
"""Who is logged in, and what this account may do: of no other account."""

# -- a replica set

SET_STATUS = _known("replica-set-status", {"replSetGetStatus": 1})
SET_CONFIG = _known("replica-set-config", {"replSetGetConfig": 1})
SET_DOCUMENT = _find("replica-set-document", "local", "system.replset", 2, fields={"_id": 1, "version": 1})
"""The configuration that lies in a server's data, whether it was started as a member or not."""
LAST_VOTE = _find("last-vote", "local", "replset.election", 1, fields={"term": 1, "_id": 0})
"""In which term a member voted last: empty in a set that never had protocolVersion 1 (tried on 3.2.5)."""
OPLOG_SIZE = _known("oplog-size", {"collStats": "oplog.rs"}, "local")
_OPLOG_FIELDS = {"ts": 1, "t": 1, "wall": 1, "_id": 0}
OPLOG_FIRST = _find("oplog-first", "local", "oplog.rs", 1, sort={"$natural": 1}, fields=_OPLOG_FIELDS)
OPLOG_LAST = _find("oplog-last", "local", "oplog.rs", 1, sort={"$natural": -1}, fields=_OPLOG_FIELDS)

# -- a sharded cluster

LIST_SHARDS = _known("list-shards", {"listShards": 1})
SHARD_MAP = _known("shard-map", {"getShardMap": 1})
SHARDING_STATE = _known("sharding-state", {"shardingState": 1})
BALANCER = _known("balancer-status", {"balancerStatus": 1})
HASHED = ("chunks", "collections", "databases", "shards", "tags", "version")
"""Collections of the metadata that move only by a change of the catalog; locks, pings, logs and switches move alone."""
CONFIG_HASH = _known("config-hash", {"dbHash": 1, "collections": list(HASHED)}, "config")
"""As every mongos does with mirrored config servers all the time; it reads them whole, so it is asked rarely."""
CONFIG_VERSION = _find("config-version", "config", "version", 2)
CONFIG_SHARDS = _find("config-shards", "config", "shards", 500)
CONFIG_DATABASES = _find("config-databases", "config", "databases", 500, fields={"_id": 1})
CONFIG_COLLECTIONS = _find("config-collections", "config", "collections", 500, fields={"_id": 1})
"""What the catalog lists, by name: to say what a colleague made, never all there is."""
CONFIG_MONGOS = _find("config-mongos", "config", "mongos", 500)
CONFIG_SETTINGS = _find("config-settings", "config", "settings", 20)
CONFIG_LOCKS = _find("config-locks", "config", "locks", 100, only={"state": 2})
