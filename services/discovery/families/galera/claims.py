"""How a Galera member tells its cluster (the state UUID) and its fellows (its view, its table, its settings)."""

from __future__ import annotations

from collections.abc import Iterator

from services.discovery.families.galera.kind import GALERA, speaks
from services.discovery.families.port import Lead
from services.discovery.families.shared.claiming import Membership
from services.facts.model import NodeFacts
from services.facts.reading import host_port


def home(facts: NodeFacts) -> str:
    """Return the state UUID, '' where the host tells none."""
    galera = facts.galera
    return galera.state_uuid or galera.local_state_uuid if galera is not None else ""


def fellows(facts: NodeFacts) -> Iterator[str]:
    """Yield the addresses that a host names as those of members."""
    if facts.galera is not None:
        yield from facts.galera.incoming_addresses
        yield from (m.address for m in facts.galera.members)
        yield from _configured(facts.galera.cluster_address)


def _configured(cluster_address: str) -> list[str]:
    return cluster_address.partition("//")[2].partition("?")[0].split(",")


def leads(facts: NodeFacts) -> Iterator[Lead]:
    """Yield whom a host names: the members of its table, those of its view, then the line in its configuration."""
    galera = facts.galera
    if galera is None:
        return
    yield from (Lead(m.address, m.name) for m in galera.members if m.uuid != galera.node_uuid)
    yield from (Lead(address) for address in galera.incoming_addresses)
    yield from (Lead(host_port(address)[0], sure=False) for address in _configured(galera.cluster_address))


MEMBERSHIP = Membership(kinds=(GALERA,), home=home, member=speaks, fellows=fellows, prefix="galera")
