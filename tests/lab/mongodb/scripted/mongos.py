"""A mongos: it has no data; it reads the catalog, and hands commands on to the primaries of shards."""

from __future__ import annotations

import time
from pathlib import Path

from bson.int64 import Int64
from bson.objectid import ObjectId
from bson.timestamp import Timestamp

from tests.lab.mongodb.scripted import replies
from tests.lab.mongodb.scripted.base import Program
from tests.lab.mongodb.scripted.catalog import Catalog, hosts_of, primary_of
from tests.lab.mongodb.scripted.options import Options
from tests.lab.mongodb.scripted.wire import Asked, Doc, Refused, ask

_LOOK_S = 0.5
_COLLECTIONS = ("chunks", "collections", "databases", "lockpings", "locks", "mongos", "settings", "shards", "tags")
_OF_CONFIG = ("find", "count", "listcollections", "insert", "update", "delete", "getmore")
_WRITES = {"insert", "update", "delete"}
_PASSED = ("find", "count", "listcollections", "getmore", "insert", "update", "delete", "create", "drop")


class Mongos(Program):
    """One run of a mongos."""

    def __init__(self, port: int, folder: Path, options: Options) -> None:
        super().__init__(port, folder, options)
        self._catalog = Catalog(options["--configdb"], self.log)
        self._shards: dict[str, str] = {}
        self._databases: dict[str, Doc] = {}
        self._ready = False
        self.commands |= dict.fromkeys(_PASSED, self._passed)
        self.commands |= {
            "ismaster": lambda _: {"ismaster": True, "msg": "isdbgrid", **replies.hello_end()},
            "isdbgrid": lambda _: {"isdbgrid": 1, "hostname": "scripted", "ok": 1.0},
            "buildinfo": lambda _: replies.build_info(mongos=True),
            "serverstatus": lambda _: self._status(),
            "replsetgetstatus": self._no_set,
            "listshards": lambda _: {"shards": self._catalog.rows("shards"), "ok": 1.0},
            "getshardmap": lambda _: {"map": self._map(), "ok": 1.0},
            "addshard": self._add_shard,
            "enablesharding": self._enable,
            "shardcollection": self._shard_collection,
            "listdatabases": lambda _: self._list(),
            "dropdatabase": self._drop_database,
        }
        self._round()
        self.listen()
        self.loop(self._wait_and_round)

    def unknown(self, asked: Asked) -> Refused:
        """Other words than a mongod's."""
        return Refused(59, f"no such cmd: {asked.name}")

    def _handle(self, asked: Asked) -> Doc:
        try:
            return super()._handle(asked)
        except (OSError, EOFError) as problem:
            raise Refused(6, f"network error while asking: {problem}") from problem

    # -- its rounds

    def _wait_and_round(self) -> None:
        if not self.ended.wait(_LOOK_S):
            self._round()

    def _round(self) -> None:
        """Look whom the config servers are, make the catalog where there is none, and write itself down."""
        try:
            self._catalog.look()
            if not self._ready:
                self._found()
            self._shards = {one["_id"]: one["host"] for one in self._catalog.rows("shards")}
            ping = {"ping": replies.moment(time.time()), "up": Int64(time.time() - self.started), "waiting": True}
            self._set("mongos", f"scripted:{self.name.rpartition(':')[2]}", {**ping, "mongoVersion": "3.2.5"})
        except (OSError, EOFError, Refused):
            return

    def _found(self) -> None:
        if not self._catalog.rows("version"):
            for name in _COLLECTIONS:
                self._catalog.write({"create": name})
            self._set("version", 1, {"minCompatibleVersion": 5, "currentVersion": 6, "clusterId": ObjectId()})
            self._set("settings", "chunksize", {"value": 64})
        self._ready = True

    def _set(self, collection: str, key: object, fields: Doc, *, lock: str = "") -> None:
        change = {"q": {"_id": key}, "u": {"$set": fields}, "upsert": True}
        self._catalog.write({"update": collection, "updates": [change]}, lock=lock)

    # -- what it says of itself

    def _status(self) -> Doc:
        found = replies.server_status(self.name, "mongos", self.started, self.listener.connections, self.counts)
        found["sharding"] = {"configsvrConnectionString": self._catalog.string}
        if not self._catalog.mirrored:
            found["sharding"]["lastSeenConfigServerOpTime"] = {"ts": Timestamp(int(time.time()), 1), "t": Int64(1)}
        memory = replies.engine_status("")["mem"]
        del found["globalLock"]
        return {**found, "mem": {key: memory[key] for key in ("bits", "resident", "virtual", "supported")}, "ok": 1.0}

    def _no_set(self, _: Asked) -> Doc:
        raise Refused(0, "replSetGetStatus is not supported through mongos", info="mongos")

    def _map(self) -> Doc:
        string = self._catalog.string
        found = {"config": string, string: string, **dict.fromkeys(self._catalog.hosts, string)}
        for name, hosts in self._shards.items():
            found |= {name: hosts, hosts: hosts, **dict.fromkeys(hosts_of(hosts), hosts)}
        return dict(sorted(found.items()))

    # -- the catalog

    def _add_shard(self, asked: Asked) -> Doc:
        string = str(asked.command["addShard"])
        primary = primary_of(hosts_of(string))
        if not primary:
            raise Refused(133, f'could not find host matching read preference {{ mode: "primary" }} for set {string}')
        hello = ask(primary, {"isMaster": 1})
        name = hello.get("setName") or f"shard{len(self._shards):04d}"
        host = f"{name}/{','.join(hello['hosts'])}" if "setName" in hello else string
        self._set("shards", name, {"host": host})
        self._shards[name] = host
        return {"shardAdded": name, "ok": 1.0}

    def _enable(self, asked: Asked) -> Doc:
        name = str(asked.command["enableSharding"])
        known = self._catalog.rows("databases", {"_id": name})
        if known and known[0]["partitioned"]:
            raise Refused(23, f"sharding already enabled for database {name}")
        self._home(name, partitioned=True)
        return {"ok": 1.0}

    def _home(self, name: str, *, partitioned: bool) -> None:
        """Give a database a primary shard, in the catalog."""
        shard = self._databases.get(name, {}).get("primary") or min(self._catalog.rows("shards"), key=str)["_id"]
        self._set("databases", name, {"primary": shard, "partitioned": partitioned}, lock=name)
        self._databases[name] = {"primary": shard, "partitioned": partitioned}

    def _shard_collection(self, asked: Asked) -> Doc:
        ns, epoch = str(asked.command["shardCollection"]), ObjectId()
        database = self._catalog.rows("databases", {"_id": ns.partition(".")[0]})
        if not database or not database[0]["partitioned"]:
            raise Refused(20, "sharding not enabled for db")
        fields = {"lastmodEpoch": epoch, "dropped": False, "key": asked.command["key"], "unique": False}
        self._set("collections", ns, {**fields, "lastmod": replies.moment(4294967.296)})
        key = next(iter(asked.command["key"]))
        chunk = {"lastmod": Timestamp(1, 0), "lastmodEpoch": epoch, "ns": ns, "shard": database[0]["primary"]}
        self._set("chunks", f"{ns}-{key}_MinKey", chunk)
        return {"collectionsharded": ns, "ok": 1.0}

    def _drop_database(self, asked: Asked) -> Doc:
        if asked.database in self._known():
            wanted = [{"q": {"_id": asked.database}, "limit": 1}]
            self._catalog.write({"delete": "databases", "deletes": wanted})
            ask(self._primary_of(asked.database), {"dropDatabase": 1}, database=asked.database, limit_s=10)
            self._databases.pop(asked.database, None)
        return {"dropped": asked.database, "ok": 1.0}

    # -- data

    def _known(self) -> dict[str, Doc]:
        """The databases of the catalog; the last ones known where it can't be read."""
        try:
            self._databases = {one["_id"]: one for one in self._catalog.rows("databases")}
            self._shards = {one["_id"]: one["host"] for one in self._catalog.rows("shards")}
        except (OSError, EOFError, Refused):
            return self._databases
        return self._databases

    def _primary_of(self, database: str) -> str:
        shard = self._databases[database]["primary"]
        found = primary_of(hosts_of(self._shards[shard]))
        if not found:
            raise Refused(133, f'could not find host matching read preference {{ mode: "primary" }} for set {shard}')
        told = {"config": self._catalog.string, "shard": shard, "map": self._map()}
        ask(found, {"scriptedShard": told})
        return found

    def _passed(self, asked: Asked) -> Doc:
        name = asked.name.lower()
        if asked.database in {"config", "admin"}:
            if name not in _OF_CONFIG:
                raise self.unknown(asked)
            return self._catalog.write(dict(asked.command)) if name in _WRITES else self._catalog.read(asked.command)
        if asked.database not in self._databases and asked.database not in self._known():
            if name not in _WRITES | {"create"}:
                ns = f"{asked.database}.{asked.command[asked.name]}"
                empty = {"cursor": {"id": Int64(0), "ns": ns, "firstBatch": []}}
                return {"n": 0, "ok": 1.0} if name == "count" else {**empty, "ok": 1.0}
            self._home(asked.database, partitioned=False)
        found = ask(self._primary_of(asked.database), dict(asked.command), database=asked.database, limit_s=30)
        kept = {key: value for key, value in found.items() if key not in {"lastOp", "electionId"}}
        return {**kept, "ok": 1} if name in _WRITES else kept

    def _list(self) -> Doc:
        rows: dict[str, Doc] = {}
        for hosts in self._shards.values():
            for one in ask(primary_of(hosts_of(hosts)), {"listDatabases": 1})["databases"]:
                if one["name"] not in {"local", "config", "admin"}:
                    rows[one["name"]] = one
        total = float(sum(one["sizeOnDisk"] for one in rows.values()))
        return {"databases": list(rows.values()), "totalSize": total, "totalSizeMb": total / 1e6, "ok": 1.0}
