"""TCP ways between hosts, really tried from host to host. A try sends nothing.

A listener on 4444 or 4568 waits for one transfer and would take our connection for it: where ss shows one, it is not
touched, and that it listens is the evidence that counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, Self

from services.connections.reads import commands
from services.facts.machine.tcp_ways import PORTS, TRANSFER_PORTS, outcome_of, parse_listening
from services.facts.reading import without_port
from services.procedures.plan.part import Part, Reading, Turn
from services.procedures.plan.parts.server.options import Options

if TYPE_CHECKING:
    from services.procedures.plan.host_facts import HostFacts


@dataclass(frozen=True, slots=True)
class Link:
    """A TCP attempt from one host to another's port: really tried.

    'refused' means the way is open and nobody listens (4444 and 4568 outside transfers); 'filtered' is no answer.
    """

    to_host: str
    address: str
    port: int
    outcome: Literal["open", "refused", "filtered", "unknown"]
    evidence: str = ""


@dataclass(frozen=True, slots=True)
class Listening(Part):
    """Read with ss, over SSH: the TCP ports that the host listens on; None = not known."""

    ports: frozenset[int] | None = None

    @classmethod
    def read(cls, host: HostFacts, reading: Reading) -> Self | None:
        """See Part."""
        del host
        text = reading.text("listening", commands.LISTENING)
        ports = parse_listening(text or "")
        return cls(ports) if ports else None  # a host that answers over SSH listens somewhere: no port is no answer


@dataclass(frozen=True, slots=True)
class Links(Part):
    """Really tried over SSH: the ways to the other hosts that a transfer or a start would use."""

    turn: ClassVar[Turn] = Turn.COMPANY
    made_from: ClassVar[tuple[type[Part], ...]] = (Listening, Options)

    tried: tuple[Link, ...] = ()

    @classmethod
    def read(cls, host: HostFacts, reading: Reading) -> Self:
        """See Part. Hosts that are up in one group do reach each other; of others, one of the two is a member."""
        company = reading.company
        is_member = host.host in company.members
        found: list[Link] = []
        for name, other in company.hosts.items():
            if name == host.host or not (name in company.members or is_member) or (_up(other) and _up(host)):
                continue
            if address := group_address(other):
                found += _tried(reading, name, address, other[Listening].ports)
        return cls(tuple(found))


def _tried(reading: Reading, to_host: str, address: str, there: frozenset[int] | None) -> tuple[Link, ...]:
    """Try the group's ports from this host to another.

    Args:
        there: what the other host listens on; a transfer's listener is left alone, and so it is when this is unknown.
    """
    found = []
    for port in PORTS:
        if port in TRANSFER_PORTS and (there is None or port in there):
            why = "a transfer listens there: left alone" if there is not None else "its listeners are not known"
            found.append(Link(to_host, address, port, "unknown", why))
            continue
        outcome, said = outcome_of(reading.run("links", commands.TCP_TRIED.read(address, port)))
        found.append(Link(to_host, address, port, outcome, said))
    return tuple(found)


def _up(host: HostFacts) -> bool:
    galera = host.node.galera if host.node is not None else None
    return galera is not None and galera.cluster_status == "Primary"


def group_address(host: HostFacts) -> str:
    """Return where the group reaches this host: wsrep_node_address, else the inventory's address."""
    galera = host.node.galera if host.node is not None else None
    given = galera.node_address if galera is not None else ""
    return without_port(given or host[Options].option("mysqld", "wsrep_node_address") or "") or host.address
