"""Semi-synchronous replication of a source: whether its commits wait for a replica, or only should.

A source that waited in vain for its timeout goes on without (metrics reference, 5): that is told, since nothing else
shows it. Enabled on a server that nobody replicates from and that replicates itself it means nothing yet.
"""

from __future__ import annotations

from services.discovery.nodes import Node
from services.discovery.words import joined, number
from services.facts.model import SemiSyncFacts
from services.i18n import mark, tr
from services.moments import duration
from services.types import Health

Number = tuple[str, str, Health]


def source_verdict(node: Node, *, replicates: bool, replicas: int) -> tuple[Health, str]:
    """Return what is said of a server whose commits should wait: GOOD and '' where they do, or need not."""
    facts = _of(node)
    if facts is None or not facts.source_enabled or (replicates and not replicas):
        return Health.GOOD, ""
    if facts.source_active is None:
        return Health.UNKNOWN, tr("whether semi-synchronous replication is active was not read")
    have = "?" if facts.clients is None else number(facts.clients)
    wanted = "?" if facts.wanted is None else number(facts.wanted)
    who = tr("{have} of {wanted} semi-sync replicas connected", have=have, wanted=wanted)
    if not facts.source_active:
        text = tr("semi-synchronous replication has fallen back to asynchronous: {who}", who=who)
        lost = facts.not_acknowledged
        none = tr("{n} commits since the start were not acknowledged", n=number(lost)) if lost else ""
        return Health.WARN, joined(text, none)
    if facts.few:
        return Health.WARN, _next_waits(facts, who)
    if facts.wanted is None:
        return Health.UNKNOWN, tr("how many acknowledgements its commits wait for is not known")
    return Health.GOOD, ""


def _next_waits(facts: SemiSyncFacts, who: str) -> str:
    text = tr("semi-synchronous replication: {who}, the next commit will wait for more", who=who)
    if facts.waiting:
        text = tr("semi-synchronous replication: {who}, commits wait for more now", who=who)
    if facts.timeout_ms is None:
        return text
    span = duration(facts.timeout_ms / 1000)
    return joined(text, tr("after {span} it continues without", span=span))


def source_number(node: Node, health: Health) -> Number | None:
    """Return the number on a source's card, None where semi-synchronous replication is not enabled."""
    facts = _of(node)
    if facts is None or not facts.source_enabled:
        return None
    if facts.source_active is None:
        return (mark("semi-sync"), tr("not known"), Health.UNKNOWN)
    if not facts.source_active:
        return (mark("semi-sync"), tr("fallen back"), health)
    if facts.clients is None:
        return (mark("semi-sync"), tr("active"), health)
    wanted = "?" if facts.wanted is None else facts.wanted
    return (mark("semi-sync"), tr("{have} of {wanted}", have=facts.clients, wanted=wanted), health)


def _of(node: Node) -> SemiSyncFacts | None:
    return node.facts.semi_sync if node.facts is not None else None
