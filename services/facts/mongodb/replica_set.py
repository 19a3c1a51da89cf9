"""A replica set as one member sees it: replSetGetStatus and replSetGetConfig, joined by the members' ids.

Sources: MongoDB manual, "replSetGetStatus", "Replica Set Configuration", "Replica Set Member States"; replies of 3.2.5.
An optime is a bare timestamp under protocolVersion 0 and {ts, t} under 1 (tried on 3.2.5). A member that is not
reached is told with health 0 and an empty optime: where it stands is then not known.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from services.connections.mongo.document import Document, Stamp, Value
from services.facts.mongodb.values import (
    MOST_MEMBERS,
    Place,
    documents,
    inside,
    line,
    moment,
    number,
    place,
    stamp,
    yes,
)
from services.facts.reading import amount

STATES: Final = {
    0: "STARTUP",
    1: "PRIMARY",
    2: "SECONDARY",
    3: "RECOVERING",
    5: "STARTUP2",
    6: "UNKNOWN",
    7: "ARBITER",
    8: "DOWN",
    9: "ROLLBACK",
    10: "REMOVED",
}
"""MongoDB manual, "Replica Set Member States"."""
VOTING: Final = frozenset({"PRIMARY", "SECONDARY", "STARTUP2", "RECOVERING", "ARBITER", "ROLLBACK"})
"""In which a member may cast its vote (the same page)."""
SERVING: Final = frozenset({"PRIMARY", "SECONDARY", "ARBITER"})
"""In which a member does its part (the same page)."""
_MOST_TAGS = 20
_MOST_WORDS = 300
_NEW = frozenset({"STARTUP", "STARTUP2"})


@dataclass(frozen=True, slots=True)
class SetMember:
    """One member, as the asked one sees and configures it.

    Attributes:
        place: how the set calls it. own: it is the member that was asked.
        reached: it answers heartbeats (of itself: True); None where only the configuration names it.
        state: of STATES, '' where it was not told, or is none of them.
        votes, priority, hidden, arbiter, builds_indexes, tags, delay_s: as configured; None is 'not known'.
        optime: the last operation that it has applied; None where it is not reached, or has none. optime_term: -1 under
            protocolVersion 0. heard_at: of the last heartbeat, by the asked member's clock.
        syncs_from: whom it reads the oplog of. elected_at: since when it is primary.
    """

    id: int
    place: Place
    own: bool = False
    reached: bool | None = None
    state: str = ""
    votes: int | None = None
    priority: float | None = None
    hidden: bool | None = None
    arbiter: bool | None = None
    builds_indexes: bool | None = None
    tags: tuple[tuple[str, str], ...] = ()
    delay_s: int | None = None
    optime: Stamp | None = None
    optime_term: int | None = None
    heard_at: float | None = None
    ping_ms: int | None = None
    uptime_s: int | None = None
    syncs_from: Place | None = None
    elected_at: float | None = None
    config_version: int | None = None
    said: str = ""

    def behind_s(self, leading: Stamp | None, at: float | None = None) -> int | None:
        """Return by how many seconds it is behind an entry of its primary; of a delayed member its delay is meant.

        That is how far apart the two entries are, or for how long the primary's has been there and is missing here.
        The second counts where nothing more is written: of a set whose majority writes hang, the member that lets them
        hang is not a second behind by its entries alone (tried on 3.2.5 with fsyncLock).

        None: it has no data, or one of the two entries is not known.

        Args:
            at: when this member was seen, by the primary's clock; None: not known by that clock.
        """
        if leading is None or self.optime is None or self.arbiter:
            return None
        missing = int(at - leading.seconds) - 1 if at is not None and self.optime < leading else 0  # whole seconds
        return max(0, max(leading.seconds - self.optime.seconds, missing) - (self.delay_s or 0))


MOST_VOTES = 7
"""MongoDB manual, "Replica Set Members": 50 members, 7 of them with a vote (3.0 and newer)."""


@dataclass(frozen=True, slots=True)
class ReplicaSet:
    """A replica set in one member's eyes.

    Attributes:
        protocol: 0 or 1; term: -1 under protocolVersion 0. version: of the configuration. at: by the member's clock.
        config_servers: the set holds a sharded cluster's metadata. id: that it got when it was made (3.2 and newer).
        votes, majority: of all members; what the configuration gives, else what newer servers say; None: not known.
        missing: what was not read, 'status' or 'config'.
    """

    name: str
    members: tuple[SetMember, ...] = ()
    at: float | None = None
    protocol: int | None = None
    version: int | None = None
    term: int | None = None
    config_servers: bool = False
    chaining: bool | None = None
    heartbeat_ms: int | None = None
    election_ms: int | None = None
    votes: int | None = None
    majority: int | None = None
    missing: tuple[str, ...] = ()
    id: str = ""

    @property
    def own(self) -> SetMember | None:
        """Return the member that was asked; None where the set does not have it (any more)."""
        return next((one for one in self.members if one.own), None)

    @property
    def primary(self) -> SetMember | None:
        """Return whom this member takes for the primary, None where for nobody; of two the one elected later."""
        claim = [one for one in self.members if one.state == "PRIMARY" and one.reached]
        return max(claim, key=lambda one: one.elected_at or 0.0, default=None)


def parse_set(status: Document | None, config: Document | None) -> ReplicaSet | None:
    """Return the set, None where neither reply names one.

    Args:
        status: the answer to replSetGetStatus; config: to replSetGetConfig, whole; None where it was not read.
    """
    status, configured = status or {}, inside(config or {}, "config")
    name = line(status.get("set")) or line(configured.get("_id"))
    if not name:
        return None
    told = {
        key: one
        for one in documents(status.get("members"), MOST_MEMBERS)
        if (key := number(one.get("_id"))) is not None
    }
    written = {
        key: one
        for one in documents(configured.get("members"), MOST_MEMBERS)
        if (key := number(one.get("_id"))) is not None
    }
    members = tuple(_member(key, told.get(key, {}), written.get(key), status) for key in sorted({*told, *written}))
    counted = number(status.get("votingMembersCount"))
    if written:
        members = _without_newly_added(members, counted)
    votes = _votes(members) if written else counted
    if votes is not None and (votes > MOST_VOTES or counted not in {None, votes}):
        votes = None  # no server takes so many, or it counts otherwise itself: what that hides is not counted
    majority = number(status.get("majorityVoteCount")) if not written else votes // 2 + 1 if votes is not None else None
    settings = inside(configured, "settings")
    return ReplicaSet(
        name=name,
        members=members[:MOST_MEMBERS],
        at=moment(status.get("date")),
        protocol=number(configured.get("protocolVersion", 0)) if written else None,
        version=number(configured.get("version")),
        term=number(status.get("term")),
        config_servers=yes(configured.get("configsvr", status.get("configsvr"))) is True,
        chaining=yes(settings.get("chainingAllowed")),
        heartbeat_ms=number(settings.get("heartbeatIntervalMillis", status.get("heartbeatIntervalMillis"))),
        election_ms=number(settings.get("electionTimeoutMillis")),
        votes=votes,
        majority=majority,
        missing=(*(() if told else ("status",)), *(() if written else ("config",))),
        id=line(settings.get("replicaSetId"), 40),
    )


def _without_newly_added(members: tuple[SetMember, ...], counted: int | None) -> tuple[SetMember, ...]:
    """Take the vote of members in their first initial sync, where the server's own count of voters says so.

    Since 5.0 such a member has none until it is SECONDARY, and replSetGetConfig leaves out that it is `newlyAdded`
    (the manual's "Add Members to a Replica Set"; repl_set_config.cpp, toBSONWithoutNewlyAdded).
    """
    new = {one.id for one in members if one.votes and one.state in _NEW}
    if counted is None or not new or (_votes(members) or 0) - len(new) != counted:
        return members
    return tuple(replace(one, votes=0) if one.id in new else one for one in members)


def _votes(members: tuple[SetMember, ...]) -> int | None:
    votes = [one.votes for one in members]
    return None if None in votes else sum(vote or 0 for vote in votes)


def _member(key: int, document: Document, written: Document | None, status: Document) -> SetMember:
    """Return a member out of what is told of it ({} where nothing is) and of what is written of it."""
    own = yes(document.get("self")) is True
    reached = (own or yes(document.get("health")) is True) if document else None
    state = STATES.get(_or(number(document.get("state")), -1), "")
    optime, term = _optime(document.get("optime")) if reached else (None, None)
    # 4.4 and newer say syncSourceHost, '' for nobody; 3.2 says syncingTo of itself at the top too.
    source = document.get("syncSourceHost") or document.get("syncingTo") or (status.get("syncingTo") if own else None)
    given = written if written is not None else {}
    member = SetMember(
        id=key,
        place=place(given.get("host") or document.get("name")),
        own=own,
        reached=reached,
        state=state,
        optime=optime,
        optime_term=term,
        heard_at=moment(document.get("lastHeartbeat")),
        ping_ms=number(document.get("pingMs")),
        uptime_s=number(document.get("uptime")) if reached else None,
        syncs_from=place(source) if source and reached else None,
        elected_at=moment(document.get("electionDate")),
        config_version=number(document.get("configVersion")),
        said=line(
            document.get("lastHeartbeatMessage") or document.get("infoMessage") or document.get("errmsg"), _MOST_WORDS
        ),
    )
    return _configured(member, written)


def _configured(member: SetMember, written: Document | None) -> SetMember:
    """Return a member with what the configuration says of it; it leaves out what is as usual."""
    if written is None:
        return member
    return replace(
        member,
        votes=_vote(written.get("votes", 1)),
        priority=amount(written.get("priority", 1)),
        hidden=yes(written.get("hidden", False)),
        arbiter=yes(written.get("arbiterOnly", False)),
        builds_indexes=yes(written.get("buildIndexes", True)),
        tags=_tags(written.get("tags")),
        delay_s=number(written.get("secondaryDelaySecs", written.get("slaveDelay", 0))),  # renamed in 5.0
    )


def _or(value: int | None, otherwise: int) -> int:
    return otherwise if value is None else value


def _vote(value: Value) -> int | None:
    """Return 0 or 1: no other number of votes is taken since 3.0."""
    votes = number(value)
    return votes if votes in {0, 1} else None


def _tags(value: Value) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, dict):
        return ()
    return tuple((line(name, 80), line(told, 80)) for name, told in list(value.items())[:_MOST_TAGS])


def _optime(value: Value) -> tuple[Stamp | None, int | None]:
    if isinstance(value, dict):
        return stamp(value.get("ts")), number(value.get("t"))
    return stamp(value), -1 if isinstance(value, Stamp) else None
