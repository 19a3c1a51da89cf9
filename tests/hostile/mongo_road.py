"""Damaged answers of a MongoDB server: over the socket, and what was recorded of 3.2.5 with bytes changed."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable

import bson
from bson import json_util

from services.clock import SystemClock
from services.connections.host import HostSession
from services.connections.limits import Limits
from services.connections.mongo.document import Document
from services.connections.mongo.plain import decoded
from services.connections.reads import mongo as reads
from services.connections.sql.text_rows import BadReply
from services.facts.mongodb.judged import lag_by_own_words_s, lag_s, left_of, votes_of
from services.facts.mongodb.oplog import parse_oplog
from services.facts.mongodb.replica_set import parse_set
from services.facts.mongodb.server import parse_server
from services.facts.mongodb.sharding import listed_shards, parse_cluster
from services.inventory.model import HostEntry, MongoAccess
from services.secrets import MemoryVault
from tests.hostile.damage import damaged
from tests.unit.recorded.mongo_replies import FOLDER

_HELLO = {"ismaster": True, "maxWireVersion": 4, "minWireVersion": 0, "ok": 1.0}
_NEWER = {**_HELLO, "maxWireVersion": 25, "helloOk": True}


def _replied(number: int, document: dict[str, object]) -> bytes:
    payload = struct.pack("<iqii", 8, 0, 0, 1) + bson.encode(document)
    return struct.pack("<iiii", len(payload) + 16, 1, number, 1) + payload


def _messaged(number: int, document: dict[str, object]) -> bytes:
    payload = b"\0" * 5 + bson.encode(document)
    return struct.pack("<iiii", len(payload) + 16, 1, number, 2013) + payload


def _recorded() -> list[tuple[str, bytes]]:
    """Every recorded answer as bytes, with the command it is of."""
    found: list[tuple[str, bytes]] = []
    for path in sorted(FOLDER.glob("*.json")):
        replies = json_util.loads(path.read_text(encoding="utf-8"))
        found += [(name, bson.encode(said)) for name, said in replies.items() if isinstance(said, dict)]
    return found


RECORDED = _recorded()
_STATUS = {"set": "rs0", "members": [{"_id": 0, "name": "h:1", "state": 1, "health": 1.0, "self": True}], "ok": 1.0}
TALKS = (
    (_replied(1, _HELLO), _replied(2, _STATUS)),
    (_replied(1, _NEWER), _messaged(2, _STATUS)),
)


def session(port: int, limits: Limits) -> HostSession:
    """Return a session to whoever listens there."""
    entry = HostEntry("m1", "127.0.0.1", sql=MongoAccess("", port=port, tls="off"), kind="mongodb")
    return HostSession(entry, MemoryVault(), clock=SystemClock(), limits=limits)


def asked(own: HostSession) -> object:
    """Ask for the status of its replica set, and read it."""
    return parse_set(own.ask(reads.SET_STATUS, limit_s=2.0).body, None)


def _set(said: Document) -> None:
    for view in (parse_set(said, None), parse_set(None, said), parse_set(said, said)):
        if view is not None:
            votes_of(view)
            lag_by_own_words_s(view, view)
            for member in view.members:
                lag_s(view, member)
                left_of(member, [None])


def _cluster(said: Document) -> None:
    documents = [one for value in said.values() if isinstance(value, list) for one in value if isinstance(one, dict)]
    parse_cluster(
        version=documents,
        shards=documents,
        routers=documents,
        settings=documents,
        locks=documents,
        shard_map=said,
        sharding_state=said,
        balancer=said,
    )
    listed_shards(said)
    parse_oplog(documents, documents, said)


_USES: dict[str, Callable[[Document], object]] = {
    "replSetGetStatus": _set,
    "replSetGetConfig": _set,
    "isMaster": parse_server,
    "buildInfo": lambda said: parse_server({}, said),
    "serverStatus": lambda said: parse_server({}, None, said),
    "getCmdLineOpts": lambda said: parse_server({}, None, None, said),
}


def parsed(chance: random.Random) -> None:
    """Read one recorded answer with bytes damaged: a document still, or none."""
    name, data = chance.choice(RECORDED)
    out = bytearray(damaged(data, chance))
    if chance.random() < 0.8:  # most get past the length, so that the codec and the parsers have their turn
        out[:4] = len(out).to_bytes(4, "little")
    try:
        said = decoded(bytes(out))
    except BadReply:
        return
    _USES.get(name, _cluster)(said)
