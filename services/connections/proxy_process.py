"""ProxyCommand: a local program whose standard input and output are the connection (man ssh_config(5))."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys

import paramiko

from services.errors import Unreachable
from services.secrets import environment_for_children
from services.words import tr


class ProxyProcess:
    """The program behind one connection; `sock` speaks to it. Ended with the connection."""

    def __init__(self, command: str, host: str) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        if sys.platform == "win32":
            # Windows can't hand a socket to a program as its standard input; paramiko pumps pipes there.
            self.sock: object = paramiko.ProxyCommand(command)
            return
        ours, theirs = socket.socketpair()
        shell = os.environ.get("SHELL") or "/bin/sh"
        try:
            # As OpenSSH does: the person's own shell, `exec`, the line from the person's own ssh_config.
            line = [shell, "-c", f"exec {command}"]
            self._process = subprocess.Popen(  # noqa: S603
                line, stdin=theirs.fileno(), stdout=theirs.fileno(), env=environment_for_children()
            )
        except OSError as problem:
            ours.close()
            raise Unreachable(
                tr("ProxyCommand can't be started ({problem}): {command}", problem=problem.strerror, command=command),
                host=host,
            ) from problem
        finally:
            theirs.close()
        self.sock = ours

    def close(self, limit_s: float) -> None:
        """End the program: its input closes, then SIGTERM, then SIGKILL."""
        close = getattr(self.sock, "close", None)
        if close is not None:
            with contextlib.suppress(OSError):
                close()
        process = self._process
        if process is None:
            return
        for end in (process.terminate, process.kill):
            end()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(limit_s)
                return
