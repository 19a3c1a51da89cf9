"""Whenever a login breaks off, its socket is closed at once: none is left to the garbage collector."""

from __future__ import annotations

import gc
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from services.clock import SystemClock
from services.connections.host import HostSession
from services.connections.limits import Limits
from services.connections.tls.policy import trust_for
from services.errors import UserError
from services.inventory.model import HostEntry, SqlAccess
from services.secrets import MemoryVault, SecretRef
from tests.unit.connections.leaving_peer import MOMENTS, WAYS, LeavingPeer, certificate, reset_by_peer

Serve = Callable[[str, str], LeavingPeer]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return certificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture
def serve(files: tuple[Path, Path]) -> Iterator[Serve]:
    made: list[LeavingPeer] = []

    def start(moment: str, way: str) -> LeavingPeer:
        made.append(LeavingPeer(files, moment, way))
        return made[-1]

    yield start
    for peer in made:
        peer.close()


def session(peer: LeavingPeer, files: tuple[Path, Path]) -> HostSession:
    access = SqlAccess("obs", password=SecretRef("env", "P"), port=peer.port, tls="verify-ca", ca=str(files[0]))
    entry = HostEntry("db1", "127.0.0.1", sql=access)
    return HostSession(entry, MemoryVault({"env:P": "secret"}), clock=SystemClock(), limits=Limits(handshake_s=2.0))


def left_open(before: set[int], peer: LeavingPeer) -> list[socket.socket]:
    """Return the open sockets of this process that are neither older than the test nor the peer's own ends."""
    known = before | {id(one) for one in peer.sockets}
    return [
        one for one in gc.get_objects() if isinstance(one, socket.socket) and one.fileno() >= 0 and id(one) not in known
    ]


def sockets_now() -> set[int]:
    return {id(one) for one in gc.get_objects() if isinstance(one, socket.socket)}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("moment", MOMENTS)
def test_that_a_login_that_a_server_breaks_off_leaves_no_open_socket(
    serve: Serve, files: tuple[Path, Path], moment: str, way: str
) -> None:
    before = sockets_now()
    peer = serve(moment, way)
    with session(peer, files) as made, pytest.raises(UserError) as problem:
        made.status(limit_s=2.0)
    # Held: what the traceback holds may not be what closes it.
    assert problem.value.sentence
    assert left_open(before, peer) == []


@pytest.mark.parametrize("moment", ["in the handshake", "set up"])
def test_that_a_session_closed_by_another_thread_leaves_no_open_socket(
    serve: Serve, files: tuple[Path, Path], moment: str
) -> None:
    before = sockets_now()
    peer = serve(moment, "silence")
    made = session(peer, files)
    told: list[UserError] = []

    def ask() -> None:
        try:
            made.status(limit_s=2.0)
        except UserError as problem:
            told.append(problem)

    asking = threading.Thread(target=ask)
    asking.start()
    assert peer.there.wait(5)
    made.close()
    asking.join(10)
    assert not asking.is_alive()
    assert len(told) == 1
    assert left_open(before, peer) == []


def test_that_a_server_that_was_killed_before_the_handshake_is_an_error_and_no_open_socket(
    files: tuple[Path, Path],
) -> None:
    context = trust_for(SqlAccess("obs", tls="verify-ca", ca=str(files[0])), "open").context
    assert context is not None
    sock = reset_by_peer()
    number = sock.fileno()
    with pytest.raises(ConnectionResetError) as problem:
        context.wrap_socket(sock, server_hostname="localhost")
    assert problem.value.__traceback__ is not None  # it holds the socket that is asked about
    still = [o for o in gc.get_objects() if isinstance(o, ssl.SSLSocket) and o.fileno() == number]
    assert still == []
    assert sock.fileno() == -1
