"""The long replies, in the form of 3.2.5: greeting, server status, and the status of a set."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime
from typing import Any

from bson.int64 import Int64
from bson.timestamp import Timestamp

from tests.lab.mongodb.scripted.member import (
    ARBITER,
    DOWN,
    NOWHERE,
    PRIMARY,
    REMOVED,
    SECONDARY,
    STARTUP2,
    WORDS,
    Member,
    Place,
    Seen,
)
from tests.lab.mongodb.scripted.wire import Doc, Refused

_LIMITS = {"maxBsonObjectSize": 16777216, "maxMessageSizeBytes": 48000000, "maxWriteBatchSize": 1000}
_NO_CONFIG = "Does not have a valid replica set config"


def moment(seconds: float) -> datetime:
    """A BSON datetime."""
    return datetime.fromtimestamp(seconds, UTC)


def hello_end() -> Doc:
    """What every greeting ends with."""
    return {**_LIMITS, "localTime": moment(time.time()), "maxWireVersion": 4, "minWireVersion": 0, "ok": 1.0}


def build_info(mongos: bool = False) -> Doc:
    """buildInfo; a mongos has no storage engine."""
    return {
        "version": "3.2.5",
        "gitVersion": "scripted",
        "modules": [],
        "allocator": "system",
        "javascriptEngine": "none",
        "sysInfo": "deprecated",
        "versionArray": [3, 2, 5, 0],
        "openssl": {"running": "disabled", "compiled": "disabled"},
        "bits": 64,
        "debug": False,
        "maxBsonObjectSize": 16777216,
        "storageEngines": [] if mongos else ["devnull", "ephemeralForTest", "mmapv1", "wiredTiger"],
        "ok": 1.0,
    }


def in_set(member: Member, primary: str) -> Doc:
    """A greeting's part on the replica set; empty of a server in none."""
    if not member.active:
        return {"ismaster": True}
    config = member.config
    if config is None or member.state == REMOVED:
        named = {"setName": config["_id"], "setVersion": config["version"]} if config else {}
        return {**named, "ismaster": False, "secondary": False, "info": _NO_CONFIG, "isreplicaset": True}
    shown = [one for one in config["members"] if not one["hidden"] and not one["slaveDelay"]]
    kinds = {
        "hosts": [one["host"] for one in shown if one["priority"] > 0 and not one["arbiterOnly"]],
        "passives": [one["host"] for one in shown if one["priority"] == 0 and not one["arbiterOnly"]],
        "arbiters": [one["host"] for one in config["members"] if one["arbiterOnly"]],
    }
    found: Doc = {key: hosts for key, hosts in kinds.items() if hosts}
    state = member.shown_state()
    found |= {"setName": config["_id"], "setVersion": config["version"]}
    found |= {"ismaster": state == PRIMARY, "secondary": state == SECONDARY}
    found |= {"primary": primary} if primary else {}
    own = member.own or {}
    found |= {"arbiterOnly": True} if state == ARBITER else {}
    if own.get("priority") == 0 and not own.get("arbiterOnly"):
        found["passive"] = True
    found |= {"hidden": True} if own.get("hidden") else {}
    found |= {"slaveDelay": own["slaveDelay"]} if own.get("slaveDelay") else {}
    found |= {"tags": own["tags"]} if own.get("tags") else {}
    found["me"] = member.name
    if state == PRIMARY:
        found["electionId"] = member.election_id
    return found


def server_status(name: str, process: str, started: float, connections: int, counts: dict[str, int]) -> Doc:
    """serverStatus without its parts on sets, shards and engine."""
    up = time.time() - started
    requests = sum(counts.values())
    kinds = ("insert", "query", "update", "delete", "getmore", "command")
    none = {"total": 0, "readers": 0, "writers": 0}
    return {
        "host": f"scripted:{name.rpartition(':')[2]}",
        "advisoryHostFQDNs": [],
        "version": "3.2.5",
        "process": process,
        "pid": Int64(os.getpid()),
        "uptime": float(int(up)),
        "uptimeMillis": Int64(up * 1000),
        "uptimeEstimate": float(int(up)),
        "localTime": moment(time.time()),
        "asserts": {"regular": 0, "warning": 0, "msg": 0, "user": 0, "rollovers": 0},
        "connections": {"current": connections, "available": 16000 - connections, "totalCreated": Int64(requests)},
        "extra_info": {"note": "fields vary by platform", "heap_usage_bytes": 60_000_000, "page_faults": 0},
        "globalLock": {"totalTime": Int64(up * 1e6), "currentQueue": none, "activeClients": {**none, "total": 9}},
        "network": {
            "bytesIn": Int64(requests * 100),
            "bytesOut": Int64(requests * 400),
            "numRequests": Int64(requests),
        },
        "opcounters": {kind: counts.get(kind, 0) for kind in kinds},
    }


