"""A long-lived command's lines over one channel: silence has a limit, lines have a length, closing ends the command."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import paramiko

from services.boundary import bounded, unforeseen
from services.connections.limits import Limits
from services.connections.sudo import Wrapped, refusal, without_marks, wrong_password
from services.errors import TimedOut, Unreachable, UserError
from services.i18n import tr

if TYPE_CHECKING:
    from services.connections.ssh.connection import SshLink

_CHUNK = 65536
_ERRORS_KEPT = 4096
_BURST_S = 60.0
"""What a stream may bring each second it may also bring at once for so many seconds."""
_A_LINE = 64
"""Bytes that a line counts besides its own: each is looked at, an empty one too."""


def _told(own: RemoteStream, problem: BaseException) -> UserError:
    return unforeseen(problem, tr("The stream of the host's counters"), own._host)  # noqa: SLF001 - its own


@bounded(_told)
class RemoteStream:
    """The Stream of ports.py. `lines` belongs to one thread; `close` may come from any."""

    def __init__(self, channel: paramiko.Channel, wrapped: Wrapped, link: SshLink, host: str, limits: Limits) -> None:
        self._channel = channel
        self._wrapped = wrapped
        self._link = link
        self._host = host
        self._most = limits.line_bytes
        self._a_second = limits.stream_bytes_s
        self._purse = self._a_second * _BURST_S
        self._filled = time.monotonic()
        self._errors = bytearray()
        self._answered = False
        self._begun = False
        self._closed = False

    @property
    def closed(self) -> bool:
        """Return whether the stream has ended here or there."""
        return self._closed or self._channel.closed

    @property
    def errors(self) -> str:
        """Return the end of what the command wrote to standard error."""
        return self._errors.decode("utf-8", "replace")

    def lines(self, *, limit_s: float) -> Iterator[bytes]:
        """Yield lines without their newline.

        Stops when the command ends (a last line without newline is yielded) or `close` is called. Raises TimedOut after
        `limit_s` without a byte, Unreachable when the connection ends, SudoFailed when sudo refused.
        """
        try:
            yield from self._lines(limit_s)
        except (paramiko.SSHException, EOFError, OSError) as problem:  # what is read gives the channel's window back
            if not self._closed:
                raise self._link.lost(problem) from problem

    def _lines(self, limit_s: float) -> Iterator[bytes]:
        rest = b""
        while chunk := self._chunk(limit_s):
            *whole, rest = (rest + chunk).split(b"\n")
            yield from whole
            if len(rest) > self._most:
                raise Unreachable(
                    tr("A line of more than {n} bytes came from the host.", n=self._most), host=self._host
                )
        if rest and not self._closed:
            yield rest
        self._at_end()

    def close(self) -> None:
        """End the remote command: its standard input closes, then the channel. Idempotent."""
        self._closed = True
        with contextlib.suppress(OSError, EOFError, paramiko.SSHException):
            self._channel.shutdown_write()
        with contextlib.suppress(OSError, EOFError, paramiko.SSHException):
            self._channel.close()

    def _chunk(self, limit_s: float) -> bytes:
        """Return the next bytes, b'' at the end; standard error is drained (a full window would stop both)."""
        deadline = time.monotonic() + limit_s
        while True:
            self._drain()
            # Until the first output sudo may ask (or ask again): look at standard error often, but only until then.
            asking = bool(self._wrapped.prompt) and not self._begun
            self._channel.settimeout(min(limit_s, 0.1) if asking else limit_s)
            try:
                chunk = self._channel.recv(_CHUNK)
            except TimeoutError:
                if time.monotonic() < deadline:
                    continue
                raise TimedOut(
                    tr("The stream from the host was silent for {limit:g} s.", limit=limit_s), host=self._host
                ) from None
            except OSError:
                return b""  # closed here, from another thread
            self._begun = True
            self._weigh(len(chunk) + _A_LINE * chunk.count(b"\n"))
            return chunk

    def _weigh(self, came: int) -> None:
        """Refuse a stream that brings more than any of ours would: reading it would leave no time for anything else."""
        now = time.monotonic()
        full = self._a_second * _BURST_S
        self._purse = min(full, self._purse + (now - self._filled) * self._a_second) - came
        self._filled = now
        if self._purse < 0:
            raise Unreachable(
                tr("The stream from the host exceeds {n} kB a second.", n=self._a_second >> 10),
                host=self._host,
            )

    def _drain(self) -> None:
        channel = self._channel
        while channel.recv_stderr_ready():
            self._errors += channel.recv_stderr(_CHUNK)
            del self._errors[:-_ERRORS_KEPT]
            self._answer()

    def _answer(self) -> None:
        prompt, password = self._wrapped.prompt, self._wrapped.password
        if not prompt or password is None or prompt not in self._errors:
            return
        if self._answered:
            raise wrong_password(user=self._link.target.user, host=self._host)
        self._answered = True
        self._errors = bytearray(without_marks(bytes(self._errors), self._wrapped))
        self._channel.sendall(password.reveal().encode("utf-8") + b"\n")

    def _at_end(self) -> None:
        """Tell a refused or broken stream from one that ended by itself."""
        if self._closed:
            return
        self._drain()
        if not self._link.alive:
            raise self._link.lost()
        if not self._channel.exit_status_ready():
            return
        code = self._channel.recv_exit_status()
        gave = self._wrapped.password is not None
        no = refusal(bytes(self._errors), code, user=self._link.target.user, host=self._host, gave=gave)
        if self._wrapped.uses_sudo and no is not None:
            raise no
