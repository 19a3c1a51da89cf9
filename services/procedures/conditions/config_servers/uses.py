"""Which config servers a mongos or a shard uses now: what it says itself, never what it was started with.

A mongos that swapped from mirrored config servers to a set goes on showing the old string among its options (tried on
3.2.5): what it uses stands in getShardMap. A shard's primary learns of the set with the first request of a mongos that
uses it; a secondary tells nothing (10107).
"""

from __future__ import annotations

from collections.abc import Callable

from services.connections.mongo.document import Document
from services.connections.reads import mongo as reads
from services.errors import QueryFailed, UserError
from services.facts.mongodb.sharding import HostList, parse_cluster
from services.facts.mongodb.values import inside, line
from services.procedures.conditions.mongodb.told import LIMIT_S
from services.procedures.plan.condition import Answer, Declared, OfHost, OfHosts, condition
from services.procedures.plan.looks import Asking

_NOT_MASTER = 10107


@condition("config_servers.routers-use", "every mongos to use the new config servers")
class RoutersUse(OfHosts):
    """Each of these mongos uses the config servers of this set; of mirrored ones where the name is ''."""

    name: str

    def declared(self) -> Declared:
        """See Condition."""
        return Declared(frozenset(self.hosts), stands=frozenset(f"server {host}" for host in self.hosts))

    def look(self, asking: Asking) -> Answer:
        """Ask each for its map."""

        def used(host: str) -> HostList:
            body = asking.session(host).ask(reads.SHARD_MAP, limit_s=LIMIT_S).body
            return parse_cluster(shard_map=body).config

        return _judged(self.hosts, asking.each(self.hosts, used), self.name)


@condition(
    "config_servers.shards-use", "every shard to use the new config servers, which it learns from its next request"
)
class ShardsUse(OfHosts):
    """The primary of each shard among these members uses the config servers of this set."""

    name: str

    def declared(self) -> Declared:
        """See Condition."""
        return Declared(frozenset(self.hosts), stands=frozenset(f"config servers of {host}" for host in self.hosts))

    def look(self, asking: Asking) -> Answer:
        """Ask each member; one that is no primary tells nothing, and is passed over."""

        def used(host: str) -> HostList | None:
            try:
                body = asking.session(host).ask(reads.SHARDING_STATE, limit_s=LIMIT_S).body
            except QueryFailed as problem:
                if problem.errno == _NOT_MASTER:
                    return None
                raise
            return _of_a_shard(body)

        answers = asking.each(self.hosts, used)
        told = {host: one for host, one in answers.items() if one is not None}
        if not told:
            return Answer(holds=None, evidence="no primary of a shard answered")
        return _judged(tuple(told), told, self.name)


def _of_a_shard(body: Document) -> HostList:
    return parse_cluster(sharding_state=body).config


def _judged(hosts: tuple[str, ...], answers: dict[str, HostList | UserError], name: str) -> Answer:
    told: Callable[[HostList], str] = lambda one: (  # noqa: E731 - one word in two sentences
        f"{one.set_name}/" if one.set_name else "mirrored config servers" if one.places else "unknown config servers"
    )
    silent = next((f"{host}: {one.sentence}" for host, one in answers.items() if isinstance(one, UserError)), "")
    if silent:
        return Answer(holds=None, evidence=silent)
    found = {host: one for host, one in answers.items() if isinstance(one, HostList)}
    other = {host: one for host, one in found.items() if not one.places or one.set_name != name}
    if other:
        return Answer(holds=False, evidence=", ".join(f"{host} uses {told(one)}" for host, one in other.items()))
    return Answer(holds=True, evidence=f"{', '.join(hosts)} use {told(next(iter(found.values())))}")


@condition("config_servers.started-with", "{host} to be started with the new string")
class StartedWith(OfHost):
    """The mongos was started with this string of config servers, word for word."""

    string: str

    def declared(self) -> Declared:
        """See Condition."""
        return Declared(frozenset({self.host}), stands=frozenset({f"start of {self.host}"}))

    def look(self, asking: Asking) -> Answer:
        """Ask for its options."""
        told = asking.session(self.host).ask(reads.COMMAND_LINE, limit_s=LIMIT_S).body
        string = line(inside(told, "parsed", "sharding").get("configDB"), 4000)
        if not string:
            return Answer(holds=None, evidence=f"{self.host} does not report its config servers")
        return Answer(string == self.string, f"{self.host} was started with {string}")
