"""The hashes of a config server's metadata, and the way to a scratch server beside it.

MongoDB manual, "dbHash": equal hashes of a collection mean equal documents, whatever the storage engine.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from services.connections.mongo.link import MongoLink
from services.connections.reads.mongo import CONFIG_HASH, MONGO_READS
from services.errors import BadInput
from services.i18n import tr

if TYPE_CHECKING:
    from services.connections.limits import Limits
    from services.connections.mongo.document import Document
    from services.connections.ssh.connection import SshLink
    from services.inventory.model import HostEntry
    from services.secrets import Vault


def hashed(link: MongoLink, limit_s: float) -> Document:
    """Return a server's answer to dbHash of the metadata."""
    return link.ask(MONGO_READS[CONFIG_HASH.name], limit_s=limit_s).body


def beside(
    entry: HostEntry, vault: Vault, ssh: Callable[[], SshLink], limits: Limits, *, port: int, limit_s: float
) -> MongoLink:
    """Open a session with a server on the host's own loopback, with the account that the host's server knows."""
    if entry.sql is None or entry.ssh is None:
        raise BadInput(
            tr("A scratch server is reached through SSH, and the inventory has no SSH connection to its host."),
            host=entry.name,
        )
    there = replace(entry, sql=replace(entry.sql, port=port, via="tunnel", socket=None))
    return MongoLink.open(there, vault, ssh, limits=limits, limit_s=limit_s)
