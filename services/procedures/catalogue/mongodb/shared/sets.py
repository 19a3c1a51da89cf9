"""The replica sets of what was gathered: members as hosts of the plan, primary, configuration. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from services.discovery.families.mongodb.claims import set_id
from services.facts.mongodb.model import MongoFacts
from services.facts.mongodb.replica_set import ReplicaSet, SetMember
from services.facts.mongodb.sharding import Shard, parse_hosts
from services.facts.mongodb.values import Place
from services.facts.reading import without_port
from services.procedures.plan.host_facts import Facts, HostFacts

HEARD_S = 5.0
"""So old may be what a member heard of another one: heartbeats go each 2 s (MongoDB manual, "settings")."""


@dataclass(frozen=True, slots=True)
class GatheredSet:
    """One replica set.

    Attributes:
        hosts: the members that told of it, by the inventory's names; views: what each told, in the same order.
        primaries: those that are primary by their own word.
        strangers: members that no host which was asked is ('10.0.0.4:27018'), but for arbiters that others reach.
        unread: the same as sentences: a host of the inventory that does not answer, or none of it.
        mute: these arbiters: (how the set calls one, the host of the inventory that is it, '' for none).
    """

    name: str
    hosts: tuple[str, ...]
    views: tuple[MongoFacts, ...]
    primaries: tuple[str, ...]
    strangers: tuple[str, ...]
    mute: tuple[tuple[str, str], ...] = ()
    unread: tuple[str, ...] = ()

    @property
    def primary(self) -> str:
        """Return the only primary, '' where there is none, or two."""
        return self.primaries[0] if len(self.primaries) == 1 else ""

    @property
    def speaker(self) -> str:
        """Return the member that checks of the set are told of: its primary, else the first."""
        return self.primary or self.hosts[0]

    @property
    def view(self) -> ReplicaSet:
        """Return the set in its primary's eyes, else in the first member's."""
        found = self.views[self.hosts.index(self.speaker)].set
        assert found is not None, "only a member that reports a set is in one"
        return found

    @property
    def protocol(self) -> int | None:
        """Return the protocolVersion that all members have, None where it is not known, or they differ."""
        protocols = {view.set.protocol for view in self.views if view.set is not None}
        return protocols.pop() if len(protocols) == 1 else None

    def own(self, host: str) -> SetMember | None:
        """Return a member as it sees itself."""
        view = self.views[self.hosts.index(host)].set
        return view.own if view is not None else None

    def lag_s(self, host: str) -> int | None:
        """Return by how many seconds a member with data is behind its primary (of a delayed one its delay is meant),
        None where that is not known.

        The primary and the member were asked at two moments: on a set that was idle for long, a write between them
        would tell the idle time as a lag. What the member itself knows of the primary is of its own moment; where that
        is no older than a heartbeat or two and less, it counts. So a lag is told some seconds too small at most.
        """
        mine, leading = self.own(host), self.own(self.primary) if self.primary else None
        if mine is None or leading is None:
            return None
        first = self.views[self.hosts.index(self.primary)].set
        lag = mine.behind_s(leading.optime, first.at if first is not None else None)
        known = self._primary_seen_by(host)
        seen = mine.behind_s(known.optime, known.heard_at) if known is not None else None
        return lag if lag is None or seen is None else min(lag, seen)

    def _primary_seen_by(self, host: str) -> SetMember | None:
        """Return the primary as a member has heard of it just now, None where it heard nothing."""
        view, leading = self.views[self.hosts.index(host)].set, self.own(self.primary)
        found = next((m for m in view.members if leading and m.id == leading.id), None) if view is not None else None
        if view is None or found is None or view.at is None or found.heard_at is None:
            return None
        return found if view.at - found.heard_at <= HEARD_S else None

    @property
    def arbiters(self) -> tuple[str, ...]:
        """Return the hosts of the arbiters that tell nobody their set."""
        return tuple(host for _, host in self.mute if host)

    @property
    def successors(self) -> tuple[SetMember, ...]:
        """Return who may become primary after the one there is: it serves, with data, a vote and a priority."""
        others = (one for one in self.view.members if not one.own and not one.arbiter and one.state == "SECONDARY")
        return tuple(one for one in others if (one.priority or 0) > 0 and one.votes != 0)


def sets_of(facts: Facts) -> tuple[GatheredSet, ...]:
    """Return the sets of the cluster, by name; of hosts that tell of none there is none."""
    found: dict[str, list[tuple[str, MongoFacts]]] = {}
    for host in (facts.host(name) for name in facts.members):
        mongo = mongo_of(host)
        if mongo is not None and mongo.set is not None:
            found.setdefault(set_id(mongo.set), []).append((host.host, mongo))
    arbiters = _arbiters(facts)
    sets = (_gathered(members, arbiters) for members in found.values())
    named = (replace(one, unread=tuple(_unread(facts, place) for place in one.strangers)) for one in sets)
    return tuple(sorted(named, key=lambda one: one.name))


def _unread(facts: Facts, place: str) -> str:
    """Say of a member that was not read who it is: a set calls its members by addresses."""
    at = without_port(place)
    host = next((one.host for one in facts.hosts if at in {one.host, one.address}), "")
    if not host:
        return f"{place} is not in the inventory, or is not queried by the address in its set"
    return f"{host} ({place}) does not answer" if host != at else f"{place} does not answer"


def parts_of(sets: Iterable[GatheredSet], hosts: tuple[str, ...]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return (id, its hosts of a plan) of each set, for `Plan.parts`: without its mongos it is a cluster of its own."""
    keys = ((one, tuple(h for h in (*one.hosts, *one.arbiters) if h in hosts)) for one in sets)
    return tuple((set_id(one.view), known) for one, known in keys if known)


