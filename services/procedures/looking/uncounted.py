"""Is there a member that the plan does not count: a node that was called off, left out, or that nobody named?

It came in by itself: no step held its past against the others'. That it is Synced shows nothing of its rows, because
the provider compares state UUID and seqno only, so that an IST may have brought it over a fork.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from services.errors import UserError
from services.facts.galera.status import addresses
from services.facts.reading import count, without_port
from services.procedures.plan.host_facts import HostFacts
from services.procedures.plan.looks import Asking
from services.procedures.plan.parts.server.options import Options

Status = Mapping[str, str]


class Whole(Protocol):
    """The members that a plan counts, how many they are, and the UUID of their state."""

    @property
    def hosts(self) -> tuple[str, ...]: ...
    @property
    def size(self) -> int: ...
    @property
    def state_uuid(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Uncounted:
    """Members of the view beyond the plan's: hosts by name, addresses that no host has, and how many there are."""

    hosts: tuple[str, ...] = ()
    strange: tuple[str, ...] = ()
    number: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """Return what each is called; empty where nothing names them."""
        return (*self.hosts, *(f"the server at {address}" for address in self.strange))

    def told(self, others: tuple[str, ...]) -> str:
        """Return who they are, what is not known of them and what to do; '' where none is there."""
        if not self.number:
            return ""
        if not self.names:
            return f"the view has {self.number} more than this plan counts, and nobody known names it: an arbitrator?"
        they, named = ("is a member", "its") if len(self.names) == 1 else ("are members", "their")
        return (
            f"{', '.join(self.names)} {they} too, which this plan does not count: whether {named} past is that of "
            f"{', '.join(others)} is not known, nothing in this run has shown it. Keep clients away from there, stop "
            f"{named} server, and bring it back with add-node, which compares both pasts first"
        )


def uncounted(whole: Whole, answers: Mapping[str, Status | UserError], asking: Asking) -> Uncounted:
    """Return the members that the plan's own ones see beyond themselves.

    An arbitrator gives no address and counts in the size alone; a host's address may be one that nobody knows it by.
    So more addresses than hosts, or a larger size, say that somebody is there; who it is, addresses and answers say.
    """
    primary = [s for s in answers.values() if not isinstance(s, UserError) and _serves(s, whole)]
    listed = max((_addresses(status) for status in primary), key=len, default=())
    size = max((count(status.get("wsrep_cluster_size", "")) or 0 for status in primary), default=0)
    number = max(size - whole.size, len(listed) - len(whole.hosts))
    if number <= 0:
        return Uncounted()
    known = asking.facts.hosts if asking.facts is not None else ()
    by_address = {address: host.host for host in known for address in _called(host)}
    others = tuple(host.host for host in known if host.host not in whole.hosts)
    found = [by_address[a] for a in listed if by_address.get(a, whole.hosts[0]) not in whole.hosts]
    if len(found) < number:
        found += [name for name, s in asking.each(others, asking.status).items() if _beside(s, whole)]
    hosts = tuple(dict.fromkeys(found))
    strange = tuple(a for a in listed if a not in by_address)
    # More than are missing: hosts of the plan are among them, under addresses that nobody knows them by.
    return Uncounted(hosts, strange if len(strange) == number - len(hosts) else (), number)


def _beside(status: Status | UserError, whole: Whole) -> bool:
    return not isinstance(status, UserError) and _serves(status, whole)


def _serves(status: Status, whole: Whole) -> bool:
    ours = status.get("wsrep_cluster_state_uuid", "").lower() == whole.state_uuid.lower()
    return ours and status.get("wsrep_cluster_status") == "Primary"


def _addresses(status: Status) -> tuple[str, ...]:
    told = addresses(status.get("wsrep_incoming_addresses", ""))
    return tuple(without_port(address) for address in told if address)


def _called(host: HostFacts) -> set[str]:
    galera = host.node.galera if host.node is not None else None
    given = (
        host.address,
        host[Options].option("mysqld", "wsrep_node_address") or "",
        galera.node_address if galera else "",
    )
    return {without_port(address.strip()) for address in given if address and address.strip()}
