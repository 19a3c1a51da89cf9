"""The connections to one host, as both roads open them: when first asked for, again after a drop, never once closed."""

from __future__ import annotations

import contextlib
import importlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar, Union, cast

from services.connections.budget import UnderWay
from services.connections.server_kinds import SERVER_KINDS
from services.connections.sql import setup as sql_setup
from services.errors import UserError

if TYPE_CHECKING:
    from services.connections.gate import Gate
    from services.connections.limits import Limits
    from services.connections.mongo.link import MongoLink
    from services.connections.sql.session import SqlLink
    from services.connections.ssh.connection import SshLink
    from services.connections.ssh.host_key_check import HostKeyPolicy
    from services.inventory.model import HostEntry
    from services.secrets import Vault

L = TypeVar("L", bound=Union["SqlLink", "MongoLink"])


@dataclass(frozen=True, slots=True)
class Road:
    """What one road has of its own.

    Attributes:
        ended: the error for whoever asks after `close`; setup: what is set on its SQL session.
        ssh_gate, sql_gate: the backoff between two attempts; None tries at each call.
    """

    ended: Callable[[], UserError]
    setup: tuple[str, ...] = sql_setup.ON_CONNECT
    ssh_gate: Gate | None = None
    sql_gate: Gate | None = None


class Links:
    """One thread asks the database at a time; opening SSH is serialised; `close` may be called from any.

    Attributes:
        reached: where SSH leads: the name or address that ssh_config gives the host (HostName), known before anybody is
            dialled, and the address that answered where it was dialled from here.
    """

    def __init__(
        self, entry: HostEntry, vault: Vault, road: Road, *, policy: HostKeyPolicy | None, limits: Limits
    ) -> None:
        """Remember how to reach the host; nothing is opened yet.

        Args:
            policy: asked about an unknown host key in the calling thread; without it HostKeyUnknown is raised.
        """
        self._entry = entry
        self._vault = vault
        self._road = road
        self._policy = policy
        self._limits = limits
        self._ssh: SshLink | None = None
        self._server: SqlLink | MongoLink | None = None
        self._connecting_ssh = threading.RLock()
        self._ssh_under_way = UnderWay()
        self._server_under_way = UnderWay()
        self.closed = False
        self.reached: tuple[str, ...] = ()
        _load_ways(entry)

    @property
    def server_was_open(self) -> bool:
        """Return whether a database connection was made: what was asked of it may have been sent."""
        return self._server is not None

    def ssh(self) -> SshLink:
        """Return the SSH connection, opened where need be."""
        with self._connecting_ssh:
            self.refuse_when_closed()
            if self._ssh is not None and self._ssh.alive:
                return self._ssh
            from services.connections.ssh.connection import SshLink  # _load_ways has loaded it

            with _attempt(self._road.ssh_gate):
                if self._ssh is not None:
                    self._ssh.close()
                    self._ssh = None
                try:
                    link = SshLink.open(
                        self._entry,
                        self._vault,
                        policy=self._policy,
                        limits=self._limits,
                        under_way=self._ssh_under_way,
                        sought=self._sought,
                    )
                finally:
                    self._ssh_under_way.made()
            self._ssh = link
            self.reached = tuple(dict.fromkeys(place for place in (link.target.host, link.peer) if place))
        self._close_what_came_late()
        return link

    def sql(self, limit_s: float) -> SqlLink:
        """Return the SQL connection, opened where need be, through SSH where the inventory gives that way."""
        from services.connections.sql.session import SqlLink  # _load_ways has loaded it

        return self._to_server(
            lambda: SqlLink.open(
                self._entry,
                self._vault,
                self._through(),
                limits=self._limits,
                limit_s=limit_s,
                setup=self._road.setup,
                under_way=self._server_under_way,
            ),
        )

    def mongo(self, limit_s: float) -> MongoLink:
        """Return the connection to a MongoDB server, opened in the same way."""
        from services.connections.mongo.link import MongoLink  # _load_ways has loaded it

        return self._to_server(
            lambda: MongoLink.open(
                self._entry,
                self._vault,
                self._through(),
                limits=self._limits,
                limit_s=limit_s,
                under_way=self._server_under_way,
            ),
        )

    def _sought(self, host: str) -> None:
        """Note whom the next connection is made to; what answered under that name before still stands."""
        if host not in self.reached:
            self.reached = (host,)

    def _through(self) -> Callable[[], SshLink] | None:
        return self.ssh if self._entry.ssh is not None else None

    def _to_server(self, opened: Callable[[], L]) -> L:
        """Return the connection that stands, else a new one; a host's session has one kind of them only."""
        self.refuse_when_closed()
        standing = self._server
        if standing is not None and standing.alive:
            return cast("L", standing)
        with _attempt(self._road.sql_gate):
            if self._server is not None:
                self._server.close()
                self._server = None
            try:
                link = opened()
            finally:
                self._server_under_way.made()
        self._server = link
        self._close_what_came_late()
        return link

    def close(self) -> None:
        """Close all for good, and cut what is being made; idempotent."""
        self.closed = True
        self._server_under_way.cut()
        self._ssh_under_way.cut()
        server, self._server = self._server, None
        if server is not None:
            server.close()
        ssh, self._ssh = self._ssh, None
        if ssh is not None:
            ssh.close()

    def refuse_when_closed(self) -> None:
        """Raise the road's own error after `close`."""
        if self.closed:
            raise self._road.ended()

    def _close_what_came_late(self) -> None:
        """A link that was closed from another thread while this one connected is not given out."""
        if self.closed:
            self.close()
            raise self._road.ended()


def _load_ways(entry: HostEntry) -> None:
    """Load what the ways into this host need, and nothing for a way that nobody has.

    Here and not at the first call: a session is made before the window has its pages, and a lane that loads beside
    their building would hold it up.
    """
    if entry.ssh is not None:
        importlib.import_module("services.connections.ssh.connection")
    if entry.sql is not None:
        SERVER_KINDS[entry.kind].connection()


@contextlib.contextmanager
def _attempt(gate: Gate | None) -> Iterator[None]:
    """Connect within: not before the gate lets, and the gate learns how it went."""
    if gate is None:
        yield
        return
    gate.check()
    try:
        yield
    except UserError as problem:
        gate.failed(problem)
        raise
    gate.opened()
