"""The reading road to one host: SSH and SQL opened when first asked for, and again, with backoff, after a drop."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Self

from services.boundary import bounded, unforeseen
from services.connections import sudo
from services.connections.gate import Gate
from services.connections.limits import Limits
from services.connections.links import Links, Road
from services.connections.ports import Output, Rows, Stream
from services.connections.programs.plain_files import within
from services.connections.reads.read import CommandRead, SqlRead
from services.connections.reads.registry import command_of, heartbeat_table, statement_of
from services.connections.server_kinds import COMMANDS, STATEMENTS, refuse_other
from services.errors import BadInput, Refused, Unreachable, UserError
from services.i18n import tr

if TYPE_CHECKING:
    from services.clock import Clock
    from services.connections.command import Command
    from services.connections.mongo.document import Reply
    from services.connections.reads.mongo import MongoRead
    from services.connections.remote_stream import RemoteStream
    from services.connections.ssh.connection import SshLink
    from services.connections.ssh.host_key_check import HostKeyPolicy
    from services.inventory.model import HostEntry
    from services.secrets import Vault


def _told(own: HostSession, problem: BaseException) -> UserError:
    return unforeseen(problem, tr("The connection to the host"), own.host)


@bounded(_told)
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
        """Return whether this session reads the host itself: over its SSH way, for one instance of it."""
        return self._entry.reads_machine

    @property
    def has_sql(self) -> bool:
        """Return whether the inventory gives a way into the server of this host."""
        return self._entry.sql is not None

    @property
    def kind(self) -> str:
        """Return what the server is: a kind's code of the inventory (services/inventory/kinds.py)."""
        return self._entry.kind

    @property
    def reached(self) -> tuple[str, ...]:
        """Return where SSH leads; see ObserverSession."""
        return self._links.reached

    def ask(self, read: MongoRead, *, limit_s: float = 5.0) -> Reply:
        """Send one command of the registry to a MongoDB server; see ObserverSession."""
        from services.connections.mongo.only_reads import template_of  # late: an SQL estate never asks

        template = template_of(read)
        refuse_other(self._entry, COMMANDS)
        return self._links.mongo(limit_s).ask(template, limit_s=limit_s)

    def query(self, read: SqlRead, *, limit_s: float = 5.0) -> Rows:
        """Send one statement of the registry; see ObserverSession."""
        sql = statement_of(read)
        refuse_other(self._entry, STATEMENTS)
        table = heartbeat_table(read)
        if table is not None and (self._entry.sql is None or table != self._entry.sql.heartbeat_table):
            raise Refused(
                tr(
                    "The Observer refuses {table}: the inventory names no such heartbeat table for this server.",
                    table=table,
                ),
                host=self.host,
                safe=tr("Nothing was sent to the server."),
            )
        return self._links.sql(limit_s).query(sql, limit_s=limit_s)

    def status(self, *, limit_s: float = 5.0) -> dict[str, str]:
        """Return SHOW GLOBAL STATUS as name -> text."""
        refuse_other(self._entry, STATEMENTS)
        return self._links.sql(limit_s).status(limit_s=limit_s)

    def run(self, read: CommandRead, *, limit_s: float = 10.0) -> Output:
        """Run one command of the registry; see ObserverSession."""
        return self._run(command_of(read), limit_s)

    def stream(self, read: CommandRead) -> Stream:
        """Start a long-lived command of the registry; see ObserverSession."""
        return self._stream(command_of(read))

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

    def _run(self, command: Command, limit_s: float) -> Output:
        from services.connections import remote_command  # paramiko: only a host with an SSH way needs it

        link, wrapped = self._prepare(within(command, limit_s))
        most, what = self._limits.output_bytes, command.brief
        return remote_command.run(link, wrapped, None, host=self.host, limit_s=limit_s, most=most, what=what)

    def _stream(self, command: Command) -> Stream:
        from services.connections import remote_command  # as above
        from services.connections.remote_stream import RemoteStream

        link, wrapped = self._prepare(command)
        channel = remote_command.start(
            link, wrapped, host=self.host, limit_s=self._limits.channel_s, what=command.brief
        )
        stream = RemoteStream(channel, wrapped, link, self.host, self._limits)
        self._streams = {old for old in self._streams if not old.closed} | {stream}
        return stream

    def _prepare(self, command: Command) -> tuple[SshLink, sudo.Wrapped]:
        """Connect, and wrap a bound command for the host's shell."""
        access = self._entry.ssh
        if access is None:
            raise BadInput(tr("The inventory has no SSH connection to this host."), host=self.host)
        link = self._links.ssh()
        return link, sudo.wrap(command, access, self._vault, user=link.target.user, host=self.host)

    def _ended(self) -> UserError:
        return Unreachable(tr("The session is closed."), host=self.host)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(UserError):
            self.close()
