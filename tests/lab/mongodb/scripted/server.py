"""A scripted server, handled as `servers.Server` handles a real one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from services.connections.mongo.document import Document
from services.connections.mongo.login import Credentials
from tests.lab.mongodb.scripted.base import Program
from tests.lab.mongodb.scripted.mongod import Mongod
from tests.lab.mongodb.scripted.mongos import Mongos
from tests.lab.mongodb.scripted.options import Options
from tests.lab.mongodb.servers import command, free_port


class ScriptedServer:
    """One server. `kill` and `stop` end it; what it had written down is there when it starts again."""

    def __init__(self, program: str | Path, folder: Path, *options: str, port: int | None = None) -> None:
        self.port = port or free_port()
        self.folder = folder / str(self.port)
        self.folder.mkdir(exist_ok=True)
        self._program = Path(program).name
        self._running: Program | None = None
        self.restart_with(*options)

    @property
    def name(self) -> str:
        """host:port."""
        return f"127.0.0.1:{self.port}"

    @property
    def log(self) -> str:
        """What it logged."""
        return (self.folder / "log").read_text(encoding="utf-8")

    def restart_with(self, *options: str) -> None:
        """Start it, after its end, with other options."""
        line = ["--port", str(self.port), "--bind_ip", "127.0.0.1", *options]
        line += ["--logpath", str(self.folder / "log"), "--logappend"]
        line += ["--dbpath", str(self.folder)] if self._program.startswith("mongod") else []
        self._options = Options(self._program, line)
        self.start()

    def start(self) -> None:
        """Start it; it listens at once."""
        assert self._running is None or self._running.ended.is_set(), "it runs already"
        kind = Mongos if self._program.startswith("mongos") else Mongod
        self._running = kind(self.port, self.folder, self._options)
        self._running.log("I NETWORK  waiting for connections")

    def kill(self) -> None:
        """End it at once."""
        if self._running is not None:
            self._running.end()

    def wait(self) -> None:
        """Wait until nothing of it is at work any more."""
        if self._running is not None:
            self._running.listener.wait()

    def stop(self) -> None:
        """End it in order: what it wrote is on its disk already, so this is the same."""
        self.kill()

    def command(self, database: str, asked: Mapping[str, Any], who: Credentials | None = None) -> Document:
        """Send any command, as a DBA's own shell would."""
        return command(self.port, database, asked, who)
