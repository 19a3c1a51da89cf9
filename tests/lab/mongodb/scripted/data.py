"""The commands on documents, as a mongod answers them."""

from __future__ import annotations

from typing import Any

import bson
from bson.int64 import Int64
from bson.objectid import ObjectId

from tests.lab.mongodb.scripted.member import PRIMARY, SECONDARY, Member, Place
from tests.lab.mongodb.scripted.store import OPLOG, Store, changed, matches, new_row
from tests.lab.mongodb.scripted.wire import Asked, Doc, Refused

_FIRST_BATCH = 101


class Documents:
    """Reads and writes of one mongod's documents."""

    def __init__(self, member: Member) -> None:
        self._me = member
        self._cursors: dict[int, list[Doc]] = {}
        self.commands = {
            "find": self._find,
            "getmore": self._get_more,
            "killcursors": lambda asked: {"cursorsKilled": asked.command["cursors"], "ok": 1.0},
            "count": self._count,
            "insert": self._insert,
            "update": self._update,
            "delete": self._delete,
            "create": self._create,
            "drop": self._drop,
            "dropdatabase": self._drop_database,
            "listdatabases": self._databases,
            "listcollections": self._collections,
            "dbhash": self._hash,
            "collstats": self._stats,
        }

    @property
    def _store(self) -> Store:
        return self._me.store

    # -- reads

    def _may_read(self, asked: Asked) -> None:
        me = self._me
        if not me.active or me.state == PRIMARY or asked.database == "local":
            return
        if not asked.slave_ok:
            raise Refused(13435, "not master and slaveOk=false")
        if me.shown_state() != SECONDARY:
            raise Refused(13436, "node is recovering")

    def _find(self, asked: Asked) -> Doc:
        ns = f"{asked.database}.{asked.command['find']}"
        with self._me.lock:
            self._may_read(asked)
            found = self._store.find(ns, asked.command)
            most = int(asked.command.get("batchSize", _FIRST_BATCH))
            cursor = 0
            if len(found) > most and not asked.command.get("singleBatch"):
                cursor = int.from_bytes(bson.ObjectId().binary[-7:], "big")
                self._cursors[cursor] = found[most:]
        return {"waitedMS": Int64(0), "cursor": {"firstBatch": found[:most], "id": Int64(cursor), "ns": ns}, "ok": 1.0}

    def _get_more(self, asked: Asked) -> Doc:
        key, ns = int(asked.command["getMore"]), f"{asked.database}.{asked.command['collection']}"
        with self._me.lock:
            if key not in self._cursors:
                raise Refused(43, f"Cursor not found, cursor id: {key}")
            rest = self._cursors.pop(key)
            most = int(asked.command.get("batchSize", 1000))
            if len(rest) > most:
                self._cursors[key] = rest[most:]
        left = Int64(key if len(rest) > most else 0)
        return {"cursor": {"nextBatch": rest[:most], "id": left, "ns": ns}, "ok": 1.0}

    def _count(self, asked: Asked) -> Doc:
        with self._me.lock:
            self._may_read(asked)
            rows = self._store.collections.get(f"{asked.database}.{asked.command['count']}", [])
            return {"n": sum(matches(row, asked.command.get("query") or {}) for row in rows), "ok": 1.0}

    def _databases(self, asked: Asked) -> Doc:
        with self._me.lock:
            self._may_read(asked)
            found: list[Doc] = []
            for name in self._store.databases():
                rows = [self._store.collections[f"{name}.{one}"] for one in self._store.names(name)]
                size = float(4096 * len(rows) + sum(len(bson.encode(row)) for some in rows for row in some))
                found.append({"name": name, "sizeOnDisk": size, "empty": not rows})
        return {"databases": found, "totalSize": float(sum(one["sizeOnDisk"] for one in found)), "ok": 1.0}

    def _collections(self, asked: Asked) -> Doc:
        with self._me.lock:
            self._may_read(asked)
            rows: list[Doc] = [{"name": name, "options": {}} for name in self._store.names(asked.database)]
        where = f"{asked.database}.$cmd.listCollections"
        return {"cursor": {"id": Int64(0), "ns": where, "firstBatch": rows}, "ok": 1.0}

    def _hash(self, asked: Asked) -> Doc:
        with self._me.lock:
            found = self._store.hashes(asked.database, asked.command.get("collections"))
        host = f"scripted:{self._me.name.rpartition(':')[2]}"
        return {"host": host, "collections": found, "md5": "", "timeMillis": 0,
                "fromCache": [], "ok": 1.0}  # fmt: skip

    def _stats(self, asked: Asked) -> Doc:
        ns = f"{asked.database}.{asked.command['collStats']}"
        with self._me.lock:
            rows = self._store.collections.get(ns)
            if rows is None:
                raise Refused(0, f"Collection [{ns}] not found.")
            size = sum(len(bson.encode(row)) for row in rows)
        found: Doc = {"ns": ns, "count": len(rows), "size": size, "storageSize": size}
        if ns == OPLOG:
            most = int(self._me.options["--oplogSize"] or 990)
            found |= {"capped": True, "max": -1, "maxSize": Int64(most << 20)}
        return {**found, "nindexes": 1, "ok": 1.0}

    # -- writes

    def _begin(self, asked: Asked) -> None:
        if self._me.active and self._me.state != PRIMARY and asked.database != "local":
            raise Refused(10107, "not master")

    def _done(self, asked: Asked, place: Place, answer: Doc) -> Doc:
        answer |= self._me.wait_for(place, asked.command.get("writeConcern") or {})
        if self._me.active and self._me.election_id is not None:
            answer |= {"lastOp": place.form(self._me.protocol), "electionId": self._me.election_id}
        return {"ok": answer.pop("ok", 1.0), **answer}

    def _note(self, asked: Asked, collection: str, op: str, row: Doc, key: Doc | None = None) -> Place:
        ns = f"{asked.database}.{collection}"
        entry: Doc = {"op": op, "ns": ns, "o": row} | ({"o2": key} if key is not None else {})
        if asked.database == "local":
            self._store.apply(entry)
            return self._me.last
        return self._me.write(entry)

    def _insert(self, asked: Asked) -> Doc:
        name, errors, n = asked.command["insert"], [], 0
        with self._me.lock:
            self._begin(asked)
            ids = [row.get("_id") for row in self._store.rows(f"{asked.database}.{name}")]
            place = self._me.last
            for number, given in enumerate(asked.command["documents"]):
                row = given if "_id" in given else {"_id": ObjectId(), **given}
                if row["_id"] in ids:
                    said = f"E11000 duplicate key error collection: {asked.database}.{name} index: _id_ dup key"
                    errors.append({"index": number, "code": 11000, "errmsg": said})
                    break
                ids.append(row["_id"])
                place, n = self._note(asked, name, "i", row), n + 1
            self._store.save()
        return self._done(asked, place, {"n": n} | ({"writeErrors": errors} if errors else {}))

    def _update(self, asked: Asked) -> Doc:
        name, n, modified = asked.command["update"], 0, 0
        upserted: list[dict[str, Any]] = []
        with self._me.lock:
            self._begin(asked)
            place = self._me.last
            for number, one in enumerate(asked.command["updates"]):
                found = [row for row in self._store.rows(f"{asked.database}.{name}") if matches(row, one["q"])]
                if not found and one.get("upsert"):
                    row = new_row(one["q"], one["u"])
                    place, n = self._note(asked, name, "i", row), n + 1
                    upserted.append({"index": number, "_id": row["_id"]})
                for row in found if one.get("multi") else found[:1]:
                    after = changed(row, one["u"])
                    n += 1
                    if after != row:
                        place = self._note(asked, name, "u", after, {"_id": row["_id"]})
                        modified += 1
            self._store.save()
        return self._done(asked, place, {"nModified": modified, "n": n} | ({"upserted": upserted} if upserted else {}))

    def _delete(self, asked: Asked) -> Doc:
        name, n = asked.command["delete"], 0
        with self._me.lock:
            self._begin(asked)
            place = self._me.last
            for one in asked.command["deletes"]:
                found = [row for row in self._store.rows(f"{asked.database}.{name}") if matches(row, one["q"])]
                for row in found[: one.get("limit") or len(found)]:
                    place, n = self._note(asked, name, "d", {"_id": row["_id"]}), n + 1
            self._store.save()
        return self._done(asked, place, {"n": n})

    def _create(self, asked: Asked) -> Doc:
        if f"{asked.database}.{asked.command['create']}" in self._store.collections:
            raise Refused(48, "collection already exists")
        return self._ordered(asked, {"create": asked.command["create"]})

    def _drop(self, asked: Asked) -> Doc:
        ns = f"{asked.database}.{asked.command['drop']}"
        if ns not in self._store.collections:
            raise Refused(26, "ns not found")
        return {"ns": ns, "nIndexesWas": 1} | self._ordered(asked, {"drop": asked.command["drop"]})

    def _drop_database(self, asked: Asked) -> Doc:
        return {"dropped": asked.database} | self._ordered(asked, {"dropDatabase": 1})

    def _ordered(self, asked: Asked, order: Doc) -> Doc:
        with self._me.lock:
            self._begin(asked)
            place = self._note(asked, "$cmd", "c", order)
            self._store.save()
        self._me.wait_for(place, asked.command.get("writeConcern") or {})
        return {"ok": 1.0}
