"""A hostile MySQL server: whatever it does, one sentence about that host, in time and in little memory."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from services.clock import SystemClock
from services.connections.host import HostSession
from services.connections.limits import Limits
from services.connections.reads import statements
from services.errors import UserError
from services.inventory.model import HostEntry, SqlAccess
from services.secrets import MemoryVault
from tests.hostile.memory import grown
from tests.hostile.servers.listener import Listener, Script
from tests.hostile.servers.mysql_server import HELLO, MODES, OK, STATUS, hostile_mysql, let_in, take
from tests.unit.connections import packets as p

LIMITS = Limits(connect_s=1.0, handshake_s=2.0)
MOST_S = 9.0
"""Connecting, login and one statement have two seconds each; the rest is a shared machine's."""
MOST_BYTES = 300 << 20


@pytest.fixture
def made() -> Iterator[list[Listener]]:
    listeners: list[Listener] = []
    yield listeners
    for one in listeners:
        one.close()


def session(port: int) -> HostSession:
    entry = HostEntry("db1", "127.0.0.1", sql=SqlAccess("obs", port=port, tls="off"))
    return HostSession(entry, MemoryVault(), clock=SystemClock(), limits=LIMITS)


@pytest.mark.parametrize("ask", ["status", "query"])
@pytest.mark.parametrize("mode", MODES)
def test_that_a_hostile_server_is_one_sentence_in_time_and_in_little_memory(
    mode: str, ask: str, made: list[Listener]
) -> None:
    made.append(hostile_mysql(mode))
    began = time.monotonic()
    with grown() as memory, session(made[0].port) as host:
        call = host.status if ask == "status" else lambda limit_s: host.query(statements.VARIABLES, limit_s=limit_s)
        with pytest.raises(UserError) as raised:
            call(limit_s=2.0)
    assert time.monotonic() - began < MOST_S
    assert memory.bytes < MOST_BYTES
    assert raised.value.host == "db1"
    assert len(raised.value.sentence) < 1500
    assert "\x1b" not in raised.value.sentence


def test_that_a_login_that_drips_is_given_up_as_a_whole(made: list[Listener]) -> None:
    made.append(hostile_mysql("a byte at a time"))
    began = time.monotonic()
    with session(made[0].port) as host, pytest.raises(UserError) as raised:
        host.status(limit_s=2.0)
    assert time.monotonic() - began < 3.5
    assert raised.value.code == "timed-out"


@pytest.mark.parametrize("cut", range(0, len(HELLO) + 11, 3))
def test_that_a_server_that_closes_at_any_byte_is_one_sentence(cut: int, made: list[Listener]) -> None:
    def script(sock: object, over: threading.Event) -> None:
        raw = sock
        assert hasattr(raw, "sendall")
        raw.sendall(HELLO[:cut])
        if cut > len(HELLO):
            take(raw)
            raw.sendall(p.packets([OK], 2)[: cut - len(HELLO)])

    made.append(Listener(script))
    with session(made[0].port) as host, pytest.raises(UserError):
        host.status(limit_s=2.0)


def test_that_closing_a_session_ends_a_login_that_is_under_way(made: list[Listener]) -> None:
    made.append(hostile_mysql("silent"))
    host = session(made[0].port)
    ended: list[BaseException] = []

    def ask() -> None:
        try:
            host.status(limit_s=2.0)
        except UserError as problem:
            ended.append(problem)

    thread = threading.Thread(target=ask)
    thread.start()
    time.sleep(0.3)
    began = time.monotonic()
    host.close()
    thread.join(5)
    assert time.monotonic() - began < 1.0
    assert len(ended) == 1


def test_that_the_same_server_without_a_lie_is_read(made: list[Listener]) -> None:
    """Else every test above could pass for the wrong reason."""

    def script(sock: object, over: threading.Event) -> None:
        raw = sock
        assert hasattr(raw, "sendall")
        let_in(raw)
        while True:
            raw.sendall(STATUS if take(raw)[1:5] == b"SHOW" else p.packets([OK], 1))

    honest: Script = script
    made.append(Listener(honest))
    with session(made[0].port) as host:
        assert host.status(limit_s=2.0)["Uptime"] == "7"
