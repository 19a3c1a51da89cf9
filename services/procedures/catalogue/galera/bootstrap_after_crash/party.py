"""Everybody that anybody ever named as a member, and what becomes of each in a bootstrap. Pure.

A member that a person left out by choice stays in the picture: it is asked whether it is Primary, and what it has
counts in what may be lost.
"""

from __future__ import annotations

from dataclasses import dataclass

from services.facts.option_files import group_members
from services.procedures.catalogue.checks.parts import ssh_silent
from services.procedures.catalogue.galera.add_node.joiner_config import address_of
from services.procedures.conditions.galera.no_primary import NoPrimary
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.inputs import number_of
from services.procedures.plan.parts.server.options import Options

SERVER_PORT, GROUP_PORT = 3306, 4567


@dataclass(frozen=True, slots=True)
class Party:
    """Who takes part.

    Attributes:
        hosts: are stopped, asked for their positions, bootstrapped or joined.
        left: members left out by a person: asked, and never started.
        gone: members declared powered off or fenced.
        strangers: addresses that only option files name.
        looked: those whose positions this run has recovered: what the choice between them stands on.
    """

    facts: Facts
    hosts: tuple[str, ...]
    left: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    strangers: tuple[str, ...] = ()
    looked: tuple[str, ...] = ()

    @property
    def known(self) -> tuple[str, ...]:
        """Return the members of which something can be read."""
        return (*self.hosts, *self.left)

    @property
    def everyone(self) -> tuple[str, ...]:
        """Return every member, those called off too."""
        return (*self.known, *self.gone)

    def host(self, name: str) -> HostFacts:
        """Return a member's facts."""
        return self.facts.host(name)

    def none_is_primary(self) -> NoPrimary:
        """Return the condition that right now nobody of them all is Primary."""
        off = {a for name in self.gone for a in (self.host(name).address, address_of(self.host(name))) if a}
        ports = {number_of(self.host(n)[Options].option("mysqld", "port") or "") or SERVER_PORT for n in self.known}
        addresses = (*sorted(off), *self.strangers)
        return NoPrimary(self.known, self.gone, addresses, (*sorted(ports), GROUP_PORT))

    def left_stopped(self) -> tuple[str, ...]:
        """Return those left out whose stopped servers can be asked for their positions."""
        left = (self.host(name) for name in self.left)
        return tuple(h.host for h in left if h.server_up is False and h.is_root and not ssh_silent(h))


def party(facts: Facts, nodes: tuple[str, ...], gone: tuple[str, ...]) -> Party:
    """Return who takes part when a person names these nodes, and these as gone."""
    hosts = tuple(name for name in nodes if name not in gone)
    left = tuple(name for name in facts.members if name not in {*hosts, *gone})
    return Party(facts, hosts, left, gone, strangers(facts, (*hosts, *left)))


def strangers(facts: Facts, hosts: tuple[str, ...]) -> tuple[str, ...]:
    """Return what the nodes' option files name as members and no host of the inventory is.

    Files may call a host otherwise than the inventory does: one such name for each member that no file names is not
    counted.
    """
    given = (facts.host(name)[Options].option("mysqld", "wsrep_cluster_address") or "" for name in hosts)
    named = {address for text in given for address in group_members(text)}
    called = {h.host: {h.host, h.address, h.node_name, address_of(h)} for h in facts.hosts}
    strange = named - {text for texts in called.values() for text in texts}
    otherwise = [name for name in facts.members if not called.get(name, set()) & named]
    return tuple(sorted(strange)) if len(strange) > len(otherwise) else ()
