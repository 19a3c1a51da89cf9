"""The reading road to one MongoDB server: opened when first asked for, and again, with backoff, after a drop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.connections.budget import UnderWay
from services.connections.gate import Gate
from services.connections.limits import Limits
from services.connections.links import Links, Road
from services.connections.mongo.link import MongoAccess, MongoLink
from services.connections.mongo.only_reads import template_of
from services.errors import Unreachable, UserError
from services.i18n import tr

if TYPE_CHECKING:
    from services.clock import Clock
    from services.connections.host_key_check import HostKeyPolicy
    from services.connections.mongo.document import Reply
    from services.connections.reads.mongo import MongoRead
    from services.inventory.model import HostEntry
    from services.secrets import Vault


class MongoSession:
    """Takes the reads of the registry by their names, from one thread at a time; `close` from any."""

    def __init__(
        self,
        entry: HostEntry,
        vault: Vault,
        access: MongoAccess | None = None,
        *,
        clock: Clock,
        on_host_key: HostKeyPolicy | None = None,
        limits: Limits | None = None,
    ) -> None:
        """Remember how to reach the server; nothing is opened yet."""
        self._entry = entry
        self._vault = vault
        self._access = access or MongoAccess()
        self._limits = limits or Limits()
        self._gate = Gate(tr("The database connection"), clock, self._limits)
        road = Road(self._ended, ssh_gate=Gate(tr("The SSH connection"), clock, self._limits))
        self._links = Links(entry, vault, road, policy=on_host_key, limits=self._limits)
        self._link: MongoLink | None = None
        self._under_way = UnderWay()

    @property
    def host(self) -> str:
        """Return the inventory name of the server."""
        return self._entry.name

    def ask(self, read: MongoRead, *, limit_s: float = 5.0) -> Reply:
        """Send one read of the registry; connects where need be. Raises UserError subclasses; Refused for no read."""
        template = template_of(read)
        return self._connected(limit_s).ask(template, limit_s=limit_s)

    def try_now(self) -> None:
        """Skip what is left of a backoff."""
        self._gate.try_now()

    def close(self) -> None:
        """Close everything for good, and cut what is being made; idempotent."""
        self._links.closed = True
        self._under_way.cut()
        link, self._link = self._link, None
        if link is not None:
            link.close()
        self._links.close()

    def _connected(self, limit_s: float) -> MongoLink:
        self._links.refuse_when_closed()
        if self._link is not None and self._link.alive:
            return self._link
        self._gate.check()
        through = self._links.ssh if self._entry.ssh is not None else None
        try:
            link = MongoLink.open(
                self._entry,
                self._vault,
                through,
                self._access,
                limits=self._limits,
                limit_s=limit_s,
                under_way=self._under_way,
            )
        except UserError as problem:
            self._gate.failed(problem)
            raise
        finally:
            self._under_way.made()
        self._gate.opened()
        self._link = link
        if self._links.closed:
            link.close()
            raise self._ended()
        return link

    def _ended(self) -> UserError:
        return Unreachable(tr("The session is closed."), host=self.host)
