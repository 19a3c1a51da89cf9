"""SQL logins that the lab's servers don't ask for, played by a scripted server: hostile plugins, MySQL's default."""

from __future__ import annotations

import hashlib
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pymysql
import pytest

from services.clock import SystemClock
from services.connections.host import HostSession
from services.connections.limits import Limits
from services.connections.sql.errors import connect_error
from services.connections.sql.mysql_wire import Account, MySqlWire
from services.connections.tls.policy import Trust
from services.errors import TimedOut, TlsFailed, Unreachable
from services.inventory.model import HostEntry, SqlAccess, SshAccess, Tls
from services.secrets import MemoryVault, SecretRef
from tests.unit.connections import packets as p

PASSWORD = "geheim€"
SALT = b"abcdefghijklmnopqrst"
OK = b"\x00\x00\x00\x02\x00\x00\x00"
Script = Callable[["Server"], None]


def greeting(plugin: str, *, version: str = "8.4.0") -> bytes:
    """Protocol::HandshakeV10 without TLS."""
    flags = 0x00080000 | 0x00008000 | 0x00000200 | 0x00200000  # PLUGIN_AUTH, SECURE_CONNECTION, PROTOCOL_41, lenenc
    return b"".join(
        (
            b"\x0a", version.encode(), b"\0", struct.pack("<I", 7), SALT[:8], b"\0", struct.pack("<H", flags & 0xFFFF),
            b"\x2d\x02\x00", struct.pack("<H", flags >> 16), bytes([21]), b"\0" * 10, SALT[8:], b"\0",
            plugin.encode(), b"\0",
        )
    )  # fmt: skip


class Server:
    """Takes one connection and follows its script; everything the client sent is kept."""

    def __init__(self, script: Script) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._script = script
        self.port: int = self._listener.getsockname()[1]
        self.received: list[bytes] = []
        self._thread = threading.Thread(target=self._work)
        self._thread.start()

    def _work(self) -> None:
        self._listener.settimeout(5)
        try:
            self._sock, _ = self._listener.accept()
        except OSError:
            return
        with self._sock:
            self._sock.settimeout(5)
            try:
                self._script(self)
            except OSError:
                return

    def send(self, payload: bytes, sequence: int) -> None:
        """Send one packet."""
        self._sock.sendall(p.packets([payload], sequence))

    def read(self) -> bytes:
        """Read one packet's payload; b'' when the client is gone."""
        head = self._sock.recv(4, socket.MSG_WAITALL)
        if len(head) < 4:
            return b""
        self.received.append(self._sock.recv(int.from_bytes(head[:3], "little"), socket.MSG_WAITALL))
        return self.received[-1]

    def obey(self) -> None:
        """Answer OK to every command until the client leaves; status has one row."""
        while command := self.read():
            if b"SHOW GLOBAL STATUS" in command:
                self._sock.sendall(p.result([p.column("Variable_name"), p.column("Value")], [[b"Uptime", b"7"]]))
            else:
                self.send(OK, 1)

    def close(self) -> None:
        """End the thread."""
        self._listener.close()
        self._thread.join(10)


@pytest.fixture
def serve() -> Iterator[Callable[[Script], Server]]:
    made: list[Server] = []

    def start(script: Script) -> Server:
        made.append(Server(script))
        return made[-1]

    yield start
    for server in made:
        server.close()


def status(server: Server, *, tls: Tls = "off", limit_s: float = 5.0) -> dict[str, str]:
    sql = SqlAccess("obs", password=SecretRef("env", "P"), port=server.port, tls=tls)
    entry = HostEntry("db1", "127.0.0.1", sql=sql)
    with HostSession(
        entry, MemoryVault({"env:P": PASSWORD}), clock=SystemClock(), limits=Limits(handshake_s=3.0)
    ) as made:
        return made.status(limit_s=limit_s)


def test_that_a_server_far_away_is_logged_in_to_by_a_poll_of_a_second(serve: Callable[[Script], Server]) -> None:
    trip_s = 0.33

    def script(server: Server) -> None:
        time.sleep(trip_s)
        server.send(greeting("mysql_native_password"), 0)
        server.read()
        time.sleep(trip_s)
        server.send(OK, 2)
        while command := server.read():
            time.sleep(trip_s)
            if b"SHOW GLOBAL STATUS" in command:
                server._sock.sendall(p.result([p.column("Variable_name"), p.column("Value")], [[b"Uptime", b"7"]]))
            else:
                server.send(OK, 1)

    assert status(serve(script), limit_s=0.9) == {"Uptime": "7"}


def test_that_a_set_up_that_takes_the_logins_whole_time_is_told_with_that_time(
    serve: Callable[[Script], Server],
) -> None:
    def script(server: Server) -> None:
        server.send(greeting("mysql_native_password"), 0)
        server.read()
        server.send(OK, 2)
        while server.read():
            time.sleep(1.4)
            server.send(OK, 1)

    with pytest.raises(TimedOut, match=r"did not answer within 3 s"):
        status(serve(script), limit_s=0.9)


