"""That no mongos and no shard came to the cluster since the plan was made.

What 'every mongos' and 'every shard' of a plan means is a list that others lengthen: it is read anew before an act that
relies on all of them, as all that stands is (plan/last_look.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from services.connections.reads import mongo as reads
from services.facts.mongodb.sharding import parse_cluster
from services.procedures.conditions.mongodb.told import LIMIT_S
from services.procedures.plan.condition import Answer, Declared, OfHost
from services.procedures.plan.looks import Asking, Past
from services.procedures.plan.remembering import Memory
from services.procedures.plan.scripted import World

CAME_MONGOS, CAME_SHARD = "came-mongos", "came-shard"
"""The names under which a scripted cluster keeps that somebody started another mongos, or added a shard."""
_STOP = "stop it, or give it a host of the inventory and plan anew"


@dataclass(frozen=True, slots=True)
class NoOtherRouter(OfHost):
    """Every mongos that wrote itself down on this config server as late as the others is one of these.

    It is the latest of them that the time is counted from, and no clock: while a mirror is down none can write.

    Attributes:
        names: 'host:port', each as it may write itself down; way: what is to be done about another one.
    """

    tag: ClassVar[str] = "config_servers.no-other-router"
    words: ClassVar[str] = "no other mongos to be alive than those of the plan, as {host} has it"

    names: tuple[str, ...]
    way: str = _STOP

    def declared(self) -> Declared:
        """See Condition."""
        host = frozenset({self.host})
        return Declared(host, stands=frozenset({f"list of mongos of {self.host}"}), told_by=host)

    def look(self, asking: Asking, past: Past) -> Answer:
        """Read config.mongos of the config server itself."""
        del past
        found = asking.session(self.host).ask(reads.CONFIG_MONGOS, limit_s=LIMIT_S).documents
        routers = parse_cluster(routers=found).routers or ()
        latest = max((one.pinged_at for one in routers if one.pinged_at is not None), default=None)
        alive = [f"{one.name.host}:{one.name.port}" for one in routers if one.alive(latest) is not False]
        if not alive:
            return Answer(holds=None, evidence=f"{self.host} tells no mongos")
        if other := [name for name in alive if name not in self.names]:
            return Answer(holds=False, evidence=f"{', '.join(other)} is alive, and not of the plan: {self.way}")
        return Answer(holds=True, evidence=f"{', '.join(alive)} is alive, and no other mongos")

    def scripted(self, world: World, past: Past, memory: Memory) -> Answer:
        """See Condition."""
        del past, memory
        return self.told(world.hosts[self.host].running and not world.replica_set.get(CAME_MONGOS))


@dataclass(frozen=True, slots=True)
class NoOtherShard(OfHost):
    """Every shard that the cluster's metadata name is one of these.

    Attributes:
        names: of the shards; way: what is to be done about another one.
    """

    tag: ClassVar[str] = "config_servers.no-other-shard"
    words: ClassVar[str] = "no other shard than those of the plan, as {host} has it"

    names: tuple[str, ...]
    way: str = "plan anew"

    def declared(self) -> Declared:
        """See Condition."""
        host = frozenset({self.host})
        return Declared(host, stands=frozenset({f"list of shards of {self.host}"}), told_by=host)

    def look(self, asking: Asking, past: Past) -> Answer:
        """Read config.shards."""
        del past
        found = asking.session(self.host).ask(reads.CONFIG_SHARDS, limit_s=LIMIT_S).documents
        told = [one.name for one in parse_cluster(shards=found).shards or ()]
        if not told:
            return Answer(holds=None, evidence=f"{self.host} tells no shard")
        if other := [name for name in told if name not in self.names]:
            return Answer(holds=False, evidence=f"{', '.join(other)} is a shard, and not of the plan: {self.way}")
        return Answer(holds=True, evidence=f"{', '.join(told)}, and no other shard")

    def scripted(self, world: World, past: Past, memory: Memory) -> Answer:
        """See Condition."""
        del past, memory
        return self.told(world.hosts[self.host].running and not world.replica_set.get(CAME_SHARD))
