"""In which order the servers of a cluster are replaced. Pure.

MongoDB manual, "Upgrade a Sharded Cluster to 3.2": shards, then config servers in the reverse order of configDB, then
mongos. "... to 3.4" and newer: config servers, shards, mongos last: a newer mongos does not understand an older mongod.
"""

from __future__ import annotations

from dataclasses import dataclass

from services.procedures.catalogue.mongodb.shared.sets import GatheredSet, at, mongo_of, names_of, sets_of
from services.procedures.plan.host_facts import Facts

Release = tuple[int, int]
SEE_IT_TO_ITS_END = (
    "Complete the conversion or roll it back on the console that started mongo-config-rs: pilothouse resume RUN "
    'or pilothouse undo RUN. Complete a manual conversion manually (MongoDB manual 3.2, "Upgrade Config Servers to '
    'Replica Set").'
)
"""What to do about config servers that are half way converted."""
CONFIG_FIRST: Release = (3, 4)
"""The first release in whose upgrade the config servers come before the shards."""


@dataclass(frozen=True, slots=True)
class Order:
    """What is replaced, each part in its order.

    Attributes:
        sets: shards, or the only set; config: the config servers' set; mirrors: mirrored config servers, as replaced;
            routers: mongos.
    """

    sets: tuple[GatheredSet, ...]
    config: tuple[GatheredSet, ...]
    mirrors: tuple[str, ...]
    routers: tuple[str, ...]

    def replica_sets(self, target: Release) -> tuple[GatheredSet, ...]:
        """Return every set in the order of its turn; mirrored config servers come after them, as 3.2 has it."""
        return (*self.config, *self.sets) if target >= CONFIG_FIRST else (*self.sets, *self.config)

    @property
    def hosts(self) -> tuple[str, ...]:
        """Return every server."""
        of_sets = (host for one in (*self.sets, *self.config) for host in (*one.hosts, *one.arbiters))
        return tuple(dict.fromkeys((*of_sets, *self.mirrors, *self.routers)))


def order_of(facts: Facts) -> Order:
    """Return what the cluster is made of."""
    views = {host: mongo for host in facts.members if (mongo := mongo_of(facts.host(host))) is not None}
    sets = sets_of(facts)
    places = next(
        (m.cluster.config.places for m in views.values() if m.cluster is not None and m.cluster.config.places), ()
    )
    turn = {at(place): number for number, place in enumerate(places)}
    mirrors = [host for host, mongo in views.items() if mongo.server.config == "mirrored"]
    turns = {host: max((turn.get(name, 0) for name in names_of(facts.host(host))), default=0) for host in mirrors}
    last_first = sorted(mirrors, key=lambda host: -turns[host])
    return Order(
        sets=tuple(one for one in sets if not one.view.config_servers),
        config=tuple(one for one in sets if one.view.config_servers),
        mirrors=tuple(last_first),
        routers=tuple(host for host, mongo in views.items() if mongo.server.role == "router"),
    )


def half_way(facts: Facts, order: Order) -> tuple[str, ...]:
    """Return what shows that a conversion of mirrored config servers was begun and not ended, () where nothing does.

    In sccc mode a server is both, mirrored and a member of a set (seen on 3.2.5); past it the other mirrors still run.
    """
    member_of = {host: one.name for one in (*order.config, *order.sets) for host in one.hosts}
    found = []
    for host in order.mirrors:
        mongo = mongo_of(facts.host(host))
        if host in member_of:
            found.append(f"{host} is a mirrored config server and a member of {member_of[host]}")
        elif mongo is not None and (mongo.server.role != "standalone" or mongo.server.config_mode):
            found.append(f"{host} is {mongo.server.role or 'of no known role'} with mode '{mongo.server.config_mode}'")
    rest = [host for host in order.mirrors if host not in member_of]
    if rest and order.config:
        sets = ", ".join(f"{one.name} ({', '.join(one.hosts)})" for one in order.config)
        found.append(f"{', '.join(rest)} mirrored although the set {sets} exists")
    return tuple(found)


def members_in_turn(one: GatheredSet) -> tuple[str, ...]:
    """Return the members, the primary last."""
    return (*(host for host in one.hosts if host != one.primary), *((one.primary,) if one.primary else ()))