def mongo_of(host: HostFacts) -> MongoFacts | None:
    """Return what a host's MongoDB server told."""
    return host.node.mongo if host.node is not None else None


def names_of(host: HostFacts) -> tuple[str, ...]:
    """Return what a server may be called, 'host:port': by our address, or by its own name."""
    mongo = mongo_of(host)
    if mongo is None:
        return ()
    return (f"{host.address.lower()}:{mongo.server.port}", *map(at, parse_hosts(mongo.server.host).places))


def at(place: Place) -> str:
    """Return a place as 'host:port', also where the port was left out for being the usual one."""
    return f"{place.host}:{place.port}"


def _votes(member: SetMember) -> bool:
    """Return whether it is an arbiter that others reach: under access control it has no accounts, and tells nobody."""
    return member.arbiter is True and member.state == "ARBITER" and member.reached is True


def _arbiters(facts: Facts) -> dict[str, str]:
    """Return how a set calls an arbiter that was read -> its host: of access control it tells its greeting alone."""
    views = ((name, mongo_of(facts.host(name))) for name in facts.members)
    return {m.server.own.name: n for n, m in views if m is not None and m.server.arbiter and m.server.own is not None}


def _gathered(members: list[tuple[str, MongoFacts]], arbiters: dict[str, str]) -> GatheredSet:
    owns = {host: one for host, mongo in members if mongo.set is not None and (one := mongo.set.own) is not None}
    leading = tuple(host for host, one in owns.items() if one.state == "PRIMARY")
    here = {one.place.name for one in owns.values()}
    named = [one for _, mongo in members if mongo.set is not None for one in mongo.set.members]
    others = [one for one in named if one.place.name not in here]
    strangers = tuple(dict.fromkeys(one.place.name for one in others if not _votes(one)))
    mute = dict.fromkeys(one.place.name for one in others if _votes(one))
    known = tuple((name, arbiters.get(name, "")) for name in mute)
    first = members[0][1].set
    assert first is not None, "see sets_of"
    hosts, views = zip(*members, strict=True)
    return GatheredSet(first.name, hosts, views, leading, strangers, known)


def listed_by(facts: Facts) -> tuple[Shard, ...] | None:
    """Return the shards that the metadata list, as whoever was read tells them; None where nobody could."""
    views = (mongo_of(facts.host(host)) for host in facts.members)
    lists = [
        m.cluster.shards for m in views if m is not None and m.cluster is not None and m.cluster.shards is not None
    ]
    return max(lists, key=len, default=None)
