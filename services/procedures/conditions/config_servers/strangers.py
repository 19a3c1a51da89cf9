"""That no mongos and no shard came to the cluster since the plan was made.

What 'every mongos' and 'every shard' of a plan means is a list that others lengthen: it is read anew before an act that
relies on all of them, as all that stands is (plan/last_look.py).
"""

from __future__ import annotations

from collections.abc import Iterable

from services.connections.reads import mongo as reads
from services.errors import UserError
from services.facts.mongodb.sharding import parse_cluster
from services.procedures.conditions.mongodb.told import LIMIT_S
from services.procedures.plan.condition import Answer, Declared, OfHost, OfHosts, condition
from services.procedures.plan.looks import Asking, Past

_STOP = "stop it, or add its host to the inventory and make a new plan"
_NAMED = "others-named"
"""The name under which a run keeps whom a person was asked about: their word stands for nobody else."""


@condition("config_servers.no-other-router", "no mongos outside the plan to be running, by the list on {host}")
class NoOtherRouter(OfHost):
    """Every mongos that wrote itself down on this config server as late as the others is one of these.

    It is the latest of them that the time is counted from, and no clock: while a mirror is down none can write.

    Attributes:
        names: 'host:port', each as it may write itself down; way: what is to be done about another one.
        word: the name under which a person's 'yes' to others is kept (OthersSeenTo); '': nobody's word stands for one.
    """

    names: tuple[str, ...]
    way: str = _STOP
    word: str = ""

    def declared(self) -> Declared:
        """See Condition."""
        host = frozenset({self.host})
        return Declared(host, stands=frozenset({f"list of mongos of {self.host}"}), told_by=host)

    def look(self, asking: Asking) -> Answer:
        """Read config.mongos of the config server itself."""
        alive = _alive(asking, self.host)
        if not alive:
            return Answer(holds=None, evidence=f"{self.host} reports no mongos")
        if other := _unnamed(alive, self.names):
            evidence = f"{', '.join(other)} is running, and not in the plan"
            return (
                _by_word(evidence)
                if _given(asking.past, self.word, other)
                else Answer(False, f"{evidence}: {self.way}")
            )
        return Answer(holds=True, evidence=f"{', '.join(alive)} is running, and no other mongos")


@condition("config_servers.no-other-shard", "no shard outside the plan, by the list on {host}")
class NoOtherShard(OfHost):
    """Every shard that the cluster's metadata name is one of these.

    One that was added does not go by waiting: no look waits on for it.

    Attributes:
        names: of the shards; way, word: as of NoOtherRouter.
    """

    names: tuple[str, ...]
    way: str = "make a new plan"
    word: str = ""

    def declared(self) -> Declared:
        """See Condition."""
        host = frozenset({self.host})
        return Declared(host, stands=frozenset({f"list of shards of {self.host}"}), told_by=host)

    def look(self, asking: Asking) -> Answer:
        """Read config.shards."""
        shards = _shards(asking, self.host)
        if not shards:
            return Answer(holds=None, evidence=f"{self.host} reports no shard")
        if other := _unnamed(shards, self.names):
            evidence = f"{', '.join(other)} is a shard, and not in the plan"
            by_word = _given(asking.past, self.word, other)
            return _by_word(evidence) if by_word else Answer(False, f"{evidence}: {self.way}", final=True)
        return Answer(holds=True, evidence=f"{', '.join(shards)}, and no other shard")


@condition("config_servers.others-seen-to", "no mongos and no shard outside the plan")
class OthersSeenTo(OfHosts):
    """No mongos and no shard came, as whoever of these config servers answers has it: else a person is asked.

    Who came is kept: a word about these is none about those that come behind it.

    Attributes:
        routers, shards: the names of those of the plan.
    """

    routers: tuple[str, ...]
    shards: tuple[str, ...]

    def declared(self) -> Declared:
        """See Condition."""
        hosts = frozenset(self.hosts)
        return Declared(hosts, enough_of=hosts, keeps=frozenset({_NAMED}))

    def look(self, asking: Asking) -> Answer:
        """Read both lists of each."""
        answers = asking.each(self.hosts, lambda host: (_alive(asking, host), _shards(asking, host)))
        told = [one for one in answers.values() if not isinstance(one, UserError)]
        if not told:
            silent = (one.sentence for one in answers.values() if isinstance(one, UserError))
            return Answer(holds=None, evidence=next(silent, "no host is asked"))
        routers = _unnamed((name for alive, _ in told for name in alive), self.routers)
        shards = _unnamed((name for _, listed in told for name in listed), self.shards)
        if not routers and not shards:
            return Answer(holds=True, evidence="no mongos and no shard outside the plan")
        said = [f"{name} is a mongos, and not in the plan (getShardMap shows its config servers)" for name in routers]
        said += [f"{name} is a shard, and not in the plan (shardingState of its primary tells)" for name in shards]
        named = ((_NAMED, "\n".join((*routers, *shards))),)
        return Answer(holds=False, evidence="; ".join(said), kept=named)


def _alive(asking: Asking, host: str) -> tuple[str, ...]:
    """Return the mongos that wrote themselves down on a config server as late as the others."""
    found = asking.session(host).ask(reads.CONFIG_MONGOS, limit_s=LIMIT_S).documents
    routers = parse_cluster(routers=found).routers or ()
    latest = max((one.pinged_at for one in routers if one.pinged_at is not None), default=None)
    return tuple(f"{one.name.host}:{one.name.port}" for one in routers if one.alive(latest) is not False)


def _shards(asking: Asking, host: str) -> tuple[str, ...]:
    found = asking.session(host).ask(reads.CONFIG_SHARDS, limit_s=LIMIT_S).documents
    return tuple(one.name for one in parse_cluster(shards=found).shards or ())


def _unnamed(found: Iterable[str], names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in found if name not in names))


def _given(past: Past, word: str, others: Iterable[str]) -> bool:
    """Return whether a person said of all these that they are seen to."""
    named = past.kept.get(_NAMED, "").split("\n")
    return bool(word) and past.kept.get(word) == "yes" and all(name in named for name in others)


def _by_word(evidence: str) -> Answer:
    return Answer(holds=True, evidence=f"{evidence}: you confirmed that this is resolved")
