"""What the connection tests share: inventory entries for lab hosts, sessions that end with their test, an ssh-agent."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from services.clock import SystemClock
from services.connections.command import Command
from services.connections.host import HostSession
from services.connections.limits import Limits
from services.connections.ports import Output, Rows, Stream
from services.inventory.model import HostEntry, SqlAccess, SshAccess
from services.secrets import MemoryVault, SecretRef
from tests.lab.estate.estate import Estate
from tests.lab.estate.servers.engine import MYSQL
from tests.lab.estate.vault import VARIABLES

OBSERVER = SecretRef("env", VARIABLES["observer"])
PILOT = SecretRef("env", VARIABLES["pilot"])
SUDO = SecretRef("env", VARIABLES["sudo"])
PASSPHRASE = SecretRef("env", VARIABLES["passphrase"])
WRONG = SecretRef("env", "WRONG")

# Short waits: a lab on one machine answers at once, or never.
LIMITS = Limits(connect_s=3.0, handshake_s=5.0, auth_s=10.0, backoff_first_s=0.2, backoff_most_s=1.0)

WHOAMI = Command(("id", "-un"))
ROOT = Command(("id", "-un"), sudo=True)

# sshd re-executes itself to read its configuration: for a moment nothing listens.
REREAD = "systemctl reload ssh && sleep 0.5 && until ss -Htln sport = :22 | grep -q .; do sleep 0.1; done"


def known_hosts_of(estate: Estate, *hosts: str) -> str:
    """The lines of the client folder's known_hosts that are about these hosts."""
    lines = (estate.client_dir / "known_hosts").read_text(encoding="utf-8").splitlines(keepends=True)
    return "".join(line for line in lines if line.split(",")[0] in hosts)


def vault(estate: Estate) -> MemoryVault:
    """The lab's secrets, and a wrong one."""
    known = {f"env:{variable}": value for variable, value in estate.environment().items()}
    return MemoryVault({**known, "env:WRONG": "not the password"})


def entry(estate: Estate, host: str, **ssh: Any) -> HostEntry:
    """An inventory entry as a person would write it; `ssh` replaces parts of its SSH access."""
    folder = estate.client_dir
    access = SshAccess(
        user="dba",
        key=str(folder / "id_ed25519"),
        known_hosts=str(folder / "known_hosts"),
        config="",
        agent=False,
        sudo="nopasswd",
    )
    return HostEntry(
        host,
        estate.addresses[host],
        ssh=replace(access, **ssh),
        sql=SqlAccess(
            user=estate.spec.observer,
            password=OBSERVER,
            ca=str(folder / "ca.pem"),
            tls="verify-ca" if estate.spec.host(host).engine is MYSQL else "verify",
        ),
    )


def with_sql(host: HostEntry, **sql: Any) -> HostEntry:
    """The same host with parts of its SQL access replaced."""
    assert host.sql is not None
    return replace(host, sql=replace(host.sql, **sql))


@contextlib.contextmanager
def session(estate: Estate, host: HostEntry, **more: Any) -> Iterator[HostSession]:
    """A session that is closed at the end."""
    made = HostSession(host, vault(estate), clock=SystemClock(), limits=LIMITS, **more)
    try:
        yield made
    finally:
        made.close()


class FreeSession:
    """The connections of a session below its registry, for tests that are about these: any statement, any command.

    The product has no such way: HostSession takes the reads of the registry alone.
    """

    def __init__(self, made: HostSession) -> None:
        self.made = made

    def __getattr__(self, name: str) -> Any:
        return getattr(self.made, name)

    def query(self, sql: str, *, limit_s: float = 5.0) -> Rows:
        return self.made._links.sql(limit_s).query(sql, limit_s=limit_s)

    def run(self, command: Command, *, limit_s: float = 10.0) -> Output:
        return self.made._run(command, limit_s)

    def stream(self, command: Command) -> Stream:
        return self.made._stream(command)


@contextlib.contextmanager
def free_session(estate: Estate, host: HostEntry, **more: Any) -> Iterator[FreeSession]:
    """A session whose connections take anything, closed at the end."""
    with session(estate, host, **more) as made:
        yield FreeSession(made)


@contextlib.contextmanager
def agent(*keys: Path) -> Iterator[str]:
    """A real ssh-agent that holds `keys`; its socket. Ended by its process id."""
    said = subprocess.run(["ssh-agent", "-s"], capture_output=True, text=True, check=True, timeout=10).stdout
    socket, pid = re.findall(r"SSH_AUTH_SOCK=([^;]+);.*?SSH_AGENT_PID=(\d+);", said, re.DOTALL)[0]
    try:
        for key in keys:
            env = {**os.environ, "SSH_AUTH_SOCK": socket}
            subprocess.run(["ssh-add", "-q", str(key)], env=env, check=True, timeout=10, capture_output=True)
        yield socket
    finally:
        os.kill(int(pid), signal.SIGTERM)
