"""What a gathering finds instead: the states that stop a procedure, each by one fact that is another one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from services.facts.model import MachineFacts, Problem
from services.facts.mongodb.model import Metadata
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.parts.galera.backups import Backups
from services.procedures.plan.parts.machine.balancers import Balancers
from services.procedures.plan.parts.server.options import Options
from services.procedures.plan.parts.server.variables import Variables
from services.types import Reach
from tests.faults.scripted.config_servers import AT
from tests.faults.walking.walk import Spoil
from tests.unit.procedures.host_of import changed


def on(name: str, **known: Any) -> Spoil:
    """Return what has a host's facts say this instead."""

    def spoil(facts: Facts) -> Facts:
        hosts = tuple(changed(h, **known) if h.host == name else h for h in facts.hosts)
        return replace(facts, hosts=hosts)

    return spoil


def both(*spoils: Spoil) -> Spoil:
    """Return what does all of these."""

    def spoil(facts: Facts) -> Facts:
        for one in spoils:
            facts = one(facts)
        return facts

    return spoil


def server(name: str, **known: Any) -> Spoil:
    """Return what has a host's server say this of itself."""

    def spoil(facts: Facts) -> Facts:
        node = facts.host(name).node
        assert node is not None
        assert node.server is not None
        return on(name, node=replace(node, server=replace(node.server, **known)))(facts)

    return spoil


def galera(name: str, **known: Any) -> Spoil:
    """Return what has a node say this of its group."""

    def spoil(facts: Facts) -> Facts:
        node = facts.host(name).node
        assert node is not None
        assert node.galera is not None
        return on(name, node=replace(node, galera=replace(node.galera, **known)))(facts)

    return spoil


def machine(name: str, **known: Any) -> Spoil:
    """Return what has a host's machine say this."""

    def spoil(facts: Facts) -> Facts:
        hosts = []
        for host in facts.hosts:
            assert host.node is not None
            own = MachineFacts(clock_offset_s=0.0)
            hosts.append(replace(host, node=replace(host.node, machine=own)))
        found = replace(facts, hosts=tuple(hosts))
        node = found.host(name).node
        assert node is not None
        return on(name, node=replace(node, machine=MachineFacts(**known)))(found)

    return spoil


def haproxy(level: str) -> Spoil:
    """Return what has each HAProxy's socket allow this."""

    def spoil(facts: Facts) -> Facts:
        seen = facts.host("lb")[Balancers].haproxies
        return on("lb", haproxies=tuple(replace(one, level=level) for one in seen))(facts)

    return spoil


def alone_behind_haproxy(facts: Facts) -> Facts:
    """Return facts in which every server of a HAProxy's backend but one is down."""
    seen = facts.host("lb")[Balancers].haproxies
    down = (
        replace(one, servers=tuple(replace(s, status="UP" if s.name == "n1" else "DOWN") for s in one.servers))
        for one in seen
    )
    return on("lb", haproxies=tuple(down))(facts)


def backups(
    keep: tuple[int, ...] = (0, 1), full: dict[str, Any] | None = None, later: dict[str, Any] | None = None
) -> Spoil:
    """Return what has the full backup and the incremental after it, on every host, be this instead."""

    def spoil(facts: Facts) -> Facts:
        for host in facts.hosts:
            found = host[Backups].found or ()
            instead = (replace(found[0], **(full or {})), replace(found[1], **(later or {})))
            facts = on(host.host, backups_found=tuple(instead[number] for number in keep))(facts)
        return facts

    return spoil


def noted(name: str, code: str) -> Spoil:
    """Return what has a host's gathering note a problem with this code."""

    def spoil(facts: Facts) -> Facts:
        return on(name, problems=(*facts.host(name).problems, Problem("datadir", "An older one.", code)))(facts)

    return spoil


def option(name: str, key: str, value: str, section: str = "mysqld") -> Spoil:
    """Return what has a host's option files have this too."""

    def spoil(facts: Facts) -> Facts:
        rows = (*facts.host(name)[Options].given, (section, key, value))
        return on(name, options_given=rows)(facts)

    return spoil


def variable(name: str, key: str, value: str) -> Spoil:
    """Return what has a host's server run with this."""

    def spoil(facts: Facts) -> Facts:
        return on(name, variables_values=(*facts.host(name)[Variables].values, (key, value)))(facts)

    return spoil


def of_all(names: tuple[str, ...], make: Callable[[str], Spoil]) -> Spoil:
    """Return what is made of each of these hosts."""
    return both(*map(make, names))


def mongo(name: str, **known: Any) -> Spoil:
    """Return what has a MongoDB server say this of itself."""

    def spoil(facts: Facts) -> Facts:
        node = facts.host(name).node
        assert node is not None
        assert node.mongo is not None
        told = replace(node.mongo, server=replace(node.mongo.server, **known))
        return on(name, node=replace(node, mongo=told))(facts)

    return spoil


def sharded(name: str, **known: Any) -> Spoil:
    """Return what has a server say this of its sharded cluster."""

    def spoil(facts: Facts) -> Facts:
        node = facts.host(name).node
        assert node is not None
        assert node.mongo is not None
        assert node.mongo.cluster is not None
        told = replace(node.mongo, cluster=replace(node.mongo.cluster, **known))
        return on(name, node=replace(node, mongo=told))(facts)

    return spoil


def rows(*names: str, number: int, **known: Any) -> Spoil:
    """Return what has these members see the member of this number so."""

    def spoil(facts: Facts) -> Facts:
        for name in names:
            node = facts.host(name).node
            assert node is not None
            assert node.mongo is not None
            seen = node.mongo.set
            assert seen is not None
            members = tuple(replace(one, **known) if one.id == number else one for one in seen.members)
            told = replace(node.mongo, set=replace(seen, members=members))
            facts = on(name, node=replace(node, mongo=told))(facts)
        return facts

    return spoil


def in_set(name: str, **known: Any) -> Spoil:
    """Return what has a member say this of its replica set."""

    def spoil(facts: Facts) -> Facts:
        node = facts.host(name).node
        assert node is not None
        assert node.mongo is not None
        assert node.mongo.set is not None
        told = replace(node.mongo, set=replace(node.mongo.set, **known))
        return on(name, node=replace(node, mongo=told))(facts)

    return spoil


def metadata(name: str, *hashes: tuple[str, str]) -> Spoil:
    """Return what has a config server hold metadata of these hashes."""

    def spoil(facts: Facts) -> Facts:
        node = facts.host(name).node
        assert node is not None
        assert node.mongo is not None
        return on(name, node=replace(node, mongo=replace(node.mongo, metadata=Metadata(hashes, AT))))(facts)

    return spoil


def silent(name: str) -> Spoil:
    """Return what has a host's server not answer."""

    def spoil(facts: Facts) -> Facts:
        node = facts.host(name).node
        assert node is not None
        return on(name, node=replace(node, mongo=None, server=None, reach=Reach.NONE), server_up=None)(facts)

    return spoil
