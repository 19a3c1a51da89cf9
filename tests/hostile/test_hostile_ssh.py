"""A hostile SSH server: whatever it does, one sentence about that host, in time and in little memory."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from services.clock import SystemClock
from services.connections.host import HostSession
from services.connections.limits import Limits
from services.connections.reads import commands
from services.errors import UserError
from services.inventory.model import HostEntry, SshAccess
from services.secrets import MemoryVault, SecretRef
from tests.hostile.listener import Listener
from tests.hostile.memory import grown
from tests.hostile.ssh_server import MODES, hostile_ssh

LIMITS = Limits(connect_s=1.0, handshake_s=2.0, auth_s=2.0, channel_s=2.0, output_bytes=1 << 20, close_s=2.0)
MOST_S = 12.0
MOST_BYTES = 200 << 20


@pytest.fixture
def made() -> Iterator[list[Listener]]:
    listeners: list[Listener] = []
    yield listeners
    for one in listeners:
        one.close()


def session(port: int, folder: Path) -> HostSession:
    config = folder / "config"
    config.write_text(f"Host *\n  UserKnownHostsFile {folder}/known\n  GlobalKnownHostsFile none\n", encoding="utf-8")
    access = SshAccess("dba", port=port, password=SecretRef("env", "P"), config=str(config), agent=False)
    entry = HostEntry("n1", "127.0.0.1", ssh=access)
    vault = MemoryVault({"env:P": "geheim"})
    return HostSession(entry, vault, clock=SystemClock(), on_host_key=lambda _: True, limits=LIMITS)


@pytest.mark.parametrize("mode", MODES)
def test_that_a_hostile_host_is_one_sentence_in_time_and_in_little_memory(
    mode: str, made: list[Listener], tmp_path: Path
) -> None:
    made.append(hostile_ssh(mode))
    began = time.monotonic()
    with grown() as memory, session(made[0].port, tmp_path) as host, pytest.raises(UserError) as told:
        host.run(commands.ZONE, limit_s=2.0)
    assert time.monotonic() - began < MOST_S
    assert memory.bytes < MOST_BYTES
    assert told.value.host == "n1"
    assert len(told.value.sentence) < 1500


def test_that_the_same_host_without_a_lie_is_read(made: list[Listener], tmp_path: Path) -> None:
    """Else every test above could pass for the wrong reason."""
    made.append(hostile_ssh("honest"))
    with session(made[0].port, tmp_path) as host:
        assert host.run(commands.ZONE, limit_s=5.0).text == "hello\n"
