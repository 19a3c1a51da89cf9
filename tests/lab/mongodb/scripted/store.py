"""Documents of one server: kept in a file of its folder, so that they outlive kill and start."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import bson
from bson.objectid import ObjectId

from tests.lab.mongodb.scripted.wire import Doc, Refused

_COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "$gt": lambda a, b: a is not None and a > b,
    "$gte": lambda a, b: a is not None and a >= b,
    "$lt": lambda a, b: a is not None and a < b,
    "$lte": lambda a, b: a is not None and a <= b,
    "$ne": lambda a, b: a != b,
    "$in": lambda a, b: a in b,
    "$nin": lambda a, b: a not in b,
    "$exists": lambda a, b: (a is not None) == bool(b),
}
OPLOG = "local.oplog.rs"


class Store:
    """Collections by their full names. `save` after a change; not for two threads at once."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "documents.bson"
        self.collections: dict[str, list[Doc]] = {}
        if self._file.exists():
            self.collections = {ns: one["rows"] for ns, one in bson.decode(self._file.read_bytes()).items()}

    def save(self) -> None:
        """Write everything down, whole or not at all."""
        beside = self._file.with_suffix(".new")
        beside.write_bytes(bson.encode({ns: {"rows": rows} for ns, rows in self.collections.items()}))
        beside.replace(self._file)

    def rows(self, ns: str) -> list[Doc]:
        """A collection's documents, made where there is none."""
        return self.collections.setdefault(ns, [])

    def names(self, database: str) -> list[str]:
        """The collections of a database, without its name."""
        return sorted(ns.partition(".")[2] for ns in self.collections if ns.partition(".")[0] == database)

    def databases(self) -> list[str]:
        """The databases that there are."""
        return sorted({ns.partition(".")[0] for ns in self.collections})

    def find(self, ns: str, command: Doc) -> list[Doc]:
        """The documents that a find wants."""
        found = [row for row in self.collections.get(ns, []) if matches(row, command.get("filter") or {})]
        for key, way in reversed(list((command.get("sort") or {}).items())):
            if key != "$natural":
                found.sort(key=functools.cmp_to_key(functools.partial(_order_at, key)))
            if way < 0:
                found.reverse()
        found = found[int(command.get("skip") or 0) :]
        limit = abs(int(command.get("limit") or 0))
        wanted = command.get("projection") or {}
        return [_projected(row, wanted) for row in (found[:limit] if limit else found)]

    def hashes(self, database: str, names: Iterable[str] | None) -> dict[str, str]:
        """The md5 of each collection, by the ids' order, as dbHash has them."""
        found = {}
        for name in names or self.names(database):
            if f"{database}.{name}" in self.collections:
                rows = sorted(self.collections[f"{database}.{name}"], key=lambda row: repr(row.get("_id")))
                found[name] = hashlib.md5(b"".join(map(bson.encode, rows)), usedforsecurity=False).hexdigest()
        return found

    def apply(self, entry: Doc) -> None:
        """Do what an oplog entry says, once or again: the outcome is the same."""
        ns, done = entry["ns"], entry["o"]
        if entry["op"] == "i":
            self.replace(ns, done["_id"], done)
        elif entry["op"] == "u":
            self.replace(ns, entry["o2"]["_id"], done)
        elif entry["op"] == "d":
            self.collections[ns] = [row for row in self.rows(ns) if row.get("_id") != done["_id"]]
        elif entry["op"] == "c":
            self._order(ns.partition(".")[0], done)

    def replace(self, ns: str, key: object, row: Doc) -> None:
        """Put a document in the place of the one with its id."""
        rows = self.rows(ns)
        for number, one in enumerate(rows):
            if one.get("_id") == key:
                rows[number] = row
                return
        rows.append(row)

    def _order(self, database: str, order: Doc) -> None:
        if "create" in order:
            self.rows(f"{database}.{order['create']}")
        elif "drop" in order:
            self.collections.pop(f"{database}.{order['drop']}", None)
        elif "dropDatabase" in order:
            for name in self.names(database):
                del self.collections[f"{database}.{name}"]


def value_at(row: Doc, path: str) -> Any:
    """The value at a dotted path, None where there is none."""
    found: Any = row
    for name in path.split("."):
        found = found.get(name) if isinstance(found, dict) else None
    return found


def matches(row: Doc, wanted: Doc) -> bool:
    """Whether a document is one of those that a filter wants; the operators that tests need, no others."""
    for key, value in wanted.items():
        if key == "$or":
            if not any(matches(row, one) for one in value):
                return False
            continue
        told = value_at(row, key)
        if isinstance(value, dict) and value and next(iter(value)).startswith("$"):
            if unknown := set(value) - set(_COMPARED):
                raise Refused(2, f"unknown operator: {min(unknown)}")
            if not all(_COMPARED[name](told, against) for name, against in value.items()):
                return False
        elif told != value and not (isinstance(told, list) and value in told):
            return False
    return True


def changed(row: Doc, change: Doc) -> Doc:
    """A document after an update."""
    if not change or not next(iter(change)).startswith("$"):
        return {"_id": row["_id"], **{key: value for key, value in change.items() if key != "_id"}}
    found: Doc = bson.decode(bson.encode(row))
    for name, fields in change.items():
        for key, value in fields.items():
            *outer, last = key.split(".")
            inner = functools.reduce(lambda one, part: one.setdefault(part, {}), outer, found)
            if name == "$set":
                inner[last] = value
            elif name == "$inc":
                inner[last] = inner.get(last, 0) + value
            elif name == "$unset":
                inner.pop(last, None)
            elif name == "$push":
                inner.setdefault(last, []).append(value)
            else:
                raise Refused(9, f"Unknown modifier: {name}")
    return found


def new_row(wanted: Doc, change: Doc) -> Doc:
    """The document that an upsert makes where nothing matched."""
    plain = {key: value for key, value in wanted.items() if not isinstance(value, dict) and not key.startswith("$")}
    return changed({"_id": plain.pop("_id", change.get("_id", ObjectId())), **plain}, change)


def _order_at(path: str, one: Doc, other: Doc) -> int:
    return _order(value_at(one, path), value_at(other, path))


def _order(one: Any, other: Any) -> int:
    try:
        return int(one > other) - int(one < other)
    except TypeError:
        return int(repr(one) > repr(other)) - int(repr(one) < repr(other))


def _projected(row: Doc, wanted: Doc) -> Doc:
    if not wanted:
        return row
    kept = {key for key, value in wanted.items() if value}
    if not kept:
        return {key: value for key, value in row.items() if key not in wanted}
    kept |= set() if wanted.get("_id", 1) == 0 else {"_id"}
    return {key: value for key, value in row.items() if key in kept}
