"""A sharded cluster as a mongos, or a config server, tells it: its shards, its config servers, its mongos.

Sources: MongoDB manual, "Config Database", "listShards", "getShardMap"; replies of 3.2.5. A mongos that swapped from
mirrored config servers to a replica set goes on showing the old string among its options (tried): what it uses stands
in getShardMap and in serverStatus.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from services.connections.mongo.document import Document
from services.facts.mongodb.server import ConfigKind
from services.facts.mongodb.values import (
    MOST_MEMBERS,
    MOST_SHARDS,
    PORT,
    Place,
    documents,
    inside,
    line,
    moment,
    number,
    place,
    yes,
)
from services.moments import utc_time

ALIVE_S = 60.0
"""A mongos of 3.2 writes its ping each round of its balancer, every 10 s (source, balance.cpp): six were left out."""
_MODES = {"full": True, "autoSplitOnly": False, "off": False}
"""Whether the balancer moves chunks in this mode (MongoDB source, balancer_configuration.cpp: shouldBalance)."""
_MOST_STRING = 8000
CONFIG_PORT = 27019
"""Where a mongos looks for a config server that its string names without a port (3.2 source, mongos_options.cpp)."""
_HELD = 2


@dataclass(frozen=True, slots=True)
class HostList:
    """ "rs0/h1:27018,h2:27018": the hosts of a replica set, or without a name just hosts."""

    set_name: str = ""
    places: tuple[Place, ...] = ()

    @property
    def kind(self) -> ConfigKind:
        """Return of which kind config servers with this string are."""
        return "replica-set" if self.set_name else "mirrored" if self.places else ""


@dataclass(frozen=True, slots=True)
class Shard:
    """One shard. draining: its data is being moved away, to remove it."""

    name: str
    hosts: HostList
    draining: bool = False
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Router:
    """A mongos that wrote itself down. pinged_at: by the clock of the config server."""

    name: Place
    version: str = ""
    pinged_at: float | None = None
    up_s: int | None = None

    def alive(self, now: float | None) -> bool | None:
        """Return whether it wrote in the last minute before `now`, by the cluster's clock; None: not known."""
        if now is None or self.pinged_at is None:
            return None
        return now - self.pinged_at < ALIVE_S


@dataclass(frozen=True, slots=True)
class ShardedCluster:
    """The cluster, as one process of it tells it. None is 'not read'.

    Attributes:
        id: given when it was made. config: what the asked process uses now; '' and empty where it does not say.
        balancer: switched on, so that it moves chunks. balancer_mode: as 3.4 and newer call it.
        moving: locks that are held, by their names ('balancer' or a collection's).
    """

    id: str = ""
    config: HostList = HostList()
    shards: tuple[Shard, ...] | None = None
    routers: tuple[Router, ...] | None = None
    balancer: bool | None = None
    balancer_mode: str = ""
    balancing: bool | None = None
    locks: tuple[str, ...] | None = None


def parse_hosts(text: object, port: int = PORT) -> HostList:
    """Return the hosts of a connection string.

    Args:
        port: of those without one; of config servers CONFIG_PORT.
    """
    if not isinstance(text, str):
        return HostList()
    name, slash, rest = text[:_MOST_STRING].rpartition("/")
    parts = [part for part in rest.split(",")[:MOST_MEMBERS] if part.strip()]
    return HostList(line(name) if slash else "", tuple(place(part, port) for part in parts))


def parse_cluster(
    *,
    version: Sequence[Document] | None = None,
    shards: Sequence[Document] | None = None,
    routers: Sequence[Document] | None = None,
    settings: Sequence[Document] | None = None,
    locks: Sequence[Document] | None = None,
    shard_map: Document | None = None,
    sharding_state: Document | None = None,
    balancer: Document | None = None,
) -> ShardedCluster:
    """Return the cluster out of the config database's documents and of what the process says; None was not read."""
    found = (line(one.get("clusterId")) for one in (version or ()))
    used = inside(shard_map or {}, "map").get("config") or (sharding_state or {}).get("configServer")
    return ShardedCluster(
        id=next((one for one in found if one), ""),
        config=parse_hosts(used, CONFIG_PORT),
        shards=None if shards is None else tuple(map(_shard, shards[:MOST_SHARDS])),
        routers=None if routers is None else tuple(map(_router, routers[:MOST_SHARDS])),
        balancer=_balancer(settings, balancer),
        balancer_mode=line((balancer or {}).get("mode"), 40),
        balancing=yes((balancer or {}).get("inBalancerRound")),
        locks=None if locks is None else tuple(line(one.get("_id")) for one in locks if _is_held(one)),
    )


def holders_of(locks: Sequence[Document], now: float) -> tuple[str, ...]:
    """Return of each lock that is held who holds it, for what and since when, as far as it says so (config.locks).

    Args:
        now: epoch seconds, for its age.
    """
    return tuple(_holder(one, now) for one in locks if _is_held(one))


def _holder(lock: Document, now: float) -> str:
    since = moment(lock.get("when"))
    age = f"{max(0, now - since) / 60:.0f} min, since {utc_time(since):%Y-%m-%d %H:%M:%S} UTC" if since else ""
    told = (("by", line(lock.get("who"))), ("for", line(lock.get("why"))), ("held", age))
    name, said = line(lock.get("_id")), ", ".join(f"{word} {text}" for word, text in told if text)
    return f"{name} ({said})" if said else name


def listed_shards(answer: Document) -> list[Document]:
    """Return the documents of listShards."""
    return documents(answer.get("shards"), MOST_SHARDS)


def _shard(document: Document) -> Shard:
    tags = document.get("tags")
    return Shard(
        name=line(document.get("_id")),
        hosts=parse_hosts(document.get("host")),
        draining=yes(document.get("draining")) is True,
        tags=tuple(line(one, 80) for one in tags[:20]) if isinstance(tags, list) else (),
    )


def _router(document: Document) -> Router:
    return Router(
        name=place(document.get("_id")),
        version=line(document.get("mongoVersion"), 40),
        pinged_at=moment(document.get("ping")),
        up_s=number(document.get("up")),
    )


def _is_held(lock: Document) -> bool:
    """Return whether a lock says that something is on its way.

    From 3.4 on the primary of the config servers holds 'balancer' for good, so that no mongos of 3.2 moves anything
    (MongoDB manual 3.4, "sh.getBalancerLockDetails"): what it does move it locks by the collection.
    """
    for_good = lock.get("_id") == "balancer" and lock.get("process") == "ConfigServer"
    return number(lock.get("state")) == _HELD and not for_good


def _balancer(settings: Sequence[Document] | None, status: Document | None) -> bool | None:
    """Return whether it is switched on: 3.4 and newer say a mode; before, it is on unless a setting stops it."""
    mode = line((status or {}).get("mode"), 40)
    if mode:
        return _MODES.get(mode)
    if settings is None:
        return None
    told = next((one for one in settings if one.get("_id") == "balancer"), {})
    stopped = yes(told.get("stopped", False))
    by_mode = _MODES.get(line(told.get("mode"), 40)) if "mode" in told else True
    return False if stopped or by_mode is False else None if stopped is None or by_mode is None else True
