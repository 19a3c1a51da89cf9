"""Servers of a benchmark's own: a MariaDB and an sshd on loopback, in a folder that goes with them, ended by pid."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pymysql

from services.clock import SystemClock
from services.connections.host import HostSession
from services.inventory.model import HostEntry, SqlAccess, SshAccess
from services.secrets import MemoryVault
from tests.bench.support.unavailable import Unavailable

_PLACES = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin", "/usr/libexec"))
_START_LIMIT_S = 40.0


@dataclass(frozen=True, slots=True)
class MariaDb:
    """A running server: its port on 127.0.0.1, its process, an account `bench` without password that may read all."""

    port: int
    pid: int
    folder: Path

    def entry(self) -> HostEntry:
        """An inventory entry for it: direct, no TLS (as the performance notes measured)."""
        return HostEntry("bench", "127.0.0.1", sql=SqlAccess(user="bench", port=self.port, tls="off"))

    @contextlib.contextmanager
    def session(self) -> Iterator[HostSession]:
        """A session to it."""
        with HostSession(self.entry(), MemoryVault(), clock=SystemClock()) as made:
            yield made

    def cpu_s(self) -> float:
        """CPU seconds of all its threads, in nanosecond steps (man proc_pid_schedstat(5): the first number)."""
        return cpu_s(self.pid)


def cpu_s(pid: int) -> float:
    """CPU seconds of a process, all its present threads."""
    total = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):
            total += int((task / "schedstat").read_text(encoding="ascii").split()[0])
    return total / 1e9


@contextlib.contextmanager
def mariadb() -> Iterator[MariaDb]:
    """Start a standalone server (no Galera, no TLS, no binary log); Unavailable where there is none to start."""
    server, install = _program("mariadbd"), _program("mariadb-install-db")
    folder = Path(tempfile.mkdtemp(prefix="pilothouse-bench-"))
    process: subprocess.Popen[bytes] | None = None
    try:
        data = folder / "data"
        user = pwd.getpwuid(os.getuid()).pw_name
        common = ["--no-defaults", f"--datadir={data}", f"--user={user}"]
        made = subprocess.run(
            [install, *common, "--auth-root-authentication-method=normal", "--skip-test-db"],
            capture_output=True,
            timeout=60,
            check=False,
        )
        if made.returncode:
            said = " ".join((made.stderr + made.stdout).decode(errors="replace").split())
            raise Unavailable(f"mariadb-install-db failed: {said[:200]}")
        port = free_port()
        process = subprocess.Popen(
            [server, *common, f"--port={port}", "--bind-address=127.0.0.1", f"--socket={folder / 'sock'}",
             f"--log-error={folder / 'log'}", "--innodb-buffer-pool-size=64M", "--max-connections=300"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        _prepare(process, folder / "sock")
        yield MariaDb(port, process.pid, folder)
    finally:
        if process is not None:
            _end(process)
        shutil.rmtree(folder, ignore_errors=True)


def _prepare(process: subprocess.Popen[bytes], sock: Path) -> None:
    deadline = time.monotonic() + _START_LIMIT_S
    while True:
        try:
            connection = pymysql.connect(unix_socket=str(sock), user="root", ssl_disabled=True)
            break
        except pymysql.MySQLError as problem:
            if process.poll() is not None or time.monotonic() > deadline:
                raise Unavailable(f"the private MariaDB did not start: {problem}") from problem
            time.sleep(0.2)
    with connection, connection.cursor() as cursor:
        for statement in (
            "CREATE USER bench@'%'",
            "CREATE USER bench@localhost",
            "GRANT ALL ON *.* TO bench@'%'",
            "GRANT ALL ON *.* TO bench@localhost",
            "CREATE DATABASE bench",
            "CREATE TABLE bench.t (id INT PRIMARY KEY AUTO_INCREMENT, v INT, t VARCHAR(80)) ENGINE=InnoDB",
        ):
            cursor.execute(statement)


@contextlib.contextmanager
def work(server: MariaDb, *, per_second: float = 200.0) -> Iterator[None]:
    """Other people's work from a process of its own, so that counters move; bounded by its own clock."""
    # Another process: this one's CPU is what is measured.
    program = (
        "import pymysql,sys,time\n"
        f"c=pymysql.connect(host='127.0.0.1',port={server.port},user='bench',ssl_disabled=True,autocommit=True)\n"
        "k=c.cursor(); end=time.monotonic()+120; n=0\n"
        "while time.monotonic()<end:\n"
        "    n+=1\n"
        "    k.execute(f\"INSERT INTO bench.t (v,t) VALUES ({n},REPEAT('x',60))\")\n"
        "    k.execute(f'SELECT COUNT(*) FROM bench.t WHERE id<{n%50}')\n"
        f"    time.sleep({1.0 / per_second})\n"
    )
    process = subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.DEVNULL)
    try:
        time.sleep(0.5)
        yield
    finally:
        _end(process)