def engine_status(engine: str) -> Doc:
    """The engine's part of serverStatus."""
    return {
        "opcountersRepl": dict.fromkeys(("insert", "query", "update", "delete", "getmore", "command"), 0),
        "storageEngine": {"name": engine, "supportsCommittedReads": engine == "wiredTiger"},
        "writeBacksQueued": False,
        "mem": {"bits": 64, "resident": 40, "virtual": 1400, "supported": True, "mapped": 0, "mappedWithJournal": 0},
    }


def set_status(member: Member, started: float) -> Doc:
    """replSetGetStatus. Raises Refused."""
    config = configuration(member)
    if member.state == REMOVED:
        raise Refused(93, "Our replica set config is invalid or we are not a member of it")
    found: Doc = {"set": config["_id"], "date": moment(time.time()), "myState": member.shown_state()}
    found["term"] = Int64(member.term)
    found |= {"syncingTo": member.source} if member.source else {}
    found |= {"configsvr": True} if config.get("configsvr") else {}
    found["heartbeatIntervalMillis"] = Int64(2000)
    rows = [
        _own_row(member, one, started) if one["host"] == member.name else _row(member, one) for one in config["members"]
    ]
    return {**found, "members": rows, "ok": 1.0}


def configuration(member: Member) -> Doc:
    """The configuration in force. Raises Refused where there is none, in the words of all commands on sets."""
    if not member.active:
        info = {"info": "configsvr"} if "--configsvr" in member.options else {}
        raise Refused(76, "not running with --replSet", **info)
    if member.config is None:
        said = "run rs.initiate(...) if not yet done for the set"
        raise Refused(94, "no replset config has been received", info=said)
    return member.config


def _own_row(member: Member, one: Doc, started: float) -> Doc:
    state = member.shown_state()
    found = _begun(one, state, int(time.time() - started))
    if state != ARBITER:
        found |= _optime(member, member.last)
    found |= {"syncingTo": member.source} if member.source else {}
    if state == PRIMARY:
        found |= _elected(member.elected)
    elif member.source:
        found["infoMessage"] = f"syncing from: {member.source}"
    return {**found, "configVersion": member.config["version"] if member.config else -1, "self": True}


def _row(member: Member, one: Doc) -> Doc:
    seen = member.seen[one["host"]]
    if not seen.up:
        return _lost_row(member, one, seen)
    found = _begun(one, seen.state, int(time.time() - seen.since))
    if not one["arbiterOnly"]:
        found |= _optime(member, seen.place if seen.state != STARTUP2 else Place())
    found |= _heard(seen)
    found |= {"syncingTo": seen.source} if seen.source else {}
    found |= _elected(seen.elected) if seen.state == PRIMARY else {}
    return {**found, "configVersion": seen.version}


def _lost_row(member: Member, one: Doc, seen: Seen) -> Doc:
    found = {**_begun(one, DOWN, 0), "health": 0.0}
    if not seen.heard and not seen.said:  # not yet asked
        found |= {"state": 0, "stateStr": "STARTUP", "health": 1.0}
    if not one["arbiterOnly"]:
        found |= _optime(member, Place())
    return {**found, **_heard(seen), "lastHeartbeatMessage": seen.said, "configVersion": -1}


def _begun(one: Doc, state: int, uptime: int) -> Doc:
    found: dict[str, Any] = {"_id": one["_id"], "name": one["host"], "health": 1.0, "state": state}
    return {**found, "stateStr": WORDS[state], "uptime": uptime}


def _optime(member: Member, place: Place) -> Doc:
    return {"optime": place.form(member.protocol), "optimeDate": moment(place.ts.time if place.ts != NOWHERE else 0)}


def _heard(seen: Seen) -> Doc:
    return {
        "lastHeartbeat": moment(seen.heard),
        "lastHeartbeatRecv": moment(seen.received),
        "pingMs": Int64(0),
    }


def _elected(when: Timestamp | None) -> Doc:
    return {} if when is None else {"electionTime": when, "electionDate": moment(when.time)}
