"""Whether a server's channels, and who replicates from it, are known: no row was shown is no evidence by itself."""

from __future__ import annotations

from services.discovery.nodes import Node
from services.discovery.words import clock
from services.facts.model import CHANNELS, KEPT_S
from services.i18n import tr


def channels_doubt(node: Node, *, needed: bool = False) -> str:
    """Return why it is not known whether and how a server replicates, '' where that was read.

    Of one that does not answer, what it said last counts: its age is told with its silence.

    Args:
        needed: what it is depends on its channels alone: never asked for is not known too.
    """
    facts = node.facts
    if facts is None or facts.server is None or facts.mongo is not None:
        return ""
    read_at = facts.replication.at if facts.replication is not None else None
    if node.sql_fresh and (why := node.why_bare(CHANNELS)):
        return tr("whether and how it replicates is not known: {why}", why=why.removesuffix("."))
    if read_at is None:
        return tr("whether and how it replicates is not known: it was not read") if needed else ""
    if node.sql_fresh and facts.channels_old:
        return tr("whether and how it replicates is not known since {time}", time=clock(read_at))
    return ""


def replicas_doubt(node: Node) -> str:
    """Return why it is not known whether others replicate from a server, '' where that was read, or none can."""
    facts = node.facts
    if facts is None or facts.server is None or facts.mongo is not None or not facts.server.log_bin:
        return ""
    read_at = facts.replication.replicas_at if facts.replication is not None else None
    if read_at is None:
        return tr(
            "whether others replicate from it is not known: the account cannot see its replicas or other "
            "sessions (PROCESS)"
        )
    if node.sql_fresh and (facts.sql_at or facts.at) - read_at > KEPT_S:
        return tr("whether others replicate from it is not known since {time}", time=clock(read_at))
    return ""
