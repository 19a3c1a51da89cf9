"""MongoDB processes as facts: members with their views, mongos, config servers. Invented; real ones are recorded."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from services.connections.mongo.document import Stamp
from services.discovery.looks.probe_mongodb import server_of
from services.facts.model import NodeFacts
from services.facts.mongodb.model import MongoFacts
from services.facts.mongodb.oplog import Oplog
from services.facts.mongodb.replica_set import ReplicaSet, SetMember
from services.facts.mongodb.server import MongoServer
from services.facts.mongodb.sharding import HostList, ShardedCluster
from services.facts.mongodb.values import Place
from services.types import Reach
from tests.unit.discovery.scenes import AT

DAY = 86_400
NOW = int(AT)
OPLOG = Oplog(Stamp(NOW - 2 * DAY, 1), Stamp(NOW, 1), 10**9, 10**9)


def place(name: str) -> Place:
    host, _, port = name.partition(":")
    return Place(name, host, int(port))


def row(number: int, state: str = "SECONDARY", *, behind: int = 0, prefix: str = "m", **more: Any) -> SetMember:
    """One member as somebody sees it; DOWN is not reached, and has no place."""
    reached = state not in {"DOWN", "UNKNOWN"}
    known: dict[str, Any] = {
        "reached": reached,
        "state": state,
        "votes": 1,
        "priority": 1.0,
        "hidden": False,
        "arbiter": state == "ARBITER",
        "delay_s": 0,
        "optime": Stamp(NOW - behind, 1) if reached and state != "ARBITER" else None,
        "optime_term": 1,
    }
    where = more.pop("place", None) or place(f"{prefix}{number}:27018")
    return SetMember(number, where, **{**known, **more})


def rows(*states: str, prefix: str = "m") -> tuple[SetMember, ...]:
    return tuple(row(n, state, prefix=prefix) for n, state in enumerate(states, 1))


THREE = rows("PRIMARY", "SECONDARY", "SECONDARY")


def view(number: int, members: tuple[SetMember, ...] = THREE, **more: Any) -> ReplicaSet:
    """The set in one member's eyes."""
    seen = tuple(replace(m, own=m.id == number, reached=True if m.id == number else m.reached) for m in members)
    votes = sum(m.votes or 0 for m in members)
    known: dict[str, Any] = {"protocol": 1, "term": 1, "version": 1, "votes": votes, "majority": votes // 2 + 1}
    return ReplicaSet(more.pop("name", "rs0"), seen, id=more.pop("id", "5f00"), **{**known, **more})


def facts(host: str, mongo: MongoFacts, *, reach: Reach = Reach.SQL_ONLY, **more: Any) -> NodeFacts:
    return NodeFacts(
        host, AT, reach, more.pop("address", host), server=server_of(mongo, AT), mongo=mongo, sql_at=AT, **more
    )


def member(number: int, seen: ReplicaSet | None = None, *, oplog: Oplog | None = OPLOG, **more: Any) -> NodeFacts:
    """A mongod of the set, on the host of its number."""
    seen = seen if seen is not None else view(number)
    own = next(m for m in seen.members if m.own)
    server = MongoServer(
        role="member",
        set_name=seen.name,
        own=own.place,
        version="3.2.5",
        engine="wiredTiger",
        wire=4,
        uptime_s=1000,
        host=own.place.name,
        port=own.place.port,
        arbiter=own.arbiter is True,
        shard=more.pop("shard", False),
        config=more.pop("config", ""),
    )
    data = None if own.arbiter else oplog
    return facts(own.place.host, MongoFacts(server, seen, data, more.pop("cluster", None)), **more)


def down(number: int, prefix: str = "m") -> NodeFacts:
    """A host that does not answer and never did."""
    return NodeFacts(f"{prefix}{number}", AT, Reach.NONE, f"{prefix}{number}", speaks="MongoDB")


def hosts(text: str) -> HostList:
    name, slash, rest = text.rpartition("/")
    return HostList(name if slash else "", tuple(place(one) for one in rest.split(",")))


def router(number: int, cluster: ShardedCluster, **more: Any) -> NodeFacts:
    server = MongoServer(role="router", version="3.2.5", wire=4, uptime_s=50, host=f"r{number}:27017", port=27017)
    return facts(f"r{number}", MongoFacts(server, cluster=cluster), **more)


def mirror(number: int, cluster: ShardedCluster) -> NodeFacts:
    """A mirrored config server: no replica set."""
    server = MongoServer(
        "standalone", "mirrored", version="3.2.5", engine="wiredTiger", host=f"c{number}:27019", port=27019
    )
    return facts(f"c{number}", MongoFacts(server, cluster=cluster))
