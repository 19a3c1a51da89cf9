"""What a Galera node tells of itself beyond its cluster: its id, its segment, its numbers, what it could lend."""

from __future__ import annotations

from services.discovery.families.port import Lent, QuorumWords
from services.facts.galera.whole import DONOR, JOINED, JOINER, SYNCED
from services.facts.model import NodeFacts
from services.i18n import mark

_MOVING = frozenset({JOINER, DONOR, JOINED})
_LENT_BY = ("wsrep_replicated_bytes", "wsrep_received_bytes")
"""They survive FLUSH STATUS (metrics reference, 7)."""
WORDS = QuorumWords(
    two=mark("{name}: two primary components accept writes separately: {sides}"),
    none=mark("{name} has no primary component"),
    unheard=mark("{name}: none of the nodes that answer is in a primary component"),
    apart=mark("another primary component accepts writes separately from this one: {names}"),
)


def live_id(facts: NodeFacts) -> tuple[str, ...]:
    """Return the id of this incarnation of the node in its group (wsrep_gcomm_uuid)."""
    galera = facts.galera
    return ("group", galera.node_uuid) if galera is not None and galera.node_uuid else ()


def self_report(facts: NodeFacts) -> tuple[object, ...]:
    """Return name, ids and states: of one node two readings of one moment agree in them."""
    galera = facts.galera
    if galera is None:
        return (None,) * 10
    return (
        galera.node_name, galera.node_uuid, galera.state_uuid, galera.cluster_status, galera.local_state_comment,
        galera.cluster_size, galera.conf_id, galera.ready, galera.off, galera.reject_queries,
    )  # fmt: skip


def segment(facts: NodeFacts) -> int | None:
    """Return gmcast.segment."""
    return facts.galera.segment if facts.galera is not None else None


def sampled(facts: NodeFacts) -> dict[str, float]:
    """Return the limits that stand in provider options and in two-part texts, as numbers."""
    galera = facts.galera
    if galera is None:
        return {}
    found = {"var.gcache_size": galera.gcache_size, "console.flow_control_high": galera.flow_control_high}
    return {name: float(value) for name, value in found.items() if value is not None}


def lent(facts: NodeFacts) -> Lent | None:
    """Return the write sets in gcache."""
    galera = facts.galera
    if galera is None:
        return None
    gives = galera.local_state in {SYNCED, DONOR}
    return Lent(galera.last_committed, galera.cached_downto, galera.gcache_size, gives, _LENT_BY)


def moving(facts: NodeFacts) -> bool:
    """Return whether a state transfer may be under way here."""
    return facts.galera is not None and facts.galera.local_state in _MOVING
