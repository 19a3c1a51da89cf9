"""The reading road to one host: SSH and SQL opened when first asked for, and again, with backoff, after a drop."""

from __future__ import annotations

import contextlib
import functools
from typing import TYPE_CHECKING, Self

from services.connections import remote_command, sudo
from services.connections.allowlist import check_command, check_statement
from services.connections.command import Command
from services.connections.gate import Gate
from services.connections.host_key_check import HostKeyPolicy
from services.connections.limits import Limits
from services.connections.links import Links, Road
from services.connections.ports import Output, Rows, Stream
from services.connections.remote_stream import RemoteStream
from services.errors import BadInput, Unreachable, UserError
from services.words import tr

if TYPE_CHECKING:
    from services.clock import Clock
    from services.connections.ssh import SshLink
    from services.inventory.model import HostEntry
    from services.secrets import Vault


@functools.lru_cache(maxsize=512)
def _allowed(sql: str, heartbeat_table: str | None) -> None:
    """Let a statement through the allow-list, or raise Refused.

    The list is a pure function of the text, and a poll sends the same few texts every second: what it let through once
    is remembered (a refusal is not).
    """
    check_statement(sql, heartbeat_table=heartbeat_table)


class HostSession:
    """ObserverSession (ports.py) for one inventory host.

    Threads: one thread runs queries, others commands and the OS stream beside it (a host's lanes: sampling.host_watch):
    connecting is serialised, and channels are independent. `close` may be called from any thread; a call that hangs
    then ends with Unreachable.
    """

    def __init__(
        self,
        entry: HostEntry,
        vault: Vault,
        *,
        clock: Clock,
        on_host_key: HostKeyPolicy | None = None,
        limits: Limits | None = None,
    ) -> None:
        """Remember how to reach the host; nothing is opened yet.

        Args:
            on_host_key: asked about an unknown host key in the calling thread; without it HostKeyUnknown is raised.
        """
        self._entry = entry
        self._vault = vault
        self._limits = limits or Limits()
        self._gates = (
            Gate(tr("The SSH connection"), clock, self._limits),
            Gate(tr("The database connection"), clock, self._limits),
        )
        road = Road(self._ended, ssh_gate=self._gates[0], sql_gate=self._gates[1])
        self._links = Links(entry, vault, road, policy=on_host_key, limits=self._limits)
        self._streams: set[RemoteStream] = set()

    @property
    def host(self) -> str:
        """Return the inventory name of the host."""
        return self._entry.name

    @property
    def has_ssh(self) -> bool:
        """Return whether the inventory gives an SSH way to this host."""
        return self._entry.ssh is not None

    @property
    def has_sql(self) -> bool:
        """Return whether the inventory gives an SQL way to this host."""
        return self._entry.sql is not None

    def query(self, sql: str, *, limit_s: float = 5.0) -> Rows:
        """Run one read statement; see ObserverSession."""
        _allowed(sql, self._entry.sql.heartbeat_table if self._entry.sql is not None else None)
        return self._links.sql(limit_s).query(sql, limit_s=limit_s)

    def status(self, *, limit_s: float = 5.0) -> dict[str, str]:
        """Return SHOW GLOBAL STATUS as name -> text."""
        return self._links.sql(limit_s).status(limit_s=limit_s)

    def run(self, command: Command, *, limit_s: float = 10.0) -> Output:
        """Run one read command; see ObserverSession."""
        link, wrapped = self._prepare(command)
        return remote_command.run(
            link,
            wrapped,
            command.stdin,
            host=self.host,
            limit_s=limit_s,
            most=self._limits.output_bytes,
            what=str(command),
        )

    def stream(self, command: Command) -> Stream:
        """Start a long-lived read command; see ObserverSession."""
        link, wrapped = self._prepare(command)
        channel = remote_command.start(link, wrapped, host=self.host, limit_s=self._limits.channel_s, what=str(command))
        stream = RemoteStream(channel, wrapped, link, self.host, self._limits.line_bytes)
        self._streams = {old for old in self._streams if not old.closed} | {stream}
        return stream

    def try_now(self) -> None:
        """Skip what is left of a backoff: the person has changed something and wants to see it."""
        for gate in self._gates:
            gate.try_now()

    def close(self) -> None:
        """Close everything for good; idempotent."""
        self._links.closed = True  # before the streams: their readers would open the connection again
        for stream in list(self._streams):
            stream.close()
        self._links.close()

    def _prepare(self, command: Command) -> tuple[SshLink, sudo.Wrapped]:
        """Let a command through the allow-list, connect, and wrap it for the host's shell."""
        check_command(command)
        access = self._entry.ssh
        if access is None:
            raise BadInput(tr("The inventory gives no SSH way to this host."), host=self.host)
        link = self._links.ssh()
        return link, sudo.wrap(command, access, self._vault, user=link.target.user, host=self.host)

    def _ended(self) -> UserError:
        return Unreachable(tr("The session is closed."), host=self.host)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(UserError):
            self.close()
