"""Why a host is not reached, told apart: another service on its port, a name that nobody could be asked for."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from services.connections.limits import Limits
from services.connections.probe.test import AccessReport, probe_access
from services.errors import UNHEARD, UNREACHED, NameUnknown, OtherProtocol, ResolverSilent, TimedOut, Unreachable
from services.inventory.model import HostEntry, SqlAccess, SshAccess
from services.secrets import MemoryVault, SecretRef

Serve = Callable[[bytes], int]
LIMITS = Limits(connect_s=3.0, handshake_s=1.5)
MYSQL = b"\x4a\x00\x00\x00\x0a8.0.36\x00" + bytes(62)


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Listen, send the same bytes to whoever comes, and stay until the end."""
    listeners: list[socket.socket] = []
    threads: list[threading.Thread] = []
    peers: list[socket.socket] = []

    def start(noise: bytes) -> int:
        listener = socket.create_server(("127.0.0.1", 0))
        listeners.append(listener)

        def work() -> None:
            try:
                while True:
                    peer = listener.accept()[0]
                    peers.append(peer)
                    peer.sendall(noise)
                    if not noise:
                        peer.shutdown(socket.SHUT_RDWR)
            except OSError:
                return

        threads.append(threading.Thread(target=work))
        threads[-1].start()
        return int(listener.getsockname()[1])

    yield start
    for listener in listeners:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
    for thread in threads:
        thread.join(10)
    for peer in peers:
        peer.close()


def report(folder: Path, *, ssh: int = 0, sql: int = 0, address: str = "127.0.0.1") -> AccessReport:
    (folder / "config").write_text("", encoding="utf-8")
    way_in = SshAccess("dba", port=ssh, config=str(folder / "config")) if ssh else None
    server = SqlAccess("obs", password=SecretRef("env", "P"), port=sql, tls="off") if sql else None
    entry = HostEntry("db1", address, ssh=way_in, sql=server)
    return probe_access(entry, MemoryVault({"env:P": "secret"}), limits=LIMITS)


def failed(made: AccessReport) -> tuple[str, type[object], str]:
    step = next(step for step in made.steps if step.state == "failed")
    return step.name, type(step.error), step.sentence


@pytest.mark.parametrize(
    "noise", [MYSQL, b"HTTP/1.1 400 Bad Request\r\n\r\n", b"220 mail ESMTP ready\r\n", b"\xff\xfe\n"],
    ids=["MySQL", "HTTP", "SMTP", "bytes"],
)  # fmt: skip
def test_that_another_service_on_the_ssh_port_is_told_as_another_protocol(
    serve: Serve, tmp_path: Path, noise: bytes
) -> None:
    port = serve(noise)
    sentence = f"What listens on 127.0.0.1 port {port} does not speak SSH."
    assert failed(report(tmp_path, ssh=port)) == ("tcp", OtherProtocol, sentence)


@pytest.mark.parametrize("noise", [b"Exceeded MaxStartups\r\n", b"Not allowed at this time\r\n", b""])
def test_that_an_sshd_that_drops_us_is_not_told_as_another_protocol(serve: Serve, tmp_path: Path, noise: bytes) -> None:
    assert failed(report(tmp_path, ssh=serve(noise)))[1] in {Unreachable, TimedOut}


@pytest.mark.parametrize("noise", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"SSH-2.0-OpenSSH_9.2\r\n"])
def test_that_another_service_on_the_databases_port_is_told_as_another_protocol(
    serve: Serve, tmp_path: Path, noise: bytes
) -> None:
    assert failed(report(tmp_path, sql=serve(noise)))[:2] == ("sql-tcp", OtherProtocol)


def test_that_another_protocol_is_judged_as_a_silent_host_was() -> None:
    assert OtherProtocol.code in UNHEARD
    assert OtherProtocol.code in UNREACHED


@pytest.mark.parametrize(
    ("number", "kind", "words"),
    [
        (socket.EAI_NONAME, NameUnknown, 'The name "db1.example" cannot be resolved (why).'),
        (socket.EAI_AGAIN, ResolverSilent, 'The name "db1.example" could not be looked up (why).'),
        (socket.EAI_FAIL, ResolverSilent, 'The name "db1.example" could not be looked up (why).'),
    ],
)
@pytest.mark.parametrize("way", ["ssh", "sql"])
def test_that_a_mock_of_a_resolver_that_is_not_there_is_told_apart_from_a_name_nobody_knows(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, way: str, number: int, kind: type[object], words: str
) -> None:
    def no_answer(*_given: object, **_more: object) -> None:
        raise socket.gaierror(number, "why")

    monkeypatch.setattr(socket, "getaddrinfo", no_answer)
    made = report(tmp_path, **{way: 22}, address="db1.example")
    assert failed(made) == ("name", kind, words)
    assert made.unknown_name == ("db1.example" if kind is NameUnknown else "")
