"""Everybody that anybody ever named as a member, and what becomes of each in a bootstrap. Pure.

A member that a person left out by choice stays in the picture: it is asked whether it is Primary, and what it has
counts in what may be lost. So does one that only evidence names (plan/pasts/named.py): nobody logs in to it, the hosts
try its ports, and it blocks until a person accepts it by its name.
"""

from __future__ import annotations

from dataclasses import dataclass

from services.procedures.catalogue.checks.parts import ssh_silent
from services.procedures.catalogue.galera.shared.joiner_config import address_of
from services.procedures.conditions.galera.membership.no_primary import NoPrimary
from services.procedures.plan.forms.inputs import number_of
from services.procedures.plan.host_facts import Facts, HostFacts, Named
from services.procedures.plan.parts.server.options import Options

SERVER_PORT, GROUP_PORT = 3306, 4567


@dataclass(frozen=True, slots=True)
class Party:
    """Who takes part.

    Attributes:
        hosts: are stopped, asked for their positions, bootstrapped or joined.
        left: members left out by a person: asked, and never started.
        gone: members declared powered off or fenced; one that only evidence names by the name it is called by.
        named: those whom only evidence names, whatever a person said of them.
        looked: those whose positions this run has recovered: what the choice between them stands on.
    """

    facts: Facts
    hosts: tuple[str, ...]
    left: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    named: tuple[Named, ...] = ()
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

    @property
    def unknown(self) -> tuple[Named, ...]:
        """Return those whom evidence names, and of whom no person said anything."""
        return tuple(one for one in self.named if not one.retired and one.name not in self.gone)

    def none_is_primary(self) -> NoPrimary:
        """Return the condition that right now nobody of them all is Primary."""
        hosts = {host.host for host in self.facts.hosts}
        gone = tuple(name for name in self.gone if name in hosts)
        off = {a for name in gone for a in (self.host(name).address, address_of(self.host(name))) if a}
        own = {a for name in self.known for a in (self.host(name).address, address_of(self.host(name))) if a}
        strange = {a for one in self.named if not one.retired for a in one.addresses} - own
        retired = {a for one in self.named if one.retired for a in one.addresses} - own - off - strange
        ports = {number_of(self.host(n)[Options].option("mysqld", "port") or "") or SERVER_PORT for n in self.known}
        addresses = (*sorted(off), *sorted(strange - off))
        return NoPrimary(self.known, gone, addresses, (*sorted(ports), GROUP_PORT), tuple(sorted(retired)))

    def left_stopped(self) -> tuple[str, ...]:
        """Return those left out whose stopped servers can be asked for their positions."""
        left = (self.host(name) for name in self.left)
        return tuple(h.host for h in left if h.server_up is False and h.is_root and not ssh_silent(h))


def party(facts: Facts, nodes: tuple[str, ...], gone: tuple[str, ...]) -> Party:
    """Return who takes part when a person names these nodes, and these as gone."""
    hosts = tuple(name for name in nodes if name not in gone)
    left = tuple(name for name in facts.members if name not in {*hosts, *gone})
    return Party(facts, hosts, left, gone, facts.named)
