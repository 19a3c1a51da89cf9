"""Which of a host's servers answers at a socket is asked before anything of it is shown (a scripted server)."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from services.clock import SystemClock
from services.connections.host import HostSession
from services.errors import NotThatServer, UserError
from services.inventory.model import HostEntry, Instance, SqlAccess
from services.secrets import MemoryVault
from tests.unit.connections import packets as p
from tests.unit.connections.sql.test_login_to_a_scripted_server import OK, greeting


class ScriptedSocket:
    """A server at a Unix socket that lets everybody in and says of its port what it is made to say."""

    def __init__(self, path: Path, says: bytes) -> None:
        self.path, self.asked = str(path), list[bytes]()
        self._says = says
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(self.path)
        self._listener.listen(4)
        self._listener.settimeout(5)
        self._thread = threading.Thread(target=self._work)
        self._thread.start()

    def _work(self) -> None:
        try:
            taken, _ = self._listener.accept()
        except OSError:
            return
        with taken:
            taken.settimeout(5)
            try:
                self._talk(taken)
            except OSError:
                return

    def _talk(self, taken: socket.socket) -> None:
        taken.sendall(p.packets([greeting("mysql_native_password")], 0))
        self._read(taken)
        taken.sendall(p.packets([OK], 2))
        while command := self._read(taken):
            self.asked.append(command[1:])
            if b"@@GLOBAL.port" in command:
                taken.sendall(p.result([p.column("@@GLOBAL.port")], [[self._says]]))
            elif b"SHOW GLOBAL STATUS" in command:
                taken.sendall(p.result([p.column("Variable_name"), p.column("Value")], [[b"Uptime", b"7"]]))
            else:
                taken.sendall(p.packets([OK], 1))

    def _read(self, taken: socket.socket) -> bytes:
        head = taken.recv(4, socket.MSG_WAITALL)
        return taken.recv(int.from_bytes(head[:3], "little"), socket.MSG_WAITALL) if len(head) == 4 else b""

    def close(self) -> None:
        """End the thread."""
        self._listener.close()
        self._thread.join(10)


@pytest.fixture
def says(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ScriptedSocket]:
    made = ScriptedSocket(tmp_path / "s", request.param)
    yield made
    made.close()


def _entry(path: str, key: str) -> HostEntry:
    by_socket = SqlAccess("inst", via="socket", socket=path)
    second = Instance("n1", "mysql", 3307, replace(by_socket, port=3307))
    if key == "alone":
        return HostEntry("n1", "127.0.0.1", sql=by_socket)
    host = HostEntry("n1", "127.0.0.1", sql=by_socket, beside=(second, Instance("n1", "proxysql", 6032)))
    return host if key == "n1" else host.of_instance(second)


def _status(entry: HostEntry) -> dict[str, str]:
    with HostSession(entry, MemoryVault({}), clock=SystemClock()) as session:
        return session.status()


@pytest.mark.parametrize(
    ("says", "key"),
    [(b"3306", "n1:3307"), (b"3307", "n1"), (b"", "n1:3307"), (b"9" * 400, "n1:3307"), (b"-3307", "n1:3307")],
    indirect=["says"],
)
def test_that_another_server_s_state_is_not_shown_as_this_one_s(says: ScriptedSocket, key: str) -> None:
    with pytest.raises(UserError) as refused:
        _status(_entry(says.path, key))
    assert refused.value.code == NotThatServer.code
    assert not [asked for asked in says.asked if b"STATUS" in asked]


@pytest.mark.parametrize(
    ("says", "key"), [(b"3307", "n1:3307"), (b"0", "n1:3307"), (b"3310", "n1"), (b"3307", "alone")], indirect=["says"]
)
def test_that_a_server_with_the_port_of_its_key_or_with_none_is_the_one(says: ScriptedSocket, key: str) -> None:
    """A host with one server is not asked: its port says nothing about a socket, and old files never gave it."""
    assert _status(_entry(says.path, key)) == {"Uptime": "7"}
    assert any(b"@@GLOBAL.port" in asked for asked in says.asked) is (key != "alone")


def test_that_a_port_that_is_dialled_may_be_called_otherwise_by_its_server() -> None:
    published = Instance("n1", "mysql", 3307, SqlAccess("inst", port=3307))
    host = HostEntry("n1", "10.0.0.1", sql=SqlAccess("obs"), beside=(published,))
    assert not host.of_instance(published).is_another(3306)
    assert not host.is_another(3307)
