"""Behind SSH and behind a socket of this machine: whoever listens there learns a password only where it is the server.

The SSH peer, the server and the sockets are real; they listen on loopback.
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import paramiko
import pytest

from services.connections.limits import Limits
from services.connections.probe.told import tls_told
from services.connections.sql.session import SqlLink
from services.connections.sql.socket_owner import is_of_the_server, listens_as_itself
from services.connections.ssh.connection import SshLink
from services.connections.tls.known_certificates import accept_certificate
from services.errors import CertificateChanged, CertificateUnknown, TlsFailed
from services.inventory.model import HostEntry, SqlAccess, SshAccess
from services.secrets import MemoryVault, SecretRef
from tests.unit.connections.ssh_peer import SshPeer, carry
from tests.unit.connections.tls_peer import Authority, Issued, TlsPeer

PASSWORD = "geheim€ und lang genug"
PROVEN = ("mysql_native_password", "client_ed25519")
READABLE = ("caching_sha2_password", "sha256_password", "mysql_clear_password", "dialog")
KEY = paramiko.ECDSAKey.generate()
Through = Callable[..., str]


@pytest.fixture
def certificate(tmp_path: Path) -> Issued:
    return Authority(tmp_path).issue("db1.example", "127.0.0.1")


@pytest.fixture
def server() -> Iterator[TlsPeer]:
    made = TlsPeer(None)
    yield made
    made.close()


@pytest.fixture
def through(server: TlsPeer, tmp_path: Path) -> Iterator[Through]:
    """Log in to the server through SSH to its host, whose key is known; return what proved it."""
    host = SshPeer(KEY, leads_to=server.port)
    (tmp_path / "known").write_text(host.known_as(KEY), encoding="utf-8")
    ssh = SshAccess("dba", port=host.port, password=SecretRef("env", "S"), config="", agent=False,
                    known_hosts=str(tmp_path / "known"))  # fmt: skip
    limits = Limits(handshake_s=5.0)
    vault = MemoryVault({"env:S": "x", "env:P": PASSWORD})
    way = SshLink.open(HostEntry("db1", "127.0.0.1", ssh), vault, policy=None, limits=limits)

    def log_in(**access: object) -> str:
        sql = SqlAccess("obs", password=SecretRef("env", "P"), port=server.port, via="tunnel", **access)  # type: ignore[arg-type]
        link = SqlLink.open(HostEntry("db1", "127.0.0.1", ssh, sql), vault, lambda: way, limits=limits, limit_s=5.0)
        link.close()
        return link.proof

    yield log_in
    way.close()
    host.close()


@pytest.mark.parametrize("encrypted", [False, True])
@pytest.mark.parametrize("mode", ["verify", "off", "required"])
def test_that_whoever_listens_on_a_port_of_the_host_gets_an_answer_to_a_challenge_and_no_more(
    server: TlsPeer, through: Through, certificate: Issued, mode: str, encrypted: bool
) -> None:
    server.certificate = certificate if encrypted else None
    possible = encrypted or mode != "required"
    for plugin in (*PROVEN, *READABLE):
        server.asks = plugin
        proof = None
        with contextlib.suppress(TlsFailed, CertificateUnknown):
            proof = through(tls=mode)
        assert proof == ("host" if possible and plugin in PROVEN else None), plugin
        assert not server.learnt(PASSWORD.encode()), plugin


def test_that_an_account_which_the_server_remembers_is_proven_by_a_challenge(server: TlsPeer, through: Through) -> None:
    server.asks, server.fast = "caching_sha2_password", True
    assert through() == "host"
    assert not server.learnt(PASSWORD.encode())


def test_that_the_refusal_says_what_to_do(server: TlsPeer, through: Through) -> None:
    server.asks = "caching_sha2_password"
    with pytest.raises(
        TlsFailed,
        match="identity",
    ) as caught:
        through()
    assert caught.value.safe == "The password was not sent."
    assert 'via = "socket"' in caught.value.try_[0]
    assert "enable TLS" in caught.value.try_[0]
    assert "ed25519" in caught.value.try_[1]


def test_that_a_server_with_a_certificate_is_asked_about_once_and_then_told_the_password(
    server: TlsPeer, through: Through, certificate: Issued, tmp_path: Path
) -> None:
    server.asks, server.certificate = "caching_sha2_password", certificate
    with pytest.raises(CertificateUnknown, match="asks for the password itself") as caught:
        through()
    assert caught.value.fingerprint == certificate.fingerprint
    assert 'via = "tunnel"' not in " ".join(caught.value.try_)
    accept_certificate(caught.value)
    assert through() == "pin"
    assert server.learnt(PASSWORD.encode())
    server.received.clear()
    server.certificate = Authority(tmp_path, "another").issue("db1.example", "127.0.0.1")
    with pytest.raises(CertificateChanged):
        through()
    assert not server.learnt(PASSWORD.encode())


def test_that_a_named_authority_is_enough_inside_ssh(server: TlsPeer, through: Through, tmp_path: Path) -> None:
    authority = Authority(tmp_path, "mine")
    server.asks, server.certificate = "mysql_clear_password", authority.issue("db1", "127.0.0.1")
    assert through(tls="verify-ca", ca=str(authority.file)) == "ca"
    assert server.learnt(PASSWORD.encode())


# ------------------------------------------------------------------------------------------- sockets
@pytest.mark.parametrize(
    ("path", "own"),
    [
        ("/run/mysqld/mysqld.sock", True),
        ("/var/run/mysqld/mysqld.sock", True),
        ("/var/lib/mysql/mysql.sock", True),
        ("/run/mysqld-2/server@1.sock", True),
        ("/tmp/mysql.sock", False),
        ("/run/user/1000/mysql.sock", False),
        ("/run/lock/mysql.sock", False),
        ("/run/mysqld.sock", False),
        ("/run/mysqld/../lock/mysql.sock", False),
        ("/home/mysql/run/mysqld/x", False),
    ],
)
def test_that_a_forwarded_socket_is_the_servers_where_only_root_makes_folders(path: str, own: bool) -> None:
    assert is_of_the_server(path) is own


needs_root = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can be two users")


def _as_nobody(path: Path) -> socket.socket:
    """Listen as another user: whom SO_PEERCRED tells is who called listen(2)."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    path.chmod(0o777)
    os.chown(path, 65534, 65534)

    def listen() -> None:
        os.seteuid(65534)
        try:
            listener.listen()
        finally:
            os.seteuid(0)

    listen()
    return listener


