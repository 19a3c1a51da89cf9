"""Asks one MongoDB server what it is, has and sees: which reads are worth asking of which role, and what came of them.

What a server answers with 'that is not mine' (a mongos has no replica set, a secondary no sharding state) is an answer;
what it may not tell, or can't, is a problem with its part; a connection that ends raises, since the rest would too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from services.connections.mongo.document import Document, Reply
from services.connections.mongo.errors import (
    NO_COMMAND,
    NO_NAMESPACE,
    NO_REPLICA_SET,
    NOT_YET_INITIATED,
    REMOVED_FROM_SET,
    TIME_UP,
)
from services.connections.reads import mongo as reads
from services.connections.reads.mongo import MongoRead
from services.errors import QueryFailed, TimedOut, Unreachable, UserError
from services.facts.model import Problem
from services.facts.mongodb.metadata import parse_hashes
from services.facts.mongodb.model import Contents, Metadata, MongoFacts
from services.facts.mongodb.oplog import Oplog, parse_oplog
from services.facts.mongodb.replica_set import ReplicaSet, parse_set
from services.facts.mongodb.server import MongoServer, parse_server
from services.facts.mongodb.sharding import ShardedCluster, listed_shards, parse_cluster
from services.facts.mongodb.values import documents, line
from services.i18n import tr

HEARSAY = "mongo-hearsay"
_NOT_MASTER = 10107
_ANSWERS = frozenset({NO_COMMAND, NO_NAMESPACE, NO_REPLICA_SET, NOT_YET_INITIATED, REMOVED_FROM_SET, _NOT_MASTER})
_MOST_DATABASES = 1000
_MOST_STOPPED = 3
"""Reads of one reading that the server may stop at its limit, before the whole server counts as silent."""
_SINCE_34 = 5
"""The wire version of MongoDB 3.4: it brought featureCompatibilityVersion and balancerStatus."""


class Asks(Protocol):
    """What reads of a server: a session, or whoever remembers what a session was told."""

    def ask(self, read: MongoRead, *, limit_s: float = 5.0) -> Reply:
        """Send one read of the registry."""


@dataclass(frozen=True, slots=True)
class MongoAnswer:
    """What one reading gave.

    Attributes:
        problems: what was not told, and why. status: serverStatus as it came, for its numbers; None: not told.
    """

    facts: MongoFacts
    problems: tuple[Problem, ...] = ()
    status: Document | None = None


def read_mongodb(session: Asks, *, limit_s: float = 5.0, at: float = 0.0) -> MongoAnswer:
    """Read everything once. Raises UserError subclasses where the server is not reached or lets nobody in.

    Args:
        at: now, epoch seconds.
    """
    asking = _Asking(session, limit_s, at)
    greeted = session.ask(reads.HELLO, limit_s=limit_s)
    hello = greeted.body
    first = parse_server(hello)
    if not greeted.proven:
        said = tr("It has not proven that it is the intended server: its answers cannot be trusted.")
        named = parse_server(hello, asking.body(reads.BUILD_INFO))
        return MongoAnswer(MongoFacts(named, proven=False), (Problem(reads.HELLO.name, said, HEARSAY),))
    newer = (first.wire or 0) >= _SINCE_34 and first.role != "router"
    build, status = asking.body(reads.BUILD_INFO), asking.body(reads.SERVER_STATUS)
    server = parse_server(
        hello,
        build,
        status,
        asking.body(reads.COMMAND_LINE),
        asking.body(reads.COMPATIBILITY) if newer else None,
    )
    found, oplog = None, None
    if server.role in {"member", "removed", "not-initiated"}:
        found = _told(server, parse_set(asking.body(reads.SET_STATUS), asking.body(reads.SET_CONFIG)))
    if server.role == "member" and not server.arbiter:
        oplog = _oplog(asking)
    untold = next((p.sentence for p in asking.problems if p.part == reads.SET_STATUS.name), "")
    facts = MongoFacts(
        server,
        found,
        oplog,
        _cluster(asking, server),
        _contents(asking, server),
        _metadata(asking, server),
        set_untold=untold,
    )
    return MongoAnswer(facts, tuple(asking.problems), status)


def _told(server: MongoServer, found: ReplicaSet | None) -> ReplicaSet | None:
    """Return what a member tells of its set; nothing of an arbiter that tells its status alone.

    Under access control an arbiter has no accounts. Reached by SSH it takes us for its own machine and tells its
    status to nobody in particular (MongoDB manual, "Localhost Exception"), but not the configuration with the set's
    id: it would stand as a set of its own, beside the one that counts it.
    """
    return None if found is not None and server.arbiter and "config" in found.missing else found


class _Asking:
    """Asks, and notes what was not told."""

    def __init__(self, session: Asks, limit_s: float, at: float) -> None:
        self._session = session
        self._limit_s = limit_s
        self._at = at
        self._stopped = 0
        self.problems: list[Problem] = []

    def reply(self, read: MongoRead) -> Reply | None:
        try:
            return self._session.ask(read, limit_s=self._limit_s)
        except Unreachable:
            raise
        except QueryFailed as problem:
            self._stopped += problem.errno == TIME_UP
            if self._stopped >= _MOST_STOPPED:  # it would stop the others too, each after so many seconds
                raise TimedOut(problem.sentence, host=problem.host) from problem
            if problem.errno not in _ANSWERS:
                self.problems.append(Problem(read.name, problem.sentence, problem.code))
        except UserError as problem:
            self.problems.append(Problem(read.name, problem.sentence, problem.code))
        return None

    def read_at(self, read: MongoRead) -> float:
        """Return when a reply was read, by our clock; one that was remembered is older than this reading."""
        told = getattr(self._session, "read_at", None)
        return self._at if told is None else float(told(read))

    def body(self, read: MongoRead) -> Document | None:
        reply = self.reply(read)
        return None if reply is None else reply.body

    def documents(self, read: MongoRead) -> tuple[Document, ...] | None:
        reply = self.reply(read)
        return None if reply is None else reply.documents


def _contents(asking: _Asking, server: MongoServer) -> Contents | None:
    """Return which databases of a data-bearing member hold something; not its own: 'local' is each one's alone."""
    if server.role != "member" or server.arbiter or server.at is None:
        return None
    answer = asking.body(reads.DATABASES)
    if answer is None:
        return None
    listed = answer.get("databases")
    if not isinstance(listed, list) or len(listed) > _MOST_DATABASES:
        return None  # cut, two members' lists would differ: they come in no order
    found = documents(listed, _MOST_DATABASES)
    names = (line(one.get("name")) for one in found if one.get("empty") is False)
    return Contents(tuple(sorted(name for name in names if name not in {"", "local"})), asking.read_at(reads.DATABASES))