@dataclass(frozen=True, slots=True)
class Sshd:
    """A running sshd on loopback, and a key that it takes."""

    port: int
    pid: int
    folder: Path

    def entry(self) -> HostEntry:
        """An inventory entry for it."""
        user = pwd.getpwuid(os.getuid()).pw_name
        access = SshAccess(user=user, port=self.port, key=str(self.folder / "id"), config="", agent=False)
        return HostEntry("bench", "127.0.0.1", ssh=replace(access, known_hosts=str(self.folder / "known_hosts")))

    def ssh_argv(self) -> list[str]:
        """The ssh(1) command line that reaches it."""
        options = ["-F", "none", "-o", "BatchMode=yes", "-o", f"UserKnownHostsFile={self.folder}/known_hosts"]
        return [_program("ssh"), *options, "-i", str(self.folder / "id"), "-p", str(self.port), "127.0.0.1"]


@contextlib.contextmanager
def sshd() -> Iterator[Sshd]:
    """Start an sshd for this user; Unavailable where there is none (Debian: openssh-server)."""
    server = os.environ.get("PILOTHOUSE_BENCH_SSHD") or _program("sshd")
    keygen = _program("ssh-keygen")
    if os.getuid() == 0:
        try:
            pwd.getpwnam("sshd")
        except KeyError:
            raise Unavailable("sshd run by root needs the account `sshd`, and this machine has none") from None
        Path("/run/sshd").mkdir(exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="pilothouse-bench-"))
    process: subprocess.Popen[bytes] | None = None
    try:
        for name in ("host", "id"):
            subprocess.run([keygen, "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)], check=True, timeout=20)
        port = free_port()
        kind, blob = (folder / "host.pub").read_text(encoding="utf-8").split()[:2]
        (folder / "known_hosts").write_text(f"[127.0.0.1]:{port} {kind} {blob}\n", encoding="utf-8")
        # A home of its own: what the account's shell reads at each start is not what is measured.
        (folder / "config").write_text(
            f"Port {port}\nListenAddress 127.0.0.1\nHostKey {folder}/host\nAuthorizedKeysFile {folder}/id.pub\n"
            f"StrictModes no\nUsePAM no\nPermitRootLogin yes\nPidFile none\nSetEnv HOME={folder}\n",
            encoding="utf-8",
        )
        process = subprocess.Popen([server, "-D", "-f", str(folder / "config"), "-E", str(folder / "log")])
        _listens(process, port)
        yield Sshd(port, process.pid, folder)
    finally:
        if process is not None:
            _end(process)
        shutil.rmtree(folder, ignore_errors=True)


def _listens(process: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + 10
    while True:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        if process.poll() is not None or time.monotonic() > deadline:
            raise Unavailable("the private sshd did not start")
        time.sleep(0.05)


def free_port() -> int:
    """A port of 127.0.0.1 that nothing listened on a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def _program(name: str) -> str:
    found = shutil.which(name, path=_PLACES)
    if found is None:
        raise Unavailable(f"{name} is not installed on this machine")
    return found


def _end(process: subprocess.Popen[bytes]) -> None:
    for end in (signal.SIGTERM, signal.SIGKILL):
        process.send_signal(end)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(15)
            return
