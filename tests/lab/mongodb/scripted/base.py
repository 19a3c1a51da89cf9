"""What mongod and mongos have in common: a port, a log, counters, and a table of commands."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from tests.lab.mongodb.scripted.options import Options
from tests.lab.mongodb.scripted.wire import Asked, Doc, HungUp, Listener, Refused

Command = Callable[[Asked], Doc]
_KINDS = {"insert", "update", "delete"}
_READS = {"find": "query", "getmore": "getmore"}


class Program:
    """One run of a server: from its start until it ends. `commands`: by their names in small letters."""

    def __init__(self, port: int, folder: Path, options: Options) -> None:
        self.name, self.folder, self.options = f"127.0.0.1:{port}", folder, options
        self.started = time.time()
        self.counts: Counter[str] = Counter()
        self.ended = threading.Event()
        self.commands: dict[str, Command] = {
            "ping": lambda _: {"ok": 1.0},
            "getcmdlineopts": lambda _: {"argv": options.argv, "parsed": options.parsed(), "ok": 1.0},
            "getlasterror": lambda _: {"n": 0, "err": None, "ok": 1.0},
            "shutdown": self._shut_down,
        }
        self._threads: list[threading.Thread] = []
        self.listener = Listener(port, self._handle)

    def listen(self) -> None:
        """Take connections: every command is there now."""
        self.listener.begin()

    def log(self, words: str) -> None:
        """Add a line to the log file."""
        with (self.folder / "log").open("a", encoding="utf-8") as file:
            file.write(f"{datetime.now(UTC).isoformat(timespec='milliseconds')} {words}\n")

    def loop(self, step: Callable[[], None]) -> None:
        """Do a step again and again on a thread of its own, until the end."""

        def run() -> None:
            while not self.ended.is_set():
                step()

        self._threads.append(threading.Thread(target=run, daemon=True))
        self._threads[-1].start()

    def end(self) -> None:
        """End it at once: nothing is answered any more."""
        self.ended.set()
        self.listener.close()
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(10)

    def _shut_down(self, _: Asked) -> Doc:
        threading.Thread(target=self.end, daemon=True).start()
        self.ended.wait(5)
        raise HungUp

    def _handle(self, asked: Asked) -> Doc:
        name = asked.name.lower()
        self.counts[name if name in _KINDS else _READS.get(name, "command")] += 1
        found = self.commands.get(name)
        if found is None:
            raise self.unknown(asked)
        return found(asked)

    def unknown(self, asked: Asked) -> Refused:
        """What is said to a command that it does not have."""
        return Refused(
            59, f"no such command: '{asked.name}', bad cmd: '{{ {asked.name}: {asked.command[asked.name]} }}'"
        )
