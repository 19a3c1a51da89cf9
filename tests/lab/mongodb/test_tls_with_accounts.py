"""TLS and X.509 on a real mongod 3.2 built with TLS, by the ciphers that such servers have: no forward secrecy."""

from __future__ import annotations

import functools
import secrets
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from services.connections.mongo.login import Credentials
from services.errors import AuthFailed, TlsFailed, Unreachable, UserError
from services.facts.mongodb.replica_set import ReplicaSet
from tests.lab.mongodb.servers import Server, binary
from tests.lab.mongodb.test_reading_real_servers import read
from tests.unit.connections.tls_peer import Authority

pytestmark = [pytest.mark.lab, pytest.mark.tls_build]
OLD = "AES256-GCM-SHA384:AES128-SHA"
"""What a build with OpenSSL 1.0 has to offer: it sets up neither DHE nor ECDHE (3.2 source, ssl_manager.cpp)."""
ROOT = Credentials("root", "r00t")
ROLES = [
    {"role": "clusterMonitor", "db": "admin"}, {"role": "read", "db": "config"}, {"role": "read", "db": "local"}
]  # fmt: skip
Run = Callable[..., Server]


@pytest.fixture
def ca(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    made: list[Server] = []

    def start(*options: str) -> Server:
        program = binary("mongod", "3.2")
        assert program is not None
        made.append(Server(program, tmp_path, *options))
        return made[-1]

    yield start
    for server in made:
        server.stop()


def tls(ca: Authority, mode: str = "preferSSL") -> tuple[str, ...]:
    """Options of a server. preferSSL takes clients without TLS too: the lab makes accounts as a DBA's shell does."""
    own = ca.issue("localhost", "127.0.0.1", of_rsa=True)
    files = ("--sslMode", mode, "--sslPEMKeyFile", str(own.file), "--sslCAFile", str(ca.file))
    return (*files, "--sslAllowConnectionsWithoutCertificates", "--sslCipherConfig", OLD)


def with_accounts(server: Server, subject: str = "") -> None:
    """root, monitor, and one for a certificate's subject."""
    server.command("admin", {"createUser": "root", "pwd": "r00t", "roles": ["root"]})
    server.command("admin", {"createUser": "monitor", "pwd": "s3cret", "roles": ROLES}, ROOT)
    if subject:
        server.command("$external", {"createUser": subject, "roles": ROLES}, ROOT)


@pytest.mark.parametrize("mode", ["required", "verify-ca", "verify-identity"])
def test_that_a_server_that_takes_nothing_but_tls_is_read_by_scram(run: Run, ca: Authority, mode: str) -> None:
    server = run(*tls(ca), "--auth")
    with_accounts(server)
    server.stop()
    server.restart_with(*tls(ca, "requireSSL"), "--auth")
    answer = read(server, "monitor", "s3cret", tls=mode, ca=str(ca.file))
    assert (answer.problems, answer.facts.server.role, answer.facts.server.version) == ((), "standalone", "3.2.5")
    with pytest.raises(AuthFailed):
        read(server, "monitor", "wrong", tls=mode, ca=str(ca.file))
    with pytest.raises(UserError) as refused:
        read(server, "monitor", "s3cret", tls="off")
    assert not isinstance(refused.value, AuthFailed)


def test_that_a_server_of_another_authority_is_told_nothing(run: Run, ca: Authority, tmp_path: Path) -> None:
    server, other = run(*tls(ca), "--auth"), Authority(tmp_path, "other CA")
    with_accounts(server)
    asked = server.log.count("authenticate")
    with pytest.raises(TlsFailed, match="is not accepted"):
        read(server, "monitor", "s3cret", tls="verify-ca", ca=str(other.file))
    assert server.log.count("authenticate") == asked


def test_that_nobody_goes_on_without_tls_where_it_is_asked_for(run: Run, ca: Authority) -> None:
    server = run()
    with pytest.raises((TlsFailed, Unreachable)):
        read(server, tls="required", ca=str(ca.file))


def test_that_a_client_certificate_logs_in_and_one_without_an_account_does_not(run: Run, ca: Authority) -> None:
    server, mine = run(*tls(ca), "--auth"), ca.issue("monitor", of_rsa=True)
    with_accounts(server, "CN=monitor")
    more: dict[str, Any] = {"tls": "verify-ca", "ca": str(ca.file), "mechanism": "x509"}
    answer = read(server, cert=str(mine.file), **more)
    assert (answer.problems, answer.facts.server.role) == ((), "standalone")
    with pytest.raises(AuthFailed):
        read(server, cert=str(ca.issue("nobody", of_rsa=True).file), **more)


def test_that_members_that_speak_tls_among_themselves_are_read_as_one_set(
    run: Run, ca: Authority, tmp_path: Path
) -> None:
    key = tmp_path / "key"
    key.write_text(secrets.token_hex(64))
    key.chmod(0o600)
    with_keyfile = ("--replSet", "rs0", "--oplogSize", "16", "--keyFile", str(key))
    servers = [run(*tls(ca), *with_keyfile) for _ in range(2)]
    # By the name in their certificates: 3.2 compares no addresses with them.
    members = [{"_id": n, "host": f"localhost:{one.port}", "priority": 10 - n} for n, one in enumerate(servers)]
    servers[0].command("admin", {"replSetInitiate": {"_id": "rs0", "version": 1, "members": members}})
    _until(lambda: bool(servers[0].command("admin", {"isMaster": 1}).get("ismaster")))
    with_accounts(servers[0])

    def seen(server: Server) -> ReplicaSet | None:
        return read(server, "monitor", "s3cret", tls="verify-ca", ca=str(ca.file)).facts.set

    def states(server: Server) -> list[str]:
        try:
            found = seen(server)
        except AuthFailed:  # the account has not come there yet
            return []
        return sorted(one.state for one in found.members) if found is not None else []

    for server in servers:
        _until(functools.partial(_both, states, server))


def _both(states: Callable[[Server], list[str]], server: Server) -> bool:
    return states(server) == ["PRIMARY", "SECONDARY"]


def _until(holds: Callable[[], bool], limit_s: float = 90.0) -> None:
    deadline = time.monotonic() + limit_s
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.5)
