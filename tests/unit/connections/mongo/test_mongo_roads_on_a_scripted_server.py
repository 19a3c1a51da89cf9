"""The ways to a MongoDB server that are no open network: through SSH, by its Unix socket; the servers are scripted."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from services.clock import SystemClock
from services.connections.host import HostSession
from services.connections.limits import Limits
from services.connections.mongo.link import MongoLink
from services.connections.mongo.only_reads import template_of
from services.connections.reads import mongo as reads
from services.connections.ssh.connection import SshLink
from services.errors import QueryFailed, TlsFailed, Unreachable
from services.inventory.model import HostEntry, MongoAccess, SshAccess
from services.secrets import MemoryVault, SecretRef
from tests.unit.connections.mongo.test_mongo_session_on_a_scripted_server import USERS, serving
from tests.unit.connections.mongo_peer import HELLO_32, HELLO_80, MongoPeer
from tests.unit.connections.tls_peer import Authority

FORMS = pytest.mark.parametrize("hello", [HELLO_32, HELLO_80], ids=["as 3.2", "as 8.0"])
LIMITS = Limits(connect_s=10.0, handshake_s=10.0)


class Channel:
    """What SSH gives instead of a socket: no file descriptor that TLS could take."""

    def __init__(self, port: int) -> None:
        self._sock = socket.create_connection(("127.0.0.1", port), 2.0)

    def recv(self, size: int, /) -> bytes:
        return self._sock.recv(size)

    def sendall(self, data: bytes, /) -> None:
        self._sock.sendall(data)

    def settimeout(self, seconds: float | None, /) -> None:
        self._sock.settimeout(seconds)

    def close(self) -> None:
        with suppress(OSError):
            self._sock.shutdown(socket.SHUT_RDWR)
        self._sock.close()


class ScriptedSsh:
    """An SSH connection to the host on which the peer listens."""

    alive = True
    target = SimpleNamespace(host="192.0.2.7")

    def __init__(self, port: int) -> None:
        self._port = port
        self.asked: list[tuple[str, int]] = []

    def tcp(self, address: str, port: int, *, limit_s: float | None = None) -> Any:
        self.asked.append((address, port))
        if address != "127.0.0.1":
            raise Unreachable("refused")
        return Channel(self._port)


def through_ssh(peer: MongoPeer, **more: Any) -> tuple[MongoLink, ScriptedSsh]:
    ssh = ScriptedSsh(peer.port)
    sql = MongoAccess("monitor", SecretRef("env", "P"), port=27017, via="tunnel", **more)
    entry = HostEntry("db1", "db1.example", SshAccess("dba"), sql, kind="mongodb")
    vault = MemoryVault({"env:P": "s3cret"})
    link = MongoLink.open(entry, vault, lambda: cast("SshLink", ssh), limits=LIMITS, limit_s=10.0)
    return link, ssh


@FORMS
def test_that_a_server_without_tls_is_reached_through_ssh_and_is_only_given_a_proof(hello: Mapping[str, Any]) -> None:
    with MongoPeer({"buildInfo": {"version": "x", "ok": 1.0}}, hello=hello, users=USERS) as peer:
        link, ssh = through_ssh(peer)
        assert link.ask(template_of(reads.BUILD_INFO), limit_s=10.0).body["version"] == "x"
        assert (link.proof, link.cipher, link.logged_in) == ("host", "", True)
        link.close()
        assert set(ssh.asked) == {("127.0.0.1", 27017)}
    assert "s3cret" not in str(peer.asked)


@FORMS
def test_that_tls_is_spoken_through_ssh_where_the_server_has_it(hello: Mapping[str, Any], tmp_path: Path) -> None:
    tls = serving(Authority(tmp_path).issue("n1", "127.0.0.1").file)
    with MongoPeer({"buildInfo": {"ok": 1.0}}, hello=hello, users=USERS, tls=tls) as peer:
        link, _ = through_ssh(peer)
        link.ask(template_of(reads.BUILD_INFO), limit_s=10.0)
        assert link.cipher.startswith("TLSv1")
        link.close()
        assert peer.opened == 1


@pytest.mark.parametrize("cipher", ["AES256-GCM-SHA384", "AES256-SHA"])
@pytest.mark.parametrize("mode", ["verify", "required", "verify-ca"])
def test_that_a_server_without_forward_secrecy_is_reached(cipher: str, mode: str, tmp_path: Path) -> None:
    """MongoDB up to 3.6 with OpenSSL 1.0 has nothing else, and Python 3.10 and newer offer it nothing: 'handshake
    failure'. The real one is asked in tests/lab/mongodb where its build has TLS."""
    ca = Authority(tmp_path)
    tls = serving(ca.issue("n1", "127.0.0.1", of_rsa=True).file)
    tls.maximum_version = ssl.TLSVersion.TLSv1_2
    tls.set_ciphers(cipher)
    with MongoPeer({"buildInfo": {"ok": 1.0}}, users=USERS, tls=tls) as peer:
        link, _ = through_ssh(peer, tls=mode, ca=None if mode == "verify" else str(ca.file))
        assert link.cipher == f"TLSv1.2 {cipher}"
        link.close()


