"""Every read of a sharded cluster of MongoDB, answered with nothing, a refusal, garbage: no alarm and no 'good'.

The answers are recorded ones of a real cluster (config servers as a set, a shard, a router), one read replaced.
"""

from __future__ import annotations

import functools
from typing import Any

import pytest
from bson import json_util
from bson.codec_options import DatetimeConversion

from services.connections.mongo.document import Reply
from services.connections.mongo.errors import NO_COMMAND, TIME_UP
from services.connections.mongo.plain import document_of
from services.connections.reads.mongo import MONGO_READS, MongoRead
from services.discovery.looks.probe_mongodb import facts_from_answer
from services.discovery.model import EstateSnapshot
from services.discovery.snapshot import updated_estate
from services.errors import QueryFailed
from services.facts.model import NodeFacts
from services.facts.mongodb.reading import read_mongodb
from services.types import Health, Reach
from tests.unit.recorded.mongo_replies import FOLDER

SERVERS = ("5-csrs.c1", "5-csrs.n1", "5-csrs.n2", "5-csrs.s0", "5-csrs.s1", "5-csrs.m1")
ERRORS = {"denied": 13, "stopped at its limit": TIME_UP, "no such command": NO_COMMAND}
HOWS = ("nothing", "garbage", *ERRORS)
GARBAGE: dict[str, Any] = {"ok": 1.0, "members": "\x00", "config": [1], "version": -3, "set": 7, "databases": {}}
_OPTIONS: json_util.JSONOptions = json_util.JSONOptions(datetime_conversion=DatetimeConversion.DATETIME_MS)


@functools.cache
def replies(name: str) -> Any:
    return document_of(json_util.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"), json_options=_OPTIONS))


class Odd:
    """A recorded server that answers one read oddly."""

    def __init__(self, name: str, what: str, how: str) -> None:
        self.name, self.what, self.how, self.asked = name, what, how, list[str]()

    def ask(self, read: MongoRead, *, limit_s: float = 5.0) -> Reply:
        del limit_s
        self.asked.append(read.name)
        if read.name == self.what:
            return self._oddly()
        command = MONGO_READS[read.name].command
        name = next(iter(command))
        found = replies(self.name)
        if name == "find":
            documents = found.get("config", {}).get(command["find"])
            if documents is None:
                raise QueryFailed("not authorized", host=self.name, errno=13)
            return Reply({"ok": 1.0}, tuple(documents))
        told = found.get(name)
        if told is None or "__error__" in told:
            raise QueryFailed("x", host=self.name, errno=(told or {}).get("details", {}).get("code", 59))
        return Reply(told)

    def _oddly(self) -> Reply:
        if errno := ERRORS.get(self.how):
            raise QueryFailed("x", host=self.name, errno=errno)
        return Reply(GARBAGE, (GARBAGE,)) if self.how == "garbage" else Reply({"ok": 1.0})


def looked(victim: str = "", what: str = "", how: str = "") -> tuple[EstateSnapshot, list[str]]:
    """Return the cluster, and what the victim was asked."""
    at = 1_795_249_500.0
    facts, asked = {}, []
    for name in SERVERS:
        session = Odd(name, what if name == victim else "", how)
        answer = read_mongodb(session, at=at)
        told = replies(name)["isMaster"]
        port = str(told.get("me", "127.0.0.1:27017")).rpartition(":")[2]
        blank = NodeFacts(name, at, Reach.SQL_ONLY, "127.0.0.1", speaks="MongoDB", kind="mongodb", asked_port=int(port))
        facts[name] = facts_from_answer(blank, answer, at)
        asked += session.asked if name == victim else []
    return updated_estate(None, facts, at + 0.5), list(dict.fromkeys(asked))


HEALTHS = {n.host: (n.health, n.state, n.reason) for c in looked()[0].clusters for n in c.nodes}
READS = [(name, what) for name in SERVERS for what in looked(name)[1] if what != "hello"]


def test_that_no_node_of_the_cluster_is_bad_and_every_read_is_tried() -> None:
    assert len(READS) > 40
    assert not [one for one in HEALTHS.values() if one[0] is Health.BAD], HEALTHS


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize(("name", "what"), READS)
def test_that_what_one_server_does_not_tell_is_no_alarm_and_nothing_better(name: str, what: str, how: str) -> None:
    estate, _ = looked(name, what, how)
    for node in (n for c in estate.clusters for n in c.nodes):
        before = HEALTHS.get(node.host)
        assert before is not None, (node.name, "invented by what was not read")
        worse = node.health in {Health.BAD, Health.WARN} and before[0] not in {Health.BAD, Health.WARN}
        assert not worse, (node.name, node.state, node.reason)
        assert node.health in {Health.GOOD, before[0]} or node.reason, node.name
        assert "not authorized" not in node.reason, "that is the reason of another read"
        assert not (node.health is Health.GOOD and before[0] is not Health.GOOD), (node.name, node.state)
