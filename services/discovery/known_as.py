"""Every name and address by which a host is known: its own, its group's, and where SSH leads to it. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from services.addresses import is_address, is_this_machine
from services.discovery.families.registry import registered
from services.facts.model import NodeFacts
from services.facts.reading import host_port, one_form


def addresses_of(facts: NodeFacts) -> frozenset[str]:
    """Return every name and address under which others may speak of this host; loopback names say nothing."""
    found = {facts.host.lower(), host_port(facts.address)[0]}
    if facts.server is not None:
        found |= {facts.server.hostname.lower(), one_form(facts.server.report_host.strip("[]").lower())}
    found |= {host_port(address)[0] for address in registered().addresses(facts)}
    if facts.machine is not None:
        found.add(facts.machine.hostname.lower())
    return frozenset(name for name in found if name and not is_this_machine(name))


def addresses_among(hosts: Mapping[str, NodeFacts]) -> dict[str, frozenset[str]]:
    """Return the same of each of these hosts, with where SSH leads to it, where that address is no other machine's.

    A host of ssh_config is written by an alias, and its HostName is what the others of its cluster know it by. But jump
    hosts, forwarded ports and NAT make one address lead to several hosts: then it says of none of them which it is.
    """
    own = {host: addresses_of(one) for host, one in hosts.items()}
    led = {host: _led_to(one) for host, one in hosts.items()}
    machines: dict[str, set[object]] = {}
    for host, one in hosts.items():
        for address in own[host] | led[host]:
            machines.setdefault(address, set()).add(_machine_of(one, hosts))
    return {host: own[host] | {a for a in led[host] if len(machines[a]) == 1} for host in hosts}


def _led_to(facts: NodeFacts) -> frozenset[str]:
    found = {host_port(place)[0] for place in facts.reached}
    return frozenset(place for place in found if is_address(place) and not is_this_machine(place))


def _machine_of(facts: NodeFacts, hosts: Mapping[str, NodeFacts]) -> object:
    """Return what two servers of one machine share: what it tells of itself, else the host they are written on."""
    first = hosts.get(facts.on, facts)
    machine = first.machine
    if machine is not None and machine.machine_id and machine.hostname:
        return machine.machine_id, machine.hostname
    return facts.on or facts.host