@pytest.mark.parametrize("plugin", [b"mysql_clear_password", b"dialog"])
def test_that_a_password_is_never_sent_readable_over_an_open_road(
    serve: Callable[[Script], Server], plugin: bytes
) -> None:
    def script(server: Server) -> None:
        server.send(greeting("mysql_native_password"), 0)
        server.read()
        server.send(b"\xfe" + plugin + b"\0" + b"\x02Password: ", 2)
        server.read()

    server = serve(script)
    with pytest.raises(TlsFailed, match="cleartext password"):
        status(server, tls="off")
    assert not any(PASSWORD.encode() in packet for packet in server.received)


def test_that_caching_sha2_logs_in_with_a_password_beyond_latin1(serve: Callable[[Script], Server]) -> None:
    first = hashlib.sha256(PASSWORD.encode()).digest()
    mask = hashlib.sha256(hashlib.sha256(first).digest() + SALT).digest()
    expected = bytes(a ^ b for a, b in zip(first, mask, strict=True))

    def script(server: Server) -> None:
        server.send(greeting("caching_sha2_password"), 0)
        assert expected in server.read()
        server.send(b"\x01\x03", 2)  # fast authentication succeeded
        server.send(OK, 3)
        server.obey()

    server = serve(script)
    assert status(server) == {"Uptime": "7"}
    sent = [packet[1:].decode(errors="replace") for packet in server.received[1:]]
    assert "SET SESSION TRANSACTION READ ONLY" in sent
    assert any(text.startswith("SET SESSION max_execution_time=") for text in sent)  # a MySQL, by its version


def test_that_verification_asked_for_and_not_offered_stops_before_the_login(serve: Callable[[Script], Server]) -> None:
    def script(server: Server) -> None:
        server.send(greeting("caching_sha2_password"), 0)
        server.read()

    server = serve(script)
    with pytest.raises(TlsFailed, match="offers no TLS"):
        status(server, tls="verify-ca")
    assert server.received == []


@pytest.mark.parametrize(
    "noise", [b"", b"\x00", b"HTTP/1.1 400 Bad Request\r\n\r\n", b"SSH-2.0-OpenSSH_9.2\r\n", b"\xff" * 90]
)
def test_that_a_port_where_something_else_answers_gives_a_sentence(
    serve: Callable[[Script], Server], noise: bytes
) -> None:
    server = serve(lambda server: server._sock.sendall(noise))
    with pytest.raises(Unreachable):
        status(server)


def test_that_an_alias_of_ssh_config_is_also_the_databases_address(
    serve: Callable[[Script], Server], tmp_path: Path
) -> None:
    def script(server: Server) -> None:
        server.send(greeting("mysql_native_password", version="5.5.5-10.11.6-MariaDB"), 0)
        server.read()
        server.send(OK, 2)
        server.obey()

    server = serve(script)
    config = tmp_path / "config"
    config.write_text("Host prod-db.invalid\n  HostName 127.0.0.1\n", encoding="utf-8")
    entry = HostEntry(
        "db1",
        "prod-db.invalid",
        ssh=SshAccess("dba", config=str(config)),
        sql=SqlAccess("obs", port=server.port, tls="off"),
    )
    with HostSession(entry, MemoryVault(), clock=SystemClock()) as made:
        assert made.status() == {"Uptime": "7"}


def test_that_a_connection_cut_by_another_thread_leaves_no_socket_open_underneath(
    serve: Callable[[Script], Server],
) -> None:
    """PyMySQL's reader kept it until the garbage was collected: seen as an unclosed SSLSocket on the lab."""

    def script(server: Server) -> None:
        server.send(greeting("mysql_native_password"), 0)
        server.read()
        server.send(OK, 2)
        server.obey()

    server = serve(script)
    sock = socket.create_connection(("127.0.0.1", server.port))
    wire = MySqlWire(sock, Account("obs", b"p"), server_name="", trust=Trust(), road="open", limit_s=3.0, most=1000)
    wire.abort()
    assert sock.fileno() == -1


def test_that_a_server_that_never_greets_is_left_after_the_limit_of_a_greeting_not_of_the_whole_login(
    serve: Callable[[Script], Server],
) -> None:
    """The kernel of a paused server takes connections: seen on the lab, where each try then took 5 s, not 2."""
    server = serve(lambda server: server.read())
    with socket.create_connection(("127.0.0.1", server.port)) as sock:
        started = time.monotonic()
        with pytest.raises(pymysql.OperationalError) as caught:
            MySqlWire(
                sock, Account("obs", b"p"), server_name="", trust=Trust(), road="open",
                limit_s=5.0, most=1000, greeting_s=0.2,
            )  # fmt: skip
        assert time.monotonic() - started < 1.5
    told = connect_error(caught.value, where="db1 port 3306", user="obs", host="db1", limit_s=5.0, tls="verify")
    assert isinstance(told, TimedOut)
    assert told.bare == "The server on db1 port 3306 did not answer the login within 0.2 s."