@needs_root
@pytest.mark.parametrize(("folder_of", "mode", "own"), [(65534, 0o755, True), (65534, 0o777, False), (0, 0o755, False)])
def test_that_a_socket_of_this_machine_is_the_servers_where_its_folder_is_the_listeners_own(
    folder_of: int, mode: int, own: bool
) -> None:
    folder = Path("/run") / f"pilothouse-test-{os.getpid()}"
    folder.mkdir()
    try:
        os.chown(folder, folder_of, folder_of)
        folder.chmod(mode)
        with _as_nobody(folder / "s") as _, socket.socket(socket.AF_UNIX) as sock:
            sock.connect(str(folder / "s"))
            assert listens_as_itself(sock, str(folder / "s")) is own
    finally:
        (folder / "s").unlink(missing_ok=True)
        folder.rmdir()


@needs_root
def test_that_a_folder_below_one_that_everybody_writes_to_is_nobodys(tmp_path: Path) -> None:
    os.chown(tmp_path, 65534, 65534)  # somewhere below /tmp
    with _as_nobody(tmp_path / "s") as _, socket.socket(socket.AF_UNIX) as sock:
        sock.connect(str(tmp_path / "s"))
        assert not listens_as_itself(sock, str(tmp_path / "s"))


def test_that_a_server_of_ones_own_is_ones_own(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener, socket.socket(socket.AF_UNIX) as sock:
        listener.bind(str(tmp_path / "s"))
        listener.listen()
        sock.connect(str(tmp_path / "s"))
        assert listens_as_itself(sock, str(tmp_path / "s"))


@needs_root
def test_that_a_name_that_belongs_to_another_user_is_not_ones_own(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener, socket.socket(socket.AF_UNIX) as sock:
        listener.bind(str(tmp_path / "s"))
        listener.listen()
        os.chown(tmp_path / "s", 65534, 65534)
        sock.connect(str(tmp_path / "s"))
        assert not listens_as_itself(sock, str(tmp_path / "s"))


@needs_root
def test_that_a_neighbour_behind_a_socket_learns_nothing(server: TlsPeer, tmp_path: Path) -> None:
    with _as_nobody(tmp_path / "s") as listener:
        served = threading.Thread(target=_hand_over, args=(listener, server))
        served.start()
        server.asks = "mysql_clear_password"
        sql = SqlAccess("obs", password=SecretRef("env", "P"), via="socket", socket=str(tmp_path / "s"))
        with pytest.raises(
            TlsFailed,
            match="identity",
        ) as caught:
            SqlLink.open(HostEntry("db1", "127.0.0.1", sql=sql), MemoryVault({"env:P": PASSWORD}), None,
                         limits=Limits(), limit_s=5.0)  # fmt: skip
        served.join(10)
    assert "a folder of its own" in caught.value.try_[0]
    assert server.received
    assert not server.learnt(PASSWORD.encode())


def _hand_over(listener: socket.socket, server: TlsPeer) -> None:
    carry(listener.accept()[0], server.port)


def test_that_the_test_says_how_much_each_way_proves() -> None:
    assert tls_told("socket", "", "socket", named=True)[0] == "skipped"
    assert tls_told("host", "", "socket", named=True)[0] == "warned"
    state, told = tls_told("host", "", "tunnel", named=True)
    assert (state, "only proven" in told) == ("passed", True)
