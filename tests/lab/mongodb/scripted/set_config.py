"""The configuration of a replica set: as it is kept, and the rules that a new one must obey."""

from __future__ import annotations

from typing import Any

from bson.objectid import ObjectId

from tests.lab.mongodb.scripted.wire import Doc, Refused

INVALID, INCOMPATIBLE, NO_NODE = 93, 103, 74
_MOST_VOTERS = 7


def normal(asked: Doc, keep_id: ObjectId | None = None, *, wrong: int = INVALID) -> Doc:
    """A configuration as replSetGetConfig shows it, with everything that was left out.

    Raises Refused, of what breaks a rule with the number `wrong`.
    """
    known = {"_id", "version", "members", "settings", "protocolVersion", "configsvr"}
    if unknown := set(asked) - known:
        raise Refused(INVALID, f'Unexpected field {min(unknown)} in replica set configuration"')
    given = dict(asked.get("settings") or {})
    settings = {
        "chainingAllowed": given.get("chainingAllowed", True),
        "heartbeatIntervalMillis": int(given.get("heartbeatIntervalMillis", 2000)),
        "heartbeatTimeoutSecs": int(given.get("heartbeatTimeoutSecs", 10)),
        "electionTimeoutMillis": int(given.get("electionTimeoutMillis", 10000)),
        "getLastErrorModes": given.get("getLastErrorModes", {}),
        "getLastErrorDefaults": given.get("getLastErrorDefaults", {"w": 1, "wtimeout": 0}),
        "replicaSetId": keep_id or given.get("replicaSetId") or ObjectId(),
    }
    found: Doc = {"_id": asked["_id"], "version": int(asked.get("version", 1))}
    if asked.get("configsvr"):
        found["configsvr"] = True
    protocol = int(asked.get("protocolVersion", 0))
    if protocol not in {0, 1}:
        raise Refused(INVALID, f"protocolVersion field value of {protocol} is not 1 or 0")
    if protocol:
        found["protocolVersion"] = protocol
    found |= {"members": [_member(one) for one in asked["members"]], "settings": settings}
    _check(found, wrong)
    return found


def protocol_of(config: Doc) -> int:
    """Its protocolVersion; 0 where none is written."""
    return int(config.get("protocolVersion", 0))


def votes_of(config: Doc) -> int:
    """All votes."""
    return sum(int(one["votes"]) for one in config["members"])


def majority_of(config: Doc) -> int:
    """How many votes make a majority."""
    return votes_of(config) // 2 + 1


def check_change(old: Doc, new: Doc, *, force: bool) -> None:
    """Hold a new configuration against the one that it replaces. Raises Refused."""
    if new["_id"] != old["_id"]:
        raise Refused(
            INCOMPATIBLE,
            f"New and old configurations differ in replica set name; old was {old['_id']}, and new is {new['_id']}",
        )
    if new["version"] <= old["version"] and not force:
        raise Refused(
            INCOMPATIBLE,
            f"New replica set configuration version must be greater than old, but {new['version']} is not greater "
            f"than {old['version']} for replica set {old['_id']}",
        )
    if bool(new.get("configsvr")) != bool(old.get("configsvr")):
        raise Refused(
            INCOMPATIBLE,
            "New and old configurations differ in the setting of the configsvr field; old was "
            f"{str(bool(old.get('configsvr'))).lower()}, and new is {str(bool(new.get('configsvr'))).lower()}",
        )
    places = {one["_id"]: one["host"] for one in old["members"]}
    for one in new["members"]:
        if one["host"] in places.values() and places.get(one["_id"]) != one["host"]:
            raise Refused(INCOMPATIBLE, f"New and old configurations both have members with host of {one['host']}")


def _member(given: Doc) -> Doc:
    arbiter = bool(given.get("arbiterOnly", False))
    priority = float(given.get("priority", 1.0))
    return {
        "_id": int(given["_id"]),
        "host": str(given["host"]),
        "arbiterOnly": arbiter,
        "buildIndexes": bool(given.get("buildIndexes", True)),
        "hidden": bool(given.get("hidden", False)),
        "priority": priority,
        "tags": dict(given.get("tags") or {}),
        "slaveDelay": int(given.get("slaveDelay", 0)),
        "votes": int(given.get("votes", 1)),
    }


def _check(config: Doc, wrong: int) -> None:
    members: list[dict[str, Any]] = config["members"]
    for one in members:
        reason = _wrong_of(one, configsvr=bool(config.get("configsvr")))
        if reason:
            raise Refused(wrong, reason)
    for key in ("_id", "host"):
        if len({one[key] for one in members}) != len(members):
            raise Refused(wrong, f"Found two member configurations with same {key} field")
    if not 1 <= sum(bool(one["votes"]) for one in members) <= _MOST_VOTERS:
        raise Refused(wrong, "Replica set configuration contains no or more than 7 voting members")
    if not any(one["priority"] > 0 for one in members):
        raise Refused(wrong, "Replica set configuration must contain at least one non-arbiter member with priority > 0")


def _wrong_of(one: Doc, *, configsvr: bool) -> str:
    if one["votes"] not in {0, 1}:
        return f"votes field value is {one['votes']} but must be 0 or 1"
    if one["votes"] == 0 and one["priority"] != 0:
        return "priority must be 0 when non-voting (votes:0)"
    if not 0 <= one["priority"] <= 1000:
        return f"priority field value of {one['priority']:g} is out of range"
    if one["priority"] != 0 and one["slaveDelay"]:
        return "priority must be 0 when slaveDelay is used"
    if one["priority"] != 0 and one["hidden"]:
        return "priority must be 0 when hidden=true"
    if configsvr and one["arbiterOnly"]:
        return "Arbiters are not allowed in replica set configurations being used for config servers"
    if configsvr and (one["slaveDelay"] or not one["buildIndexes"]):
        return (
            "Members in replica set configurations being used for config servers must build indexes and not be delayed"
        )
    return ""
