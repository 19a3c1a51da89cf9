"""ProxyCommand: a local program whose standard input and output are the connection (man ssh_config(5)).

What it writes to its standard error is kept, not let through to the terminal: anybody at its far end may have a hand in
it. The last of it, made plain, stands in the host's error and in the log.
"""

from __future__ import annotations

import contextlib
import logging
import os
import selectors
import socket
import subprocess
import threading
from collections.abc import Callable
from typing import IO

from services.connections.dial import hang_up
from services.errors import TimedOut, Unreachable
from services.i18n import tr
from services.secrets import environment_for_children, kept_from_children
from services.visible import as_line, visible

log = logging.getLogger(__name__)

_PIECE = 65_536
_KEPT_BYTES = 4096
_MOST_SAID = 300
_MOST_NAMED = 8
_LAST_WORDS_S = 0.5
"""A program that is ended has so long to have its last words read; one of its own children may hold the pipe open."""


class ProxyProcess:
    """The program behind one connection; `sock` speaks to it. Ended with the connection."""

    def __init__(self, command: str, host: str, *, pipes: bool = os.name == "nt") -> None:
        """Start it.

        Args:
            pipes: Windows can't hand a socket to a program as its standard input: two threads carry the bytes there.
        """
        self._host = host
        self._said = b""
        self._told = False
        self._threads: list[threading.Thread] = []
        self._stop, self._stopped = socket.socketpair()
        self.sock, inner = socket.socketpair()
        try:
            self._process = _through_pipes(command) if pipes else _on_a_socket(command, inner)
        except OSError as problem:
            for end in (self.sock, inner, self._stop, self._stopped):
                end.close()
            raise Unreachable(
                tr("ProxyCommand cannot be started ({problem}): {command}", problem=problem.strerror, command=command),
                host=host,
            ) from problem
        errors = self._process.stderr
        assert errors is not None
        if pipes:
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            self._run(_to_program, inner, self._process.stdin)
            self._run(_from_pipe, self._process.stdout, inner.sendall, lambda: hang_up(inner))
            self._run(_from_pipe, errors, self._hear, self._stopped.close)
        else:
            inner.close()
            self._run(self._hear_until_stopped, errors)

    def said(self) -> str:
        """Return the last that the program wrote to its standard error, as one plain line; '' for nothing."""
        lines = visible(self._said.decode("utf-8", "replace")).split("\n")
        line = " / ".join(" ".join(part.split()) for part in lines if part.strip())
        return line if len(line) <= _MOST_SAID else f"…{line[-_MOST_SAID:]}"

    def explained(self, problem: Unreachable) -> Unreachable:
        """Return the error with what the program said of it; call it when the program is closed."""
        said, late = self.said(), isinstance(problem, TimedOut)
        # One that went on was ended by a signal (a negative number), or by a shell's code for it.
        code = 0 if late else self._process.returncode or 0
        if not said and code <= 0:
            return problem
        kind = TimedOut if late else Unreachable
        words = (
            tr("{sentence} ProxyCommand said: {text}", sentence=problem.sentence, text=said)
            if said
            else tr(
                "{sentence} Its ProxyCommand ended with exit code {code} and no output.",
                sentence=problem.sentence,
                code=code,
            )
        )
        return kind(words, host=problem.host, try_=(*problem.try_, *_of_what_it_lacked()))

    def close(self, limit_s: float) -> None:
        """End the program: its input closes, then SIGTERM, then SIGKILL. Idempotent."""
        hang_up(self.sock)
        for end in (self._process.terminate, self._process.kill):
            end()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(limit_s)
                break
        for thread in self._threads:
            thread.join(_LAST_WORDS_S)
        hang_up(self._stop)
        for thread in self._threads:
            thread.join(limit_s)
        if not self._told and (said := self.said()):
            self._told = True
            log.info("ProxyCommand of %s said: %s", self._host, said)

    def _run(self, work: Callable[..., None], *given: object) -> None:
        name = f"proxy {self._host} {len(self._threads)}"
        thread = threading.Thread(target=work, args=given, name=name, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _hear(self, piece: bytes) -> None:
        self._said = (self._said + piece)[-_KEPT_BYTES:]

    def _hear_until_stopped(self, errors: IO[bytes]) -> None:
        """A child of the program may hold its standard error open for ever: closing this connection ends the wait."""
        with errors, self._stopped, selectors.DefaultSelector() as waiting:
            for source in (errors, self._stopped):
                waiting.register(source, selectors.EVENT_READ)
            while self._stopped not in {key.fileobj for key, _ in waiting.select()}:
                piece = errors.read(_PIECE)  # unbuffered: what is there, not as much as was asked for
                if not piece:
                    return
                self._hear(piece)


def _of_what_it_lacked() -> tuple[str, ...]:
    """Say which variables the program was started without: one that works at a terminal may miss its token."""
    names = kept_from_children()
    if not names:
        return ()
    shown = ", ".join(names[:_MOST_NAMED]) + (", …" if len(names) > _MOST_NAMED else "")
    return (
        tr(
            "It was started without the variables that seem to contain secrets ({names}): if it needs one, "
            "let it read the secret from a file or from its own agent.",
            names=as_line(shown, _MOST_SAID),
        ),
    )


def _on_a_socket(command: str, inner: socket.socket) -> subprocess.Popen[bytes]:
    """As OpenSSH does: the person's own shell, `exec`, the line from the person's own ssh_config."""
    shell = os.environ.get("SHELL") or "/bin/sh"
    return subprocess.Popen(  # noqa: S603
        [shell, "-c", f"exec {command}"],
        stdin=inner.fileno(),
        stdout=inner.fileno(),
        stderr=subprocess.PIPE,
        bufsize=0,
        env=environment_for_children(),
    )


def _through_pipes(command: str) -> subprocess.Popen[bytes]:
    """The line as it is: CreateProcess divides it, no shell reads it, and no console window opens."""
    line = command if os.name == "nt" else command.split()
    return subprocess.Popen(  # noqa: S603
        line,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        env=environment_for_children(),
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )


def _to_program(inner: socket.socket, pipe: IO[bytes]) -> None:
    with contextlib.suppress(OSError), pipe:
        while piece := inner.recv(_PIECE):
            left = memoryview(piece)
            while left:
                left = left[pipe.write(left) :]


def _from_pipe(pipe: IO[bytes], give: Callable[[bytes], None], done: Callable[[], None]) -> None:
    with contextlib.suppress(OSError), pipe:
        while piece := pipe.read(_PIECE):
            give(piece)
    done()
