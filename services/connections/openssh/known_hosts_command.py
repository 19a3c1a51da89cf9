"""KnownHostsCommand: a program of this machine that tells host keys beside the files (man ssh_config(5)).

As in ssh (sshconnect.c, load_hostkeys_command) no shell reads the line, its first word is the program's whole path, it
runs with nothing to read, and whoever wrote the configuration may name any program: ssh asks neither whose it is nor
who may write it. Where it can't be started the files stand alone; where it fails, what it would have said (@revoked,
another key) is not known, and ssh lets no host through. Bounded here: its time, and what it says.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import os
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from services.connections.openssh.conditions import kill
from services.connections.openssh.tokens import Tokens
from services.errors import HostKeysUnread
from services.i18n import tr
from services.lines import lines_of
from services.secrets import environment_for_children
from services.ssh_words import BadLine, arguments
from services.visible import as_line

NAME = "KnownHostsCommand"
MOST_S = 10.0
"""Of one run; each connection takes two, or three with CheckHostIP."""
MOST_BYTES = 32 * 2**20
"""As of a known_hosts: it may print one of a whole estate."""
_MOST_SAID = 300
_MOST_SAID_BYTES = 4096
_LEAST_S = 0.01
_AFTER_S = 0.5
"""A program that was ended has so long to let go of its output."""


@dataclass(frozen=True, slots=True)
class ShownKey:
    """A key that a host showed: its kind and blob, a certificate's where it is one; plain: its key's own blob."""

    kind: str
    blob: bytes
    plain: bytes


@dataclass(frozen=True, slots=True)
class Told:
    """What the program told: lines of known_hosts; problem: why it could not be started, '' where it was."""

    lines: tuple[str, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class KnownHostsCommand:
    """The command of one target: its line as it is written, and what stands for something in it."""

    line: str
    tokens: Tokens
    fingerprint_hash: str = "sha256"

    def ask(self, why: str, name: str, shown: ShownKey | None = None) -> Told:
        """Run it.

        Args:
            why: %I: ORDER before the connection, HOSTNAME, or ADDRESS for the host's address.
            name: %H, the name that keys are looked for under.
            shown: the key that the host showed; None before it did.

        Raises HostKeysUnread where it fails, says too much or does not end, BadInput for a token that is not known.
        """
        try:
            argv = self._words(why, name, shown)
        except BadLine as problem:
            return _not_run(str(problem))
        program = as_line(argv[0], _MOST_SAID)
        if not _is_whole_path(argv[0]):
            return _not_run(tr("{file} is not an absolute path", file=program))
        try:
            Path(argv[0]).stat()
        except OSError as problem:
            return _not_run(f"{program}: {problem.strerror or problem}")
        return Told(tuple(lines_of(_output(argv).decode("utf-8", "replace"))))

    def _words(self, why: str, name: str, shown: ShownKey | None) -> list[str]:
        words = arguments(self.line, remarks=False)
        if not words:
            raise BadLine(tr("it names no program"))
        more = {"H": name, "I": why, "t": "NONE", "f": "NONE", "K": "NONE"}
        if shown is not None:
            encoded = base64.b64encode(shown.blob).decode("ascii")
            more |= {"t": shown.kind, "f": _fingerprint(shown.plain, self.fingerprint_hash), "K": encoded}
        return [words[0], *(self.tokens.put_in(word, NAME, more=more) for word in words[1:])]


def _not_run(why: str) -> Told:
    return Told(problem=tr("{word} was not run: {problem}.", word=NAME, problem=why))


def _is_whole_path(text: str) -> bool:
    return text.startswith("/") if os.name == "posix" else Path(text).is_absolute()


def _fingerprint(blob: bytes, kind: str) -> str:
    """Return it as FingerprintHash has it (sshkey.c, sshkey_fingerprint)."""
    digest = hashlib.new(kind.lower(), blob, usedforsecurity=False)
    if kind.lower() == "md5":
        return "MD5:" + digest.digest().hex(":")
    return f"{kind.upper()}:" + base64.b64encode(digest.digest()).decode("ascii").rstrip("=")


class _Output:
    """What a program writes, up to a bound; read on a thread, for another program may hold the pipe open for ever."""

    def __init__(self) -> None:
        reads, self.end = os.pipe()
        self.data = b""
        self.is_too_much = False
        self._thread = threading.Thread(target=self._read, args=(reads,), name=NAME, daemon=True)
        self._thread.start()

    def _read(self, reads: int) -> None:
        parts: list[bytes] = []
        left = MOST_BYTES
        with open(reads, "rb", buffering=0) as pipe:
            while left >= 0 and (piece := pipe.read(65_536)):
                parts.append(piece)
                left -= len(piece)
        self.is_too_much = left < 0
        self.data = b"".join(parts)

    def has_ended(self, limit_s: float) -> bool:
        """Wait for its end; return whether it came."""
        self._thread.join(max(0.0, limit_s))
        return not self._thread.is_alive()


def _output(argv: list[str]) -> bytes:
    """Return what a program says. Raises HostKeysUnread where it fails."""
    with tempfile.TemporaryFile() as errors:
        try:
            out, why = _run(argv, errors)
        except OSError as problem:
            out, why = b"", tr("it cannot be started: {problem}", problem=problem.strerror or problem)
        errors.seek(0)
        said = as_line(errors.read(_MOST_SAID_BYTES).decode("utf-8", "replace"), _MOST_SAID)
    if why:
        raise _failed(argv, f"{why}: {said}" if said else why)
    return out


def _run(argv: list[str], errors: IO[bytes]) -> tuple[bytes, str]:
    """Return what it says, and why that does not count: '' where it does."""
    until = time.monotonic() + MOST_S
    output = _Output()
    try:
        running = _started(argv, output.end, errors)
    finally:
        os.close(output.end)
    code: int | None = None
    try:
        if output.has_ended(until - time.monotonic()) and not output.is_too_much:
            code = running.wait(max(_LEAST_S, until - time.monotonic()))
    except subprocess.TimeoutExpired:
        pass
    finally:
        if code is None:
            _end(running)
            output.has_ended(_AFTER_S)
    if output.is_too_much:
        return b"", tr("it wrote more than {n} MiB", n=MOST_BYTES // 2**20)
    if code is None:
        return b"", tr("it did not end within {limit:g} s", limit=MOST_S)
    if code < 0:
        return b"", tr("it was ended by signal {n}", n=-code)
    return output.data, tr("it ended with exit code {n}", n=code) if code else ""


def _started(argv: list[str], out: int, errors: IO[bytes]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 - the person's own configuration names it, no shell reads it
        argv,
        stdin=subprocess.DEVNULL,
        stdout=out,
        stderr=errors,
        env=environment_for_children(),
        start_new_session=True,
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )


def _end(running: subprocess.Popen[bytes]) -> None:
    """End it and what it started in its session, also where it has ended itself: another may hold its output."""
    kill(running)
    with contextlib.suppress(subprocess.TimeoutExpired):
        running.wait(_AFTER_S)


def _failed(argv: list[str], why: str) -> HostKeysUnread:
    line = as_line(" ".join(argv), _MOST_SAID)
    return HostKeysUnread(
        tr(
            "{word} in ssh_config failed, so its host keys are not known ({line}): {why}.",
            word=NAME,
            line=line,
            why=why,
        ),
        safe=tr("No login was attempted: ssh accepts no host in this case either."),
        try_=(
            tr("Run it in a terminal: {line}", line=line),
            tr('Or give this host a configuration file without it: config = "…" in its [host.ssh].'),
        ),
    )
