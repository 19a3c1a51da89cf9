"""The changing road to one host (law 2): its own connections, no allow-list, closed for good when the arms go down.

It shares with HostSession only how a connection is opened (links.py), and none that is open: a person's approval of a
plan stands where the allow-list is there.
Every failure says what is true: until a statement or command was sent nothing was changed; afterwards only the step's
proof knows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from services.boundary import bounded, unforeseen
from services.connections import remote_command, sudo
from services.connections.command import Command
from services.connections.limits import Limits
from services.connections.links import Links, Road
from services.connections.operator import client as operator_client
from services.connections.operator import files as operator_files
from services.connections.ports import FileSeen, Output, Rows
from services.connections.server_kinds import COMMANDS, STATEMENTS, refuse_other, takes
from services.connections.sql import setup as sql_setup
from services.connections.ssh.host_key_check import HostKeyPolicy
from services.errors import AuthFailed, BadInput, QueryFailed, Refused, TimedOut, Unreachable, UserError
from services.i18n import tr
from services.secrets import Secret

if TYPE_CHECKING:
    from services.connections.mongo.change import MongoCommand, SetChange
    from services.connections.mongo.document import Document
    from services.connections.mongo.link import MongoLink
    from services.connections.sql.statement import Statement
    from services.inventory.model import HostEntry
    from services.secrets import Vault

T = TypeVar("T")

# ER_DBACCESS_DENIED, ER_ACCESS_DENIED, ER_TABLEACCESS_DENIED, ER_SPECIFIC_ACCESS_DENIED: the account lacks the right
# (mariadb.com/kb/en/mariadb-error-code-reference). The server refuses before it does anything.
_NO_RIGHT = frozenset({1044, 1045, 1142, 1227})
_HEAD = 200  # bytes of the line before a file's content


def _told(own: HostOperator, problem: BaseException) -> UserError:
    """Return the error of a connection that is lost for all that is known: whether an act happened is not known."""
    said = unforeseen(problem, tr("The connection to the host"), own.host)
    return Unreachable(said.sentence, host=own.host, safe=own._unknown(), try_=said.try_)  # noqa: SLF001 - its own


@bounded(_told)
class HostOperator:
    """OperatorSession (ports.py) for one inventory host. One thread at a time; `close` may be called from any."""

    def __init__(
        self, entry: HostEntry, vault: Vault, *, on_host_key: HostKeyPolicy | None = None, limits: Limits | None = None
    ) -> None:
        """Remember how to reach the host; nothing is opened yet.

        Args:
            on_host_key: asked about an unknown host key in the calling thread; without it HostKeyUnknown is raised.
        """
        self._entry = entry
        self._vault = vault
        self._limits = limits or Limits()
        road = Road(self._laid_down, sql_setup.OPERATOR_ON_CONNECT)
        self._links = Links(_as_operator(entry), vault, road, policy=on_host_key, limits=self._limits)
        self._as_root = entry.sql is None

    @property
    def host(self) -> str:
        """Return what the inventory calls it: a host's name, or an instance's key ('n1:3307')."""
        return self._entry.name

    def execute(self, statement: Statement, *, limit_s: float = 10.0) -> Rows:
        """Run one statement that changes the server.

        The account is the inventory's `operator_user`; without one the observer's, and where that one may not (or no
        session can be opened), root over the server's Unix socket: `sudo mariadb` with the statement on its input.
        Where a host carries several servers that socket is the one that the inventory names, and none by default.
        For a server that takes no statements nothing is sent: root's client would reach another one of the host.
        """
        self._links.refuse_when_closed()
        refuse_other(self._entry, STATEMENTS)
        sql, access = str(statement), self._entry.sql
        if not self._as_root:
            may_be_root = access is not None and access.operator_user is None and self._entry.ssh is not None
            try:
                link = self._links.sql(limit_s)
                return self._sent(lambda: link.query(sql, limit_s=limit_s))
            except (AuthFailed, QueryFailed) as problem:
                if not may_be_root or (isinstance(problem, QueryFailed) and problem.errno not in _NO_RIGHT):
                    raise
                self._as_root = True
            except Unreachable:
                if not may_be_root or self._links.server_was_open:  # it was sent: it may have had its effect
                    raise
        return self._execute_as_root(sql, limit_s)

    def change(self, command: MongoCommand, *, limit_s: float = 10.0) -> Document:
        """Send one command to the host's MongoDB server, with the inventory's account for changes."""
        link = self._mongo(limit_s)
        return self._sent(lambda: link.change(command, limit_s=limit_s))

    def reconfigure(self, change: SetChange, *, limit_s: float = 30.0) -> Document:
        """Change the configuration of the replica set whose primary this host's server is."""
        link = self._mongo(limit_s)
        return self._sent(lambda: link.reconfigure(change, limit_s=limit_s))

    def metadata(self, *, port: int | None = None, limit_s: float = 30.0) -> Document:
        """Return the hashes of the cluster's metadata, of the host's server or of one beside it; nothing is changed."""
        from services.connections.mongo.beside import beside, hashed  # late: BSON's codec, like links.mongo

        if port is None:
            return hashed(self._mongo(limit_s), limit_s)
        self._links.refuse_when_closed()
        link = beside(_as_operator(self._entry), self._vault, self._links.ssh, self._limits, port=port, limit_s=limit_s)
        try:
            return hashed(link, limit_s)
        finally:
            link.close()

    def run(self, command: Command, *, limit_s: float = 30.0) -> Output:
        """Run one command that changes the host (with sudo where the command asks for it)."""
        self._links.refuse_when_closed()
        access = self._entry.ssh
        if access is None:
            raise BadInput(tr("The inventory has no SSH connection to this host."), host=self.host)
        link = self._links.ssh()
        wrapped = sudo.wrap(command, access, self._vault, user=link.target.user, host=self.host)
        return self._sent(
            lambda: remote_command.run(
                link,
                wrapped,
                command.stdin,
                host=self.host,
                limit_s=limit_s,
                most=self._limits.output_bytes,
                what=operator_files.named(command),
            )
        )

    def look_file(self, path: str, *, whole: bool = True, follow: bool = True, limit_s: float = 10.0) -> FileSeen:
        """Return a file with its owner and mode, all of one and the same file (operator/files.py).

        Raises NotRead: a link stands in its way that another user may have laid, or it is no plain file.
        """
        _need_absolute(path, self.host)
        most = self._limits.output_bytes - _HEAD if whole else 0
        output = self.run(operator_files.read_command(path, most, follow=follow), limit_s=limit_s)
        found = operator_files.file_seen(output, path, self.host)
        if whole and len(found.content) >= most:
            raise BadInput(tr("The file {path} is too large.", path=path), host=self.host)
        return found

    def read_file(self, path: str, *, limit_s: float = 10.0) -> bytes | None:
        """Return a file's bytes (as root where the login may become it), None when it does not exist."""
        found = self.look_file(path, limit_s=limit_s)
        return found.content if found.there else None

    def write_file(
        self,
        path: str,
        content: Secret,
        *,
        mode: str = "0644",
        owner: str = "root:root",
        follow: bool = True,
        limit_s: float = 10.0,
    ) -> None:
        """Replace or make a file in one atomic rename; the content travels by standard input, never a command line.

        A symbolic link stays one, its target is replaced, where only root could have laid it (operator/files.py).
        """
        _need_absolute(path, self.host)
        output = self.run(operator_files.written(path, content, mode, owner, follow=follow), limit_s=limit_s)
        operator_files.need_done(output, path, self.host)

    def close(self) -> None:
        """Close everything for good; what is asked of it afterwards is Refused. Idempotent."""
        self._links.close()

    # ------------------------------------------------------------------------------------------------------------------
    def _mongo(self, limit_s: float) -> MongoLink:
        self._links.refuse_when_closed()
        if not takes(self._entry, COMMANDS):
            raise BadInput(tr("The inventory names no MongoDB server on this host."), host=self.host)
        link = self._links.mongo(limit_s)
        try:
            link.greet(limit_s=limit_s)
        except Unreachable:  # of before the server was restarted, or stepped down: nothing was sent yet
            link.abort()
            return self._links.mongo(limit_s)
        return link

    def _execute_as_root(self, sql: str, limit_s: float) -> Rows:
        socket = self._entry.sql.socket if self._entry.sql is not None else None
        if not socket and (self._entry.on or self._entry.others):
            raise BadInput(
                tr("The host has several servers, and the inventory names no socket for this server."),
                host=self.host,
                safe=tr("Nothing was sent to any server."),
                try_=(tr('Set "socket" or "operator_user" for this server in the inventory.'),),
            )
        for program in operator_client.PROGRAMS:
            command = operator_client.command(program, sql, socket, limit_s)
            output = self.run(command, limit_s=limit_s)
            if not operator_client.is_missing(output):
                return self._client_rows(output, limit_s)
        raise BadInput(
            tr(
                "The host has no mariadb or mysql client program, and the inventory has no account that may "
                "change the server."
            ),
            host=self.host,
            try_=(tr('Set "operator_user" for the host in the inventory.'),),
        )

    def _client_rows(self, output: Output, limit_s: float) -> Rows:
        try:
            return operator_client.rows(output, host=self.host, limit_s=limit_s)
        except TimedOut as problem:
            problem.safe = self._unknown()
            raise

    def _unknown(self) -> str:
        return tr("It may have taken effect on {host}, or may still do so; check before you repeat it.", host=self.host)

    def _sent(self, call: Callable[[], T]) -> T:
        """Make a call whose failure to answer does not mean that nothing happened."""
        try:
            return call()
        except Unreachable as problem:
            problem.safe = self._unknown()
            if self._links.closed:
                raise self._laid_down() from problem
            raise

    def _laid_down(self) -> Refused:
        return Refused(
            tr("No procedure is armed for this host now."), host=self.host, safe=tr("Nothing more is sent to it.")
        )


def _as_operator(entry: HostEntry) -> HostEntry:
    """Return the entry with the account for changes, where the inventory gives one, in the observer's place."""
    access = entry.sql
    if access is None or access.operator_user is None:
        return entry
    return replace(entry, sql=replace(access, user=access.operator_user, password=access.operator_password))


def _need_absolute(path: str, host: str) -> None:
    if not path.startswith("/") or "\0" in path:
        raise BadInput(tr("A file on a host needs an absolute path, not {path}.", path=path), host=host)
