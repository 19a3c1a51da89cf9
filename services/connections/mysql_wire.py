"""The default driver: PyMySQL greets, logs in and speaks TLS; statements and replies go over the lean reader."""

from __future__ import annotations

import contextlib
import socket
import ssl
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

import pymysql
from pymysql.constants import CR

from services.connections.dial import hang_up
from services.connections.kernel_timed import kernel_timed
from services.connections.ports import Rows
from services.connections.text_pairs import PairsReader
from services.connections.text_rows import Heads, PacketReader, read_rows
from services.connections.tls import SocketLike, TlsOverChannel
from services.words import tr

_COM_QUERY = 3

Road = Literal["open", "tunnel", "socket"]
"""What lies between here and the server: a network, an SSH tunnel to its port, its Unix socket (here or over SSH)."""


@dataclass(frozen=True, slots=True)
class Account:
    """Who logs in; the password is kept out of repr."""

    user: str
    password: bytes

    def __repr__(self) -> str:
        return f"Account({self.user!r}, ********)"


class MySqlWire:
    """One logged-in connection over a socket or channel that is already open. Not for two threads, but for `abort`."""

    driver = "pymysql"

    def __init__(
        self,
        sock: SocketLike,
        account: Account,
        *,
        server_name: str,
        context: ssl.SSLContext | None,
        required: bool,
        road: Road,
        limit_s: float,
        most: int,
    ) -> None:
        """Log in.

        Args:
            server_name: what the certificate must be for, where the context checks names.
            context: None is no TLS. required: refuse a server that offers none. road: what lies in between.
            limit_s: of every read of the login. most: bytes of a reply.

        Raises:
            pymysql.MySQLError, OSError: see sql_errors.connect_error.
        """
        self._most = most
        self._heads = Heads()
        self._pairs = PairsReader()
        self._connection = _Connection(account, server_name, context, required=required, road=road, limit_s=limit_s)
        self._connection.connect(cast("socket.socket", sock))  # it only receives, sends, limits and closes
        self._connection.drop_reader()
        plain = self._connection.socket_now()
        self._sock: SocketLike = kernel_timed(plain) or plain

    @property
    def version(self) -> str:
        """Return the server's version text."""
        return str(self._connection.server_version).removeprefix("5.5.5-")

    @property
    def cipher(self) -> str:
        """Return the TLS protocol and cipher in use, '' without TLS."""
        return self._connection.cipher()

    def rows(self, sql: str, *, limit_s: float) -> Rows:
        """Run one statement. Raises ServerError, TimeoutError, EOFError, OSError, BadReply."""
        reader = self._send(sql, limit_s)
        return read_rows(reader, self._heads.read(sql, reader))

    def pairs(self, sql: str, *, limit_s: float) -> dict[str, str]:
        """Run the one statement that is polled, and return its first two columns as name -> text."""
        reader = self._send(sql, limit_s)
        return self._pairs.read(reader, self._heads.read(sql, reader))

    def abort(self) -> None:
        """Cut the connection from any thread; a blocked call ends with an error."""
        hang_up(self._sock)

    def close(self) -> None:
        """Say goodbye and close; idempotent."""
        with contextlib.suppress(pymysql.MySQLError, OSError, EOFError):
            self._sock.settimeout(1.0)
            self._connection.close()
        hang_up(self._sock)

    def _send(self, sql: str, limit_s: float) -> PacketReader:
        payload = sql.encode("utf-8")
        if len(payload) >= 0xFFFFFF:
            message = tr("a statement of 16 MB and more is not sent")
            raise ValueError(message)
        self._sock.settimeout(limit_s)
        self._sock.sendall(struct.pack("<iB", len(payload) + 1, _COM_QUERY) + payload)
        return PacketReader(self._sock, limit_s=limit_s, most=self._most)


class _Connection(pymysql.Connection[Any] if TYPE_CHECKING else pymysql.Connection):  # type: ignore[misc]
    """PyMySQL's connection with a shared TLS context, channels as sockets, and no password in the clear."""

    if TYPE_CHECKING:  # left out by the stubs
        server_version: str
        _sock: Any
        _rfile: Any
        _read_packet: Any

    def __init__(
        self,
        account: Account,
        server_name: str,
        context: ssl.SSLContext | None,
        *,
        required: bool,
        road: Road,
        limit_s: float,
    ) -> None:
        super().__init__(
            user=account.user,
            password=account.password,  # bytes go through as they are; text only as latin-1
            host=server_name,
            charset="utf8mb4",
            autocommit=True,
            local_infile=False,
            ssl_disabled=True,
            read_timeout=limit_s,
            write_timeout=limit_s,
            program_name="pilothouse",
            auth_plugin_map={"mysql_clear_password": _OnlyUnseen, "dialog": _OnlyUnseen},
            defer_connect=True,
        )
        # Over a Unix socket the server takes the way for safe and expects caching_sha2's full login accordingly.
        self._secure = road == "socket"
        self.unseen = road != "open" or (context is not None and context.verify_mode is ssl.CERT_REQUIRED)
        if context is not None:
            # PyMySQL would make a context of its own for each connection (17 ms of CPU, 0.9 MB).
            self.ssl = True
            self.ctx = _Wrapping(context)
            self._ssl_required = required

    def socket_now(self) -> SocketLike:
        """Return the socket, TLS included where it was agreed."""
        sock: SocketLike | None = self._sock
        assert sock is not None
        return sock

    def drop_reader(self) -> None:
        """Close PyMySQL's own reader once the login is over: replies are read from the socket itself.

        A socket that is closed stays open underneath for as long as a reader stands on it: a connection that another
        thread cut would be left to the garbage collector.
        """
        self._rfile.close()
        self._rfile = None

    def cipher(self) -> str:
        """Return protocol and cipher, '' without TLS."""
        tls = getattr(self._sock, "tls", self._sock)
        version, cipher = getattr(tls, "version", None), getattr(tls, "cipher", None)
        if version is None or cipher is None:
            return ""
        return f"{version()} {(cipher() or ('',))[0]}"


class _Wrapping:
    """The shared context; wraps real sockets as ssl does, and channels with TlsOverChannel."""

    def __init__(self, context: ssl.SSLContext) -> None:
        self._context = context

    def wrap_socket(self, sock: SocketLike, server_hostname: str) -> object:
        """Speak TLS over `sock`."""
        if isinstance(sock, socket.socket):
            return self._context.wrap_socket(sock, server_hostname=server_hostname)
        return TlsOverChannel(sock, self._context, server_hostname)


class _OnlyUnseen:
    """Stands for the plugins that send the password readable: a server in the middle could ask for them.

    It is sent only where nobody can listen: inside SSH, or inside TLS with a verified certificate.
    """

    def __init__(self, connection: _Connection) -> None:
        self._connection = connection

    def authenticate(self, _packet: object) -> object:
        """Send the password, or refuse."""
        connection = self._connection
        if not connection.unseen:
            raise pymysql.OperationalError(
                CR.CR_AUTH_PLUGIN_ERR,
                "Authentication plugin refused: the server asks for the password in the clear; "
                "set tls to verify-ca or verify-identity",
            )
        connection.write_packet(connection.password + b"\0")
        reply = connection._read_packet()  # noqa: SLF001 - what PyMySQL's own plugins use
        reply.check_error()
        return reply
