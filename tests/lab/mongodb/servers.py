"""Real mongod and mongos on this machine's loopback, of the folder that PILOTHOUSE_LAB_MONGODB names."""

from __future__ import annotations

import functools
import os
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from services.connections.budget import Metered
from services.connections.mongo.document import Document
from services.connections.mongo.login import Credentials, greet, log_in
from services.connections.mongo.wire import MongoWire

UP_S = 60.0


def binary(program: str, version: str) -> Path | None:
    """The program of a version ('3.2' finds 'mongod-3.2.5'), None where it is not at hand."""
    folder = os.environ.get("PILOTHOUSE_LAB_MONGODB", "")
    found = sorted(Path(folder).glob(f"{program}-{version}*")) if folder else []
    return found[-1] if found else None


@functools.cache
def has_tls() -> bool:
    """Whether the mongod of 3.2 that is at hand was built with TLS."""
    program = binary("mongod", "3.2")
    if program is None:
        return False
    ended = subprocess.run([str(program), "--version"], check=True, capture_output=True, text=True, timeout=30)
    return "OpenSSL version" in ended.stdout


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.create_server(("127.0.0.1", 0)) as sock:
        return int(sock.getsockname()[1])


class Server:
    """One process. `kill` is kill -9; `stop` ends it however it can."""

    def __init__(self, program: Path, folder: Path, *options: str, port: int | None = None) -> None:
        self.port = port or free_port()
        self.folder = folder / str(self.port)
        self.folder.mkdir(exist_ok=True)
        self._program = program
        self.restart_with(*options)

    def restart_with(self, *options: str) -> None:
        """Start it, after its end, with other options."""
        program = self._program
        self._line = [str(program), "--port", str(self.port), "--bind_ip", "127.0.0.1", *options]
        self._line += ["--logpath", str(self.folder / "log"), "--logappend", "--unixSocketPrefix", str(self.folder)]
        if program.name.startswith("mongod"):
            self._line += ["--dbpath", str(self.folder)]
            self._line += [] if "--configsvr" in options else ["--nojournal"]  # a config server refuses to be without
        self.start()

    @property
    def name(self) -> str:
        """host:port."""
        return f"127.0.0.1:{self.port}"

    @property
    def log(self) -> str:
        """What it logged."""
        return (self.folder / "log").read_text(encoding="utf-8", errors="replace")

    def start(self) -> None:
        """Start it, and wait until it listens."""
        self._process = subprocess.Popen(
            self._line, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        deadline = time.monotonic() + UP_S
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1.0).close()
            except OSError:
                assert self._process.poll() is None, self.log[-2000:]
                assert time.monotonic() < deadline, self.log[-2000:]
                time.sleep(0.2)
            else:
                return

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()
        self._process.wait(30)

    def stop(self) -> None:
        """End it in order, at once where that takes long."""
        self._process.terminate()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self.kill()

    def command(self, database: str, asked: Mapping[str, Any], who: Credentials | None = None) -> Document:
        """Send any command, as a DBA's own shell would."""
        return command(self.port, database, asked, who)


class AnyServer(Protocol):
    """A real or a scripted one."""

    @property
    def name(self) -> str:
        """host:port."""

    @property
    def log(self) -> str:
        """What it logged."""

    def command(self, database: str, asked: Mapping[str, Any], who: Credentials | None = None) -> Document:
        """Send any command, as a DBA's own shell would."""


def command(port: int, database: str, asked: Mapping[str, Any], who: Credentials | None = None) -> Document:
    """Send any command to a server of this machine."""
    with socket.create_connection(("127.0.0.1", port), 30) as sock:
        meter = Metered(sock)
        meter.begin(60, 1 << 24)
        wire = MongoWire(meter, meter)
        _, named = greet(wire, who or Credentials())
        if who is not None:
            log_in(wire, who, named)
        return wire.command(database, asked)


def initiate(servers: Sequence[AnyServer], name: str = "rs0", **more: Any) -> None:
    """Make a replica set of the servers, and wait for its primary, which is the first. more: of member N, by 'mN'."""
    members = [{"_id": n, "host": one.name, **more.get(f"m{n}", {})} for n, one in enumerate(servers)]
    members[0]["priority"] = 10
    config: dict[str, Any] = {"_id": name, "version": 1, "members": members}
    servers[0].command("admin", {"replSetInitiate": config})
    deadline = time.monotonic() + UP_S
    while not servers[0].command("admin", {"isMaster": 1}).get("ismaster"):
        assert time.monotonic() < deadline, servers[0].log[-2000:]
        time.sleep(0.5)
