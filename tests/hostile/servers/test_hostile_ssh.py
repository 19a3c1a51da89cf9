"""A hostile SSH server: whatever it does, one sentence about that host, in time and in little memory."""

from __future__ import annotations

import itertools
import threading
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from services.clock import SystemClock
from services.connections.host import HostSession
from services.connections.limits import Limits
from services.connections.ports import MOST_LINES
from services.connections.reads import commands
from services.errors import UserError
from services.inventory.model import HostEntry, SshAccess
from services.secrets import MemoryVault, SecretRef
from tests.hostile.memory import grown
from tests.hostile.servers.listener import Listener
from tests.hostile.servers.ssh_server import MODES, hostile_ssh

LIMITS = Limits(connect_s=1.0, handshake_s=2.0, auth_s=2.0, channel_s=2.0, output_bytes=1 << 20, close_s=2.0)
MOST_S = 12.0
MOST_BYTES = 200 << 20


@pytest.fixture
def made() -> Iterator[list[Listener]]:
    listeners: list[Listener] = []
    yield listeners
    for one in listeners:
        one.close()


def session(port: int, folder: Path, *, output_bytes: int = LIMITS.output_bytes) -> HostSession:
    config = folder / "config"
    config.write_text(f"Host *\n  UserKnownHostsFile {folder}/known\n  GlobalKnownHostsFile none\n", encoding="utf-8")
    access = SshAccess("dba", port=port, password=SecretRef("env", "P"), config=str(config), agent=False)
    entry = HostEntry("n1", "127.0.0.1", ssh=access)
    vault = MemoryVault({"env:P": "geheim"})
    limits = replace(LIMITS, output_bytes=output_bytes)
    return HostSession(entry, vault, clock=SystemClock(), on_host_key=lambda _: True, limits=limits)


def _ended(name: str) -> bool:
    """Whether no thread of this name is left; one that was told to end has a moment to do so on a busy machine."""
    for one in threading.enumerate():
        if one.name == name:
            one.join(3.0)
    return all(one.name != name for one in threading.enumerate())


@pytest.mark.parametrize("mode", MODES)
def test_that_a_hostile_host_is_one_sentence_in_time_and_in_little_memory(
    mode: str, made: list[Listener], tmp_path: Path
) -> None:
    made.append(hostile_ssh(mode))
    began = time.monotonic()
    with grown() as memory, session(made[0].port, tmp_path) as host, pytest.raises(UserError) as raised:
        host.run(commands.ZONE, limit_s=2.0)
    assert time.monotonic() - began < MOST_S
    assert memory.bytes < MOST_BYTES
    assert raised.value.host == "n1"
    assert len(raised.value.sentence) < 1500
    assert _ended("ssh n1"), "it goes on reading"


def test_that_the_same_host_without_a_lie_is_read(made: list[Listener], tmp_path: Path) -> None:
    """Else every test above could pass for the wrong reason."""
    made.append(hostile_ssh("honest"))
    with session(made[0].port, tmp_path) as host:
        assert host.run(commands.ZONE, limit_s=5.0).text == "hello\n"


def test_that_ten_million_empty_lines_are_read_in_little_time_and_memory(made: list[Listener], tmp_path: Path) -> None:
    made.append(hostile_ssh("ten million lines"))
    began = time.monotonic()
    with grown() as memory, session(made[0].port, tmp_path, output_bytes=8 << 20) as host:
        lines = host.run(commands.ZONE, limit_s=20.0).text.splitlines()
    assert len(lines) <= MOST_LINES + 1
    assert time.monotonic() - began < 20.0
    assert memory.bytes < MOST_BYTES


def test_that_a_stream_of_empty_lines_is_given_up(made: list[Listener], tmp_path: Path) -> None:
    made.append(hostile_ssh("lines without end"))
    began, count = time.monotonic(), itertools.count()
    with session(made[0].port, tmp_path) as host:
        stream = host.stream(commands.OS_STREAM.read("/var/lib/mysql"))
        with pytest.raises(UserError, match="kB a second"):
            deque(zip(stream.lines(limit_s=3.0), count, strict=False), maxlen=0)
    assert next(count) < 400_000
    assert time.monotonic() - began < MOST_S
