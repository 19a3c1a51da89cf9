"""Who takes part in a conversion: the config servers in the order of configDB, mongos, shards, new hosts. Pure."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass

from services.addresses import is_this_machine
from services.facts.mongodb.model import MongoFacts
from services.facts.mongodb.server import MongoServer
from services.facts.mongodb.sharding import CONFIG_PORT, HostList, parse_hosts
from services.facts.mongodb.values import Place
from services.procedures.catalogue.mongodb.shared.order import order_of
from services.procedures.catalogue.mongodb.shared.scratch import scratch_of
from services.procedures.catalogue.mongodb.shared.sets import GatheredSet, at, mongo_of, names_of
from services.procedures.plan.forms.fields import Inputs
from services.procedures.plan.forms.inputs import hosts_of
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.parts.mongodb.data import MongoData
from services.procedures.plan.parts.mongodb.process import MongoProcess
from services.procedures.plan.parts.mongodb.rights import MongoRights

ROLLING, WINDOW = "rolling", "window"
MMAP = "mmapv1"
DEFAULT_UNIT = "mongod.service"


@dataclass(frozen=True, slots=True)
class Party:
    """Everybody whom a conversion touches.

    Attributes:
        way: ROLLING or WINDOW; name: of the set that is made; backup: folder for the copy, on the last config server.
        servers: the mirrored config servers by the inventory's names, in the order of configDB; places: how the
            string calls each of them, 'host:port'.
        new: hosts that become members by the rolling way; routers: every mongos; shards: their sets.
        string: what every mongos was started with, as it is written.
    """

    facts: Facts
    way: str
    name: str
    backup: str
    servers: tuple[str, ...]
    places: tuple[str, ...]
    new: tuple[str, ...]
    routers: tuple[str, ...]
    shards: tuple[GatheredSet, ...]
    string: str

    @property
    def first(self) -> str:
        """Return the config server that becomes the set's first member."""
        return self.servers[0]

    @property
    def last(self) -> str:
        """Return the config server of which the copy is made: every mongos asks it last."""
        return self.servers[-1]

    @property
    def members(self) -> tuple[str, ...]:
        """Return who is in the set at the end of the conversion of the first, in the order of their ids."""
        return self.servers if self.way == WINDOW else (self.first, *self.new)

    @property
    def lasting(self) -> tuple[str, ...]:
        """Return who stays in it: a config server that stores by MMAPv1 is removed."""
        return tuple(host for host in self.members if host != self.first or not self.leaves)

    @property
    def leaves(self) -> bool:
        """Return whether the first config server is of the set for the conversion only."""
        return self.way == ROLLING and self.engine(self.first) == MMAP

    @property
    def leaving(self) -> str:
        """Return how the set calls the member that leaves it in the end, '' where none does."""
        return self.place(self.first) if self.leaves else ""

    @property
    def clears(self) -> bool:
        """Return whether the account may remove a set's configuration from a server's data, as an undo wants it."""
        return self.facts.host(self.first)[MongoRights].clears_sets is True

    @property
    def everyone(self) -> tuple[str, ...]:
        """Return every host of the plan."""
        members = (host for one in self.shards for host in one.hosts)
        return tuple(dict.fromkeys((*self.servers, *self.new, *self.routers, *members)))

    @property
    def shard_hosts(self) -> tuple[str, ...]:
        """Return the members of all shards."""
        return tuple(host for one in self.shards for host in one.hosts)

    def place(self, host: str) -> str:
        """Return how the set and every string call a config server: 'host:port'."""
        if host in self.servers:
            return self.places[self.servers.index(host)]
        return f"{self.facts.host(host).address}:{self.port}"

    @property
    def port(self) -> int:
        """Return the port on which config servers listen."""
        mongo = mongo_of(self.facts.host(self.first))
        return (mongo.server.port if mongo is not None else None) or CONFIG_PORT

    @property
    def new_string(self) -> str:
        """Return what every mongos is started with in the end: the members that stay, and the set's name."""
        return f"{self.name}/{','.join(map(self.place, self.lasting))}"

    @property
    def scratch(self) -> str:
        """Return the database by which the catalog is tried."""
        return scratch_of(self.facts)

    def engine(self, host: str) -> str:
        """Return a config server's storage engine, '' where it is not known."""
        mongo = mongo_of(self.facts.host(host))
        return mongo.server.engine if mongo is not None else ""

    def server(self, host: str) -> MongoServer | None:
        """Return what a host's server told of itself."""
        mongo = mongo_of(self.facts.host(host))
        return mongo.server if mongo is not None else None

    def process(self, host: str) -> MongoProcess:
        """Return how a host's server runs."""
        return self.facts.host(host)[MongoProcess]

    def unit(self, host: str) -> str:
        """Return a server's unit."""
        return self.process(host).unit or DEFAULT_UNIT

    def path(self, host: str) -> str:
        """Return a server's configuration file; of a new host the one that its unit starts its server with."""
        return self.process(host).path

    def data(self, host: str) -> str:
        """Return a config server's data folder; of a new host the one that was looked at there."""
        return self.facts.host(host)[MongoData].path

    def account(self, host: str) -> str:
        """Return user and group of a config server's data folder, 'UID:GID'; the checks say where they do not fit."""
        data = self.facts.host(host)[MongoData]
        return f"{data.owner or 0}:{data.group or 0}"

    def new_data(self, host: str) -> str:
        """Return the new data folder of a config server that is converted in a window, beside its old one."""
        return f"{self.data(host)}-{self.name}"


