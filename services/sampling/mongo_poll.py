"""One second's reads of a MongoDB server: its status and its set each second, what changes rarely each ten.

What it costs: of a data-bearing member hello, serverStatus, replSetGetStatus and the two ends of the oplog (finds by
natural order, a document each); of a mongos hello and serverStatus. None of them takes more than an intent lock
(MongoDB manual, "serverStatus"; source of 3.2, oplog reads by $natural walk nothing).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from services.clock import Clock
from services.connections.mongo.document import Document, Reply
from services.connections.ports import ObserverSession
from services.connections.reads import mongo as reads
from services.connections.reads.mongo import MongoRead
from services.errors import QueryFailed
from services.facts.mongodb.judged import lag_s
from services.facts.mongodb.model import MongoFacts
from services.facts.mongodb.numeric import status_values
from services.facts.mongodb.reading import MongoAnswer, read_mongodb
from services.sampling.settings import WatchSettings

EACH_TIME = frozenset(
    {reads.HELLO, reads.SERVER_STATUS, reads.SET_STATUS, reads.OPLOG_FIRST, reads.OPLOG_LAST, reads.SHARDING_STATE}
)
"""A shard's server tells by its sharding state which config servers it uses: it changes with one request."""
RARELY_S = {reads.DATABASES.name: 60.0, reads.CONFIG_HASH.name: 300.0}
"""Reads that cost the more the more there is. All servers are asked at the same moments, so that answers compare."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """A reply of a moment that is over; slot: of which stretch of time it is."""

    slot: int
    at: float
    answer: Reply | QueryFailed


@dataclass(slots=True)
class MongoPoll:
    """What a connection's polls remember between seconds; a new one after every loss of the connection."""

    replies: dict[str, _Kept] = field(default_factory=dict)
    set_version: object = None


@dataclass(frozen=True, slots=True)
class MongoResult:
    """What one poll gave. `at`, `mono`: middle of the whole reading; round_trip_s: of the greeting, one command."""

    at: float
    mono: float
    round_trip_s: float
    answer: MongoAnswer
    values: Mapping[str, float]


def poll_mongodb(session: ObserverSession, poll: MongoPoll, clock: Clock, settings: WatchSettings) -> MongoResult:
    """Read what is due. Raises UserError only where the server gives no greeting, or the connection ends."""
    paced = _Paced(session, poll, clock, settings.members_s)
    wall, started = clock.wall(), clock.monotonic()
    answer = read_mongodb(paced, limit_s=settings.answer_limit_s, at=wall)
    half = (clock.monotonic() - started) / 2
    values = dict(status_values(answer.status or {}))
    values.update(set_values(answer.facts))
    values["console.poll_ms"] = 2000.0 * half
    return MongoResult(wall + half, started + half, paced.greeting_s, answer, values)


def set_values(facts: MongoFacts) -> dict[str, float]:
    """Return what a server's own view gives as numbers: since when it is up, its lag, its oplog's window.

    A lag that can't be told (no primary in its view, it applies nothing) is no number.
    """
    found: dict[str, float] = {}
    if facts.server.uptime_s is not None:
        found["uptime"] = float(facts.server.uptime_s)  # by this name a server's answers are told from its host's
    own = facts.set.own if facts.set is not None else None
    behind = lag_s(facts.set, own) if facts.set is not None and own is not None else None
    if behind is not None:
        found["mongo.lag_s"] = float(behind)
    window = facts.oplog.window_s if facts.oplog is not None else None
    if window is not None:
        found["mongo.oplog_window_s"] = float(window)
    return found


class _Paced:
    """Asks through, and gives the last reply to a read that changes rarely until it is due again."""

    def __init__(self, session: ObserverSession, poll: MongoPoll, clock: Clock, every_s: float) -> None:
        self._session = session
        self._poll = poll
        self._clock = clock
        self._every_s = every_s
        self.greeting_s = 0.0

    def ask(self, read: MongoRead, *, limit_s: float = 5.0) -> Reply:
        if read in EACH_TIME:
            return self._fresh(read, limit_s)
        kept = self._poll.replies.get(read.name)
        at = self._clock.wall()
        slot = int(at // RARELY_S.get(read.name, self._every_s))
        if kept is None or kept.slot != slot:
            kept = _Kept(slot, at, self._asked(read, limit_s))
            self._poll.replies[read.name] = kept
        if isinstance(kept.answer, QueryFailed):
            raise kept.answer
        return kept.answer

    def read_at(self, read: MongoRead) -> float:
        """Return when the last reply to a read came, epoch seconds."""
        kept = self._poll.replies.get(read.name)
        return kept.at if kept is not None else self._clock.wall()

    def _asked(self, read: MongoRead, limit_s: float) -> Reply | QueryFailed:
        try:
            return self._session.ask(read, limit_s=limit_s)
        except QueryFailed as problem:  # not its own, or not for this account: that changes rarely too
            return problem

    def _fresh(self, read: MongoRead, limit_s: float) -> Reply:
        began = self._clock.monotonic()
        reply = self._session.ask(read, limit_s=limit_s)
        if read == reads.HELLO:
            self.greeting_s = self._clock.monotonic() - began
            self._notice(reply.body)
        return reply

    def _notice(self, hello: Document) -> None:
        """Forget what was read before the set's configuration changed, or the server became another one."""
        now = tuple(hello.get(name) for name in ("setName", "setVersion", "me", "configsvr", "msg"))
        if now != self._poll.set_version:
            self._poll.replies.clear()
            self._poll.set_version = now
