"""The default driver: PyMySQL greets, logs in and speaks TLS; statements and replies go over the lean reader."""

from __future__ import annotations

import contextlib
import socket
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import pymysql
from pymysql.constants import CR

from services.connections.budget import Metered, NoGreeting
from services.connections.dial import hang_up
from services.connections.limits import LOGIN_BYTES
from services.connections.ports import Rows
from services.connections.sql.kernel_timed import kernel_timed
from services.connections.sql.login_plugins import FIRST, HANDLERS, KNOWN
from services.connections.sql.text_pairs import PairsReader
from services.connections.sql.text_rows import Heads, PacketReader, read_rows
from services.connections.tls.policy import Proof, Road, SocketLike, TlsOverChannel, Trust, unverified
from services.connections.tls.wrapping import Seen, Wrapping
from services.i18n import tr

_COM_QUERY = 3


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
        trust: Trust,
        road: Road,
        limit_s: float,
        most: int,
        greeting_s: float | None = None,
    ) -> None:
        """Log in.

        Args:
            server_name: what the certificate must be for, where the context checks names.
            trust: how the server is judged before anything is sent to it. road: what lies in between.
            limit_s: of the whole login, TLS included. most: bytes of a reply.
            greeting_s: how long a server that says nothing at all is waited for (None: as long as the login may take):
                one that is held takes connections, by its kernel, and never greets.

        Raises:
            pymysql.MySQLError, OSError, and whatever bytes that are no greeting bring the driver to: see
            sql_errors.connect_error.
            WrongCertificate: it is not the accepted one.
        """
        self._most = most
        self._heads = Heads()
        self._pairs = PairsReader()
        self._connection = _Connection(account, server_name, trust, road=road, limit_s=limit_s, greeting_s=greeting_s)
        self._meter = sock if isinstance(sock, Metered) else Metered(sock)
        self._meter.begin(limit_s, LOGIN_BYTES)
        self._connection.connect(cast("socket.socket", self._meter))  # it only receives, sends, limits and closes
        self._connection.drop_reader()
        self._meter.free()
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

    @property
    def proof(self) -> Proof:
        """Return what says that this is the server (tls.Trust)."""
        return self._connection.trust.proof

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
            message = tr("a statement of 16 MB or more is not sent")
            raise ValueError(message)
        self._sock.settimeout(limit_s)
        if isinstance(self._sock, TlsOverChannel):  # it reads until a record is whole, however long that takes
            self._meter.begin(limit_s, self._most + self._most // 8)
        self._sock.sendall(struct.pack("<iB", len(payload) + 1, _COM_QUERY) + payload)
        return PacketReader(self._sock, limit_s=limit_s, most=self._most)


class _Connection(pymysql.Connection[Any] if TYPE_CHECKING else pymysql.Connection):  # type: ignore[misc]
    """PyMySQL's connection with a shared TLS context, channels as sockets, and no password in the clear."""

    if TYPE_CHECKING:  # left out by the stubs
        server_version: str
        _auth_plugin_name: str
        _sock: Any
        _rfile: Any
        _read_packet: Any
        _read_timeout: float

    def __init__(
        self,
        account: Account,
        server_name: str,
        trust: Trust,
        *,
        road: Road,
        limit_s: float,
        looks: bool = False,
        greeting_s: float | None = None,
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
            auth_plugin_map=dict(HANDLERS),
            defer_connect=True,
        )
        self._greeting_s = limit_s if greeting_s is None else min(greeting_s, limit_s)
        # Over a Unix socket the server takes the way for safe and expects caching_sha2's full login accordingly.
        self._secure = road == "socket"
        self.trust = trust
        if trust.context is not None:
            # PyMySQL would make a context of its own for each connection (17 ms of CPU, 0.9 MB).
            self.ssl = True
            self.ctx = Wrapping(trust, looks=looks)
            self._ssl_required = trust.required

    def _get_server_information(self) -> None:
        """Read the greeting, each piece of it within its own limit."""
        self._sock.settimeout(self._greeting_s)
        try:
            super()._get_server_information()
        except pymysql.OperationalError as problem:
            if isinstance(problem.__context__, TimeoutError):
                raise NoGreeting(self._greeting_s) from problem
            raise
        self._sock.settimeout(self._read_timeout)

    def _request_authentication(self) -> None:
        """Answer the greeting. PyMySQL would send sha256_password's answer, the password, without being asked."""
        if self._auth_plugin_name not in FIRST:
            self._auth_plugin_name = "mysql_native_password"
        super()._request_authentication()

    def _process_auth(self, plugin_name: bytes, auth_packet: Any, handler: Any = None) -> object:
        """Log in by the plugin that the server asks for, where it is one of those that are known here."""
        if plugin_name.decode("ascii", "replace") not in KNOWN:
            shown = plugin_name[:64].decode("ascii", "replace")
            raise pymysql.OperationalError(
                CR.CR_AUTH_PLUGIN_CANNOT_LOAD, f"Authentication plugin '{shown}' not configured"
            )
        if handler is not None:
            return handler.authenticate(auth_packet)
        return super()._process_auth(plugin_name, auth_packet)

    def socket_now(self) -> SocketLike:
        """Return the socket, TLS included where it was agreed."""
        sock: SocketLike | None = self._sock
        assert sock is not None
        return cast("SocketLike", sock.below) if isinstance(sock, Metered) else sock

    def drop_reader(self) -> None:
        """Close PyMySQL's own reader once the login is over: replies are read from the socket itself.

        A socket that is closed stays open underneath for as long as a reader stands on it: a connection that another
        thread cut would be left to the garbage collector.
        """
        self._rfile.close()
        self._rfile = None

    def cipher(self) -> str:
        """Return protocol and cipher, '' without TLS."""
        sock = self.socket_now()
        tls = getattr(sock, "tls", sock)
        version, cipher = getattr(tls, "version", None), getattr(tls, "cipher", None)
        if version is None or cipher is None:
            return ""
        return f"{version()} {(cipher() or ('',))[0]}"


def certificate_of(sock: SocketLike, server_name: str, *, limit_s: float) -> bytes:
    """Return the certificate (DER) a server shows, b'' when it shows none. Nobody logs in; the socket is closed.

    Raises what a login raises.
    """
    meter = Metered(sock)
    meter.begin(limit_s, LOGIN_BYTES)
    trust = Trust(unverified(), required=True)
    connection = _Connection(Account("", b""), server_name, trust, road="open", limit_s=limit_s, looks=True)
    try:
        connection.connect(cast("socket.socket", meter))
    except Seen as seen:
        return seen.certificate
    raise EOFError