def party_of(facts: Facts, values: Inputs) -> Party:
    """Return who takes part, as far as it is known; the checks say what is missing."""
    order = order_of(facts)
    servers = tuple(reversed(order.mirrors))
    string = next((s for s in strings_of(facts).values() if s), "")
    rolling = values["way"] == ROLLING
    return Party(
        facts,
        values["way"],
        values["name"],
        values["backup"] or default_backup(facts, servers),
        servers,
        tuple(_place(facts.host(host), string) for host in servers),
        hosts_of(values.get("new", "")) if rolling else (),
        order.routers,
        order.sets,
        string,
    )


def strings_of(facts: Facts) -> dict[str, str]:
    """Return mongos -> the string that it was started with, as it is written."""
    views = ((host, mongo_of(facts.host(host))) for host in facts.members)
    return {host: m.server.config_string for host, m in views if m is not None and m.server.role == "router"}


def converted(facts: Facts) -> bool:
    """Return whether nothing is left to do: the config servers are a set, and every mongos was started with it."""
    order, strings = order_of(facts), strings_of(facts)
    return (
        bool(order.config)
        and not order.mirrors
        and bool(strings)
        and all(parse_hosts(s).set_name for s in strings.values())
    )


def default_backup(facts: Facts, servers: tuple[str, ...]) -> str:
    """Return where the copy goes where nobody says it: beside the data of the last config server."""
    data = facts.host(servers[-1])[MongoData].path if servers else ""
    return posixpath.join(posixpath.dirname(data), "pilothouse-config-backup") if data else ""


def spare_hosts(facts: Facts) -> tuple[tuple[str, str], ...]:
    """Return (host, what it is) of hosts on which no MongoDB server runs, and which are read over SSH."""
    found = []
    for name in facts.candidates:
        host = facts.host(name)
        if host[MongoProcess].running == 0 and host.is_root:
            found.append((name, "no server runs there"))
    return tuple(found)


def is_loopback(place: str) -> bool:
    """Return whether a host's name means the machine that reads it."""
    name = place.rpartition(":")[0].strip("[]").lower()
    return not name or is_this_machine(name)


def used_by(mongo: MongoFacts | None) -> HostList:
    """Return the config servers that a process uses now."""
    return mongo.cluster.config if mongo is not None and mongo.cluster is not None else HostList()


def called(place: Place) -> str:
    """Return how a string calls a config server, with its port: a member of a set without one has 27017."""
    return place.name if place.name.endswith(f":{place.port}") else f"{place.name}:{place.port}"


def _place(host: HostFacts, string: str) -> str:
    """Return how the string of config servers calls a host."""
    names = names_of(host)
    found = (called(one) for one in parse_hosts(string, CONFIG_PORT).places if at(one) in names)
    return next(found, names[0] if names else "")