def _metadata(asking: _Asking, server: MongoServer) -> Metadata | None:
    """Return the hashes of a mirrored config server's metadata: one of a set has an oplog to be judged by.

    One on an empty folder answers that it has no collection: that is told, and no read that failed.
    """
    if server.config != "mirrored":
        return None
    answer = asking.body(reads.CONFIG_HASH)
    if answer is None or "collections" not in answer:
        return None
    return Metadata(tuple(parse_hashes(answer).items()), asking.read_at(reads.CONFIG_HASH))


def _oplog(asking: _Asking) -> Oplog | None:
    ends = asking.documents(reads.OPLOG_FIRST), asking.documents(reads.OPLOG_LAST)
    return parse_oplog(ends[0] or (), ends[1] or (), asking.body(reads.OPLOG_SIZE))


def _cluster(asking: _Asking, server: MongoServer) -> ShardedCluster | None:
    """Return the cluster as a mongos or a config server has it; a shard's server knows its config servers only."""
    if server.shard:
        state = asking.body(reads.SHARDING_STATE)
        return None if state is None else parse_cluster(sharding_state=state)
    router = server.role == "router"
    if not router and not server.config:
        return None
    shards = asking.documents(reads.CONFIG_SHARDS)
    if shards is None and router:
        listed = asking.body(reads.LIST_SHARDS)
        shards = None if listed is None else tuple(listed_shards(listed))
    return parse_cluster(
        version=asking.documents(reads.CONFIG_VERSION),
        shards=shards,
        routers=asking.documents(reads.CONFIG_MONGOS),
        settings=asking.documents(reads.CONFIG_SETTINGS),
        locks=asking.documents(reads.CONFIG_LOCKS),
        shard_map=asking.body(reads.SHARD_MAP) if router else None,
        balancer=asking.body(reads.BALANCER) if router and (server.wire or 0) >= _SINCE_34 else None,
    )
