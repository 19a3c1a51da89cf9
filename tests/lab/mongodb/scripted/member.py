"""One server's part in a replica set: what it knows, its oplog, what it writes, whom it waits for."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from bson.int64 import Int64
from bson.objectid import ObjectId
from bson.timestamp import Timestamp

from tests.lab.mongodb.scripted.options import Options
from tests.lab.mongodb.scripted.set_config import majority_of, protocol_of
from tests.lab.mongodb.scripted.store import OPLOG, Store
from tests.lab.mongodb.scripted.wire import Doc, Refused

HEARTBEAT_S, ELECTION_S, DOWN_S = 0.5, 1.5, 2.5
"""The real ones: 2, 10 and 10."""
STARTUP, PRIMARY, SECONDARY, RECOVERING, STARTUP2, ARBITER, DOWN, ROLLBACK, REMOVED = 0, 1, 2, 3, 5, 7, 8, 9, 10
WORDS = {
    STARTUP: "STARTUP",
    PRIMARY: "PRIMARY",
    SECONDARY: "SECONDARY",
    RECOVERING: "RECOVERING",
    STARTUP2: "STARTUP2",
    ARBITER: "ARBITER",
    DOWN: "(not reachable/healthy)",
    ROLLBACK: "ROLLBACK",
    REMOVED: "REMOVED",
}
CONFIG, VOTE = "local.system.replset", "local.replset.election"
NOWHERE = Timestamp(0, 0)


@dataclass(frozen=True, slots=True)
class Place:
    """A place in an oplog: the moment and the term that wrote it, -1 under protocolVersion 0."""

    ts: Timestamp = NOWHERE
    term: int = -1

    def form(self, protocol: int) -> Any:
        """As a status shows it."""
        return {"ts": self.ts, "t": Int64(self.term)} if protocol else self.ts


@dataclass
class Seen:
    """Another member, as the heartbeats told. heard, received: seconds since 1970 of the last answer, and question."""

    up: bool = False
    state: int = STARTUP
    place: Place = field(default_factory=Place)
    version: int = -1
    heard: float = 0.0
    received: float = 0.0
    since: float = 0.0
    elected: Timestamp | None = None
    source: str = ""
    said: str = ""


class Member:
    """Its state. Every method is called with `lock` held, but `wait_for`, which takes it.

    Attributes:
        held: nothing that others wrote is applied (fsyncLock). maintenance: it says RECOVERING (replSetMaintenance).
        may_not_before: until when it takes part in no election of its own (monotonic).
    """

    def __init__(self, name: str, options: Options, store: Store, dropped: Callable[[], None]) -> None:
        self.name, self.options, self.store = name, options, store
        self.lock = threading.RLock()
        self.moved = threading.Condition(self.lock)
        self.active = "--replSet" in options
        self.state = STARTUP
        self.config: Doc | None = None
        self.seen: dict[str, Seen] = {}
        self.source = ""
        self.held = self.maintenance = False
        self.may_not_before = 0.0
        self.primary_at = time.monotonic()
        self.elected: Timestamp | None = None
        self.election_id: ObjectId | None = None
        self.rbid = random.getrandbits(30)
        self._dropped = dropped
        self.voted = int(next(iter(store.collections.get(VOTE, [])), {"term": -1})["term"])
        kept = store.collections.get(CONFIG, [])
        self.term = -1
        if kept and self.active and kept[0]["_id"] == options["--replSet"]:
            with self.lock:
                self.install(kept[0])

    @property
    def protocol(self) -> int:
        """The protocolVersion in force."""
        return protocol_of(self.config) if self.config else 0

    @property
    def last(self) -> Place:
        """The end of its oplog."""
        rows = self.store.collections.get(OPLOG)
        return Place(rows[-1]["ts"], int(rows[-1].get("t", -1))) if rows else Place()

    @property
    def own(self) -> Doc | None:
        """Its line of the configuration."""
        rows = self.config["members"] if self.config else []
        return next((one for one in rows if one["host"] == self.name), None)

    @property
    def others(self) -> list[Doc]:
        """The other members' lines, where it is one itself."""
        if self.config is None or self.own is None:
            return []
        return [one for one in self.config["members"] if one["host"] != self.name]

    def shown_state(self) -> int:
        """The state that it tells."""
        return RECOVERING if self.maintenance and self.state == SECONDARY else self.state

    def begin(self, config: Doc) -> None:
        """Found a set: its first entry has no term. One without --replSet (a mirror) only writes it down."""
        first = {"ts": self._next(), "h": Int64(random.getrandbits(62)), "v": 2, "op": "n", "ns": ""}
        self.store.rows(OPLOG).append({**first, "o": {"msg": "initiating set"}})
        self.store.collections[CONFIG] = [config]
        self.store.save()
        if self.active:
            self.install(config)

    def install(self, config: Doc) -> None:
        """Go by a configuration from now on, and keep it."""
        before = self.protocol if self.config else None
        self.config = config
        self.store.collections[CONFIG] = [config]
        self.store.save()
        hosts = {one["host"] for one in config["members"]}
        self.seen = {host: self.seen.get(host, Seen()) for host in hosts - {self.name}}
        if self.protocol:
            self.term = max(self.term, 0, self.last.term, self.voted)
        else:
            self.term = self.voted = -1
        if before is not None and before != self.protocol and self.state == PRIMARY:
            self._crown()
        own = self.own
        if own is None or ("--configsvr" in self.options and not self._fit()):
            self.step_down(REMOVED)
        elif own["arbiterOnly"]:
            self.state = ARBITER
        elif self.state in {STARTUP, REMOVED, ARBITER}:
            self.state = SECONDARY if self.last.ts != NOWHERE else STARTUP2
            self.primary_at = time.monotonic()
        self.moved.notify_all()

    def _fit(self) -> bool:
        """A member of a config replica set must have WiredTiger; with a mirror's mode it may have another engine."""
        return self.options.mirrored or self.options.engine == "wiredTiger"

    def learn_term(self, term: int) -> None:
        """A higher term ends a primary's own."""
        if self.protocol and term > self.term:
            self.term = term
            if self.state == PRIMARY:
                self.step_down()

    def become_primary(self) -> None:
        """Take writes from now on. Under protocolVersion 1 the term begins with an entry of its own."""
        self.state, self.source = PRIMARY, ""
        self._crown()
        if self.protocol:
            self.write({"op": "n", "ns": "", "o": {"msg": "new primary"}})
        self.moved.notify_all()

    def _crown(self) -> None:
        self.elected = self._next()
        self.election_id = ObjectId(f"7fffffff{max(self.term, 0):016x}") if self.protocol else ObjectId()

    def step_down(self, to: int = SECONDARY) -> None:
        """Take no more writes; a primary drops its connections."""
        was_primary = self.state == PRIMARY
        self.state, self.elected, self.election_id = to, None, None
        self.primary_at = time.monotonic()
        self.moved.notify_all()
        if was_primary:
            self._dropped()

    def write(self, entry: Doc) -> Place:
        """Do and note one change. Of a server in no set nothing is noted."""
        if self.config is not None:
            ts = self._next()
            term = {"t": Int64(self.term)} if self.protocol else {}
            self.store.rows(OPLOG).append({"ts": ts, **term, "h": Int64(random.getrandbits(62)), "v": 2, **entry})
        self.store.apply(entry)
        self.moved.notify_all()
        return self.last

    def _next(self) -> Timestamp:
        now, last = int(time.time()), self.last.ts
        return Timestamp(now, 1) if now > last.time else Timestamp(last.time, last.inc + 1)

    def reached(self, place: Place) -> list[str]:
        """The data-bearing members that have this entry."""
        found = [self.name] if self._behind_or_at(place, self.last) else []
        with_data = [one["host"] for one in self.others if not one["arbiterOnly"]]
        return [*found, *(host for host in with_data if self._behind_or_at(place, self.seen[host].place))]

    def _behind_or_at(self, place: Place, other: Place) -> bool:
        return place.ts <= other.ts and (not self.protocol or place.term <= other.term)

    def newer_than(self, other: Place) -> bool:
        """Whether its own oplog reaches further."""
        own = self.last
        return (own.term, own.ts) > (other.term, other.ts) if self.protocol else own.ts > other.ts

    def wait_for(self, place: Place, concern: Doc) -> Doc:
        """Wait until as many have it as a write concern asks; what the reply says of it where they have not."""
        wanted, limit = concern.get("w", 1), int(concern.get("wtimeout") or 0)
        deadline = time.monotonic() + limit / 1000 if limit else None
        with self.lock:
            if self.config is None or not self.active:
                if isinstance(wanted, int) and wanted > 1:
                    raise Refused(2, "cannot use 'w' > 1 when a host is not replicated")
                return {}
            while not self._enough(place, wanted):
                if self.state != PRIMARY:
                    words = "Not master while waiting for write concern"
                    return {"writeConcernError": {"code": 10107, "errmsg": words}}
                if deadline is not None and time.monotonic() >= deadline:
                    said = {"code": 64, "errInfo": {"wtimeout": True}, "errmsg": "waiting for replication timed out"}
                    return {"writeConcernError": said}
                self.moved.wait(0.1)
        return {}

    def _enough(self, place: Place, wanted: int | str) -> bool:
        if self.config is None:
            return True
        has = self.reached(place)
        if isinstance(wanted, str):
            voters = {one["host"] for one in self.config["members"] if one["votes"]}
            return len(voters & set(has)) >= majority_of(self.config)
        return len(has) >= wanted
