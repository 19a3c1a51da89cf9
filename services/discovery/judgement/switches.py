"""Whether clients can use a server that answers this console: what its own switches keep out.

Sources: MySQL manual, "Server System Variables" (offline_mode, read_only, super_read_only, transaction_read_only),
"InnoDB Startup Options" (innodb_read_only), "Forcing InnoDB Recovery"; MariaDB KB, "read_only", "InnoDB Recovery
Modes". A server that takes no writes is one on purpose, a replica or a reader, or it is the one that should take them:
that is told by what stands above it.
"""

from __future__ import annotations

from collections.abc import Iterable

from services.discovery.nodes import Node
from services.facts.model import ServerFacts
from services.i18n import tr
from services.types import Flavour, Health

Told = tuple[Health, str]
"""A health, and the sentence why it is not good."""
FINE: Told = (Health.GOOD, "")


def switches(node: Node) -> Told:
    """Return what a server's switches do to all its clients, wherever it stands."""
    server = node.server
    if server is None:
        return FINE
    if server.offline:
        return Health.BAD, tr("{name} refuses clients: offline_mode is ON", name=node.name)
    if server.forced_recovery:
        level = server.forced_recovery
        text = tr(
            "InnoDB of {name} runs in recovery mode: innodb_force_recovery is {level}", name=node.name, level=level
        )
        return Health.WARN, text
    return FINE


def shut(node: Node) -> str:
    """Return the switch by which a server that answers takes no writes of clients; '' for one that does, or may."""
    server = node.server
    return _switch(server) if server is not None and node.sql_fresh else ""


def _switch(server: ServerFacts) -> str:
    if server.shares_volume and not server.read_only:  # its writer writes to the volume that it reads
        return ""
    transactions = "tx_read_only" if server.flavour is Flavour.MARIADB else "transaction_read_only"
    given = (
        ("super_read_only", server.super_read_only), ("read_only", server.read_only),
        ("innodb_read_only", server.engine_read_only), (transactions, server.session_read_only),
    )  # fmt: skip
    return next((name for name, on in given if on), "")


def nobody_writes(node: Node, others: Iterable[Node]) -> str:
    """Return the sentence where a server takes no writes, and none of those does that could take them instead.

    One of them that does not answer, or whose channels lead to a source, may be the reason: then nothing is said.
    """
    switch = shut(node)
    if not switch or not all(shut(other) for other in others):
        return ""
    return tr("{name} accepts no writes from clients: {switch} is ON", name=node.name, switch=switch)


def replicates(node: Node) -> bool:
    """Return whether a server has channels of its own: it may be shut on purpose, as the replica of another."""
    return node.replication is not None and bool(node.replication.channels)
