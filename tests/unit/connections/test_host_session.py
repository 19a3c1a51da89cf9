"""The session's own rules; what it does on real hosts is in tests/lab."""

from __future__ import annotations

import socket
import threading
from typing import Any

import pytest

from services.clock import ManualClock
from services.connections.command import Command
from services.connections.host import HostSession
from services.connections.limits import Limits
from services.connections.ports import ObserverSession
from services.connections.reads import commands, statements
from services.connections.reads.read import CommandRead, SqlRead
from services.errors import BadInput, Refused, TimedOut, Unreachable
from services.inventory.model import HostEntry, SqlAccess, SshAccess
from services.secrets import MemoryVault

LIMITS = Limits(connect_s=0.3, handshake_s=0.3)


def session(entry: HostEntry, clock: ManualClock | None = None) -> HostSession:
    return HostSession(entry, MemoryVault(), clock=clock or ManualClock(), limits=LIMITS)


@pytest.fixture
def silent() -> object:
    """A port that takes connections and never says a word, and counts them."""
    taken: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.05)
        done = threading.Event()

        def accept() -> None:
            while not done.is_set():
                try:
                    taken.append(server.accept()[0])
                except TimeoutError:
                    continue

        thread = threading.Thread(target=accept)
        thread.start()
        yield server.getsockname()[1], taken
        done.set()
        thread.join()
    for sock in taken:
        sock.close()


def test_that_a_session_is_what_the_layers_above_expect() -> None:
    made: ObserverSession = session(HostEntry("db1", "127.0.0.1"))
    assert (made.host, made.has_ssh, made.has_sql) == ("db1", False, False)


def test_that_a_statement_or_command_off_the_list_is_refused_before_anything_is_opened(
    silent: tuple[int, list[socket.socket]],
) -> None:
    port, taken = silent
    made = session(
        HostEntry("db1", "127.0.0.1", ssh=SshAccess("dba", port=port, config=""), sql=SqlAccess("obs", port=port))
    )
    texts: list[Any] = ["SET GLOBAL read_only=1", "SELECT 1", "SHOW GLOBAL STATUS", SqlRead("SHOW GLOBAL STATUS")]
    for statement in texts:
        with pytest.raises(Refused):
            made.query(statement)
    words: list[Any] = [Command(("cat", "/proc/loadavg")), Command(("rm", "-rf", "/")), "id -u", CommandRead("id -u")]
    for command in words:
        with pytest.raises(Refused):
            made.run(command)
        with pytest.raises(Refused):
            made.stream(command)
    assert taken == []


def test_that_a_way_the_inventory_does_not_give_is_told() -> None:
    made = session(HostEntry("db1", "127.0.0.1"))
    with pytest.raises(BadInput, match="no SQL connection"):
        made.query(statements.ONE)
    with pytest.raises(BadInput, match="no SSH connection"):
        made.run(commands.CLOCK)


def test_that_a_server_which_never_greets_times_out_and_the_next_call_does_not_wait_again(
    silent: tuple[int, list[socket.socket]],
) -> None:
    port, taken = silent
    clock = ManualClock()
    made = session(HostEntry("db1", "127.0.0.1", ssh=SshAccess("dba", port=port, config="")), clock)
    with pytest.raises(TimedOut, match=" sent no SSH greeting within"):
        made.run(commands.CLOCK)
    tried = len(taken)
    with pytest.raises(Unreachable, match="next attempt in"):
        made.run(commands.CLOCK)
    assert len(taken) == tried
    clock.advance(2.0)
    with pytest.raises(TimedOut):
        made.run(commands.CLOCK)
    assert len(taken) == tried + 1
    made.close()


def test_that_a_refused_port_says_that_nothing_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    made = session(HostEntry("db1", "127.0.0.1", sql=SqlAccess("obs", port=port)))
    with pytest.raises(Unreachable, match="does not listen there"):
        made.status()


def test_that_a_name_nobody_knows_says_so() -> None:
    made = session(HostEntry("db1", "no-such-host.invalid", sql=SqlAccess("obs")))
    with pytest.raises(Unreachable, match="not known"):
        made.status()


def test_that_a_closed_session_opens_nothing_more_and_closing_twice_is_fine() -> None:
    made = session(HostEntry("db1", "127.0.0.1", sql=SqlAccess("obs")))
    made.close()
    made.close()
    with pytest.raises(Unreachable, match="closed"):
        made.status()
