"""A person at a real terminal: the command line in a pseudo-terminal, what it prints, what is typed."""

from __future__ import annotations

import contextlib
import os
import pty
import select
import subprocess
import time
from collections.abc import Iterator

from tests.lab.procedures.console.steering import ROOT, Console, Running


class Terminal:
    """One command in a pseudo-terminal."""

    def __init__(self, process: subprocess.Popen[bytes], master: int) -> None:
        self.process = process
        self.said = ""
        self._master = master

    def type(self, line: str) -> None:
        """Type a line."""
        os.write(self._master, f"{line}\n".encode())

    def wait_for(self, text: str, limit_s: float = 90.0, after: int = 0) -> int:
        """Read until `text` was printed behind place `after`; return the place behind it."""
        deadline = time.monotonic() + limit_s
        while (at := self.said.find(text, after)) < 0:
            assert time.monotonic() < deadline, f"{text!r} did not come within {limit_s:g} s\n{self.said[-6000:]}"
            assert self._read(0.2) or self.process.poll() is None, f"ended before {text!r}\n{self.said[-6000:]}"
        return at + len(text)

    def end(self, limit_s: float = 120.0) -> int:
        """Read to the end; return the exit code."""
        deadline = time.monotonic() + limit_s
        while self.process.poll() is None or self._read(0.0):
            assert time.monotonic() < deadline, f"no end within {limit_s:g} s\n{self.said[-6000:]}"
            self._read(0.2)
        return self.process.returncode

    def running(self, console: Console) -> Running:
        """Return the same console as one whose journal is watched."""
        return Running(console, self.process, 0.0)

    def _read(self, wait_s: float) -> bool:
        ready, _, _ = select.select([self._master], [], [], wait_s)
        if not ready:
            return False
        try:
            found = os.read(self._master, 65_536)
        except OSError:  # the other end is closed
            return False
        self.said += found.decode(errors="replace").replace("\r\n", "\n")
        return bool(found)


@contextlib.contextmanager
def at_terminal(console: Console, *words: str) -> Iterator[Terminal]:
    """Run a command at a terminal; it is ended at the end."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        console._argv(words), cwd=ROOT, env=console._environment(), stdin=slave, stdout=slave, stderr=slave
    )
    os.close(slave)
    try:
        yield Terminal(process, master)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(10)
        os.close(master)