@pytest.mark.parametrize("mode", ["required", "verify-ca", "verify-identity"])
def test_that_nobody_who_asks_for_tls_is_brought_to_go_without_it(mode: str, tmp_path: Path) -> None:
    ca = Authority(tmp_path)
    with MongoPeer({}, users=USERS) as peer:
        with pytest.raises((Unreachable, TlsFailed)):
            through_ssh(peer, tls=mode, ca=str(ca.file))
        assert (peer.asked, peer.opened) == ([], 1)


def test_that_a_login_by_certificate_is_never_tried_without_tls(tmp_path: Path) -> None:
    mine = Authority(tmp_path).issue("monitor")
    with MongoPeer({}, users={}) as peer:
        with pytest.raises((Unreachable, TlsFailed)):
            through_ssh(peer, mechanism="x509", cert=str(mine.file))
        assert (peer.asked, peer.opened) == ([], 1)


@pytest.mark.parametrize("tls", ["verify", "required", "verify-ca"])
def test_that_who_takes_a_login_by_certificate_is_believed_only_where_its_own_is_verified(
    tls: str, tmp_path: Path
) -> None:
    """Anybody takes such a login who listens on the port: it proves nothing of him."""
    ca = Authority(tmp_path)
    server, mine = serving(ca.issue("n1", "127.0.0.1").file, ca=ca.file), ca.issue("monitor")
    verified = tls == "verify-ca"
    with MongoPeer({"replSetGetStatus": {"set": "rs0", "ok": 1.0}}, hello=HELLO_80, users={}, tls=server) as peer:
        link, _ = through_ssh(peer, mechanism="x509", tls=tls, ca=str(ca.file), cert=str(mine.file))
        assert link.ask(template_of(reads.HELLO), limit_s=5.0).proven is verified
        if verified:
            link.ask(template_of(reads.SET_STATUS), limit_s=5.0)
        else:
            with pytest.raises(QueryFailed, match=r"cannot be trusted.*verify-ca"):
                link.ask(template_of(reads.SET_STATUS), limit_s=5.0)
        link.close()
    assert ("replSetGetStatus" in [next(iter(command)) for _, command, _ in peer.asked]) is verified


def test_that_a_certificate_of_another_authority_ends_it_inside_ssh_too(tmp_path: Path) -> None:
    ca, other = Authority(tmp_path), Authority(tmp_path, "other CA")
    with MongoPeer({}, users=USERS, tls=serving(other.issue("db1.example").file)) as peer:
        with pytest.raises(TlsFailed, match="is not accepted"):
            through_ssh(peer, tls="verify-identity", ca=str(ca.file))
        assert peer.asked == []


def test_that_a_large_reply_comes_whole_through_tls_over_ssh(tmp_path: Path) -> None:
    tls = serving(Authority(tmp_path).issue("n1", "127.0.0.1").file)
    long = "x" * 3_000_000
    with MongoPeer({"serverStatus": {"host": long, "ok": 1.0}}, users=USERS, tls=tls) as peer:
        link, _ = through_ssh(peer)
        assert link.ask(template_of(reads.SERVER_STATUS), limit_s=5.0).body["host"] == long
        peer.replies["serverStatus"] = {"host": long * 2, "ok": 1.0}
        with pytest.raises(Unreachable, match="cannot be used"):
            link.ask(template_of(reads.SERVER_STATUS), limit_s=5.0)
        assert not link.alive


def test_that_a_unix_socket_of_this_machine_is_found_by_the_port_or_by_its_name(tmp_path: Path) -> None:
    """The socket that mongod makes by itself stands in /tmp, where anybody may make one: it gets proofs only."""
    path = tmp_path / "mongodb-27017.sock"
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen()
    with MongoPeer({"buildInfo": {"ok": 1.0}}, users=USERS, listener=listener):
        sql = MongoAccess("monitor", SecretRef("env", "P"), via="socket", socket=str(path))
        entry = HostEntry("n1", "127.0.0.1", sql=sql, kind="mongodb")
        own = HostSession(entry, MemoryVault({"env:P": "s3cret"}), clock=SystemClock(), limits=LIMITS)
        own.ask(reads.BUILD_INFO)
        own.close()
    unnamed = HostEntry("n1", "127.0.0.1", sql=MongoAccess("", port=1, via="socket"), kind="mongodb")
    own = HostSession(unnamed, MemoryVault(), clock=SystemClock(), limits=LIMITS)
    with pytest.raises(Unreachable, match=r"/tmp/mongodb-1\.sock"):
        own.ask(reads.BUILD_INFO)
    own.close()


def test_that_a_tls_hello_to_a_server_without_tls_is_no_message_of_its_protocol() -> None:
    """What the way through SSH leans on: 3.2 reads 16 bytes and tells TLS by responseTo (source, message_port.cpp)."""
    out = ssl.MemoryBIO()
    context = ssl.create_default_context()
    tls = context.wrap_bio(ssl.MemoryBIO(), out, server_hostname="x")
    with pytest.raises(ssl.SSLWantReadError):
        tls.do_handshake()
    head = out.read()[:16]
    assert int.from_bytes(head[12:16], "little") not in {1, 2004, 2013}
    assert int.from_bytes(head[8:12], "little", signed=True) not in {0, -1}  # responseTo
