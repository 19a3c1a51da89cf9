"""One command on a host: started, fed, read to its end within a limit, its pipes never blocking each other."""

from __future__ import annotations

import contextlib
import threading
import time
from typing import TYPE_CHECKING

import paramiko

from services.connections.ports import MOST_LINE, MOST_LINES, Output
from services.connections.sudo import Wrapped, asked_otherwise, other_prompt, refusal, without_marks, wrong_password
from services.errors import TimedOut, Unreachable
from services.i18n import tr

if TYPE_CHECKING:
    from services.connections.ssh.connection import SshLink
    from services.secrets import Secret

_CHUNK = 65536
_STILL_S = 2.0
"""Nothing more comes for so long: what stands in the last line waits for an answer."""
_READ_AND_DROPPED = 8
"""Times of what is kept: a command that goes on to write is ended then, its limit of time or not."""


def start(link: SshLink, wrapped: Wrapped, *, host: str, limit_s: float, what: str) -> paramiko.Channel:
    """Open a channel and start the command on it, within `limit_s`."""
    channel = link.session(limit_s)
    try:
        link.transport.request_exec(channel, wrapped.line, limit_s=limit_s)
    except TimeoutError as problem:
        link.abort()
        raise TimedOut(
            tr("The host did not start {what} within {limit:g} s.", what=what, limit=limit_s), host=host
        ) from problem
    except (paramiko.SSHException, EOFError, OSError) as problem:
        _close(channel)
        if not link.alive:
            raise link.lost(problem) from problem
        raise Unreachable(
            tr("The host refused to start {what} ({problem}).", what=what, problem=problem), host=host
        ) from problem
    return channel


def run(
    link: SshLink, wrapped: Wrapped, stdin: Secret | None, *, host: str, limit_s: float, most: int, what: str
) -> Output:
    """Run to the end.

    Args:
        stdin: text for the command's standard input, after sudo has let it through; then the input is closed.
        limit_s: for the whole of it. most: bytes kept of each output; the rest is read and dropped.
        what: the command for sentences (its masked form).

    Raises:
        TimedOut: the limit ran out (the channel is closed, so the command loses its pipes).
        SudoFailed: sudo said no. Unreachable: the connection ended.
    """
    deadline = time.monotonic() + limit_s
    channel = start(link, wrapped, host=host, limit_s=limit_s, what=what)
    try:
        return _Talk(channel, wrapped, stdin, link, host, most).finish(deadline, limit_s, what)
    except (paramiko.SSHException, EOFError, OSError) as problem:
        # Reading gives the channel's window back: on a connection that has just ended that is an error, EOFError too.
        raise link.lost(problem) from problem
    finally:
        _close(channel)


def _close(channel: paramiko.Channel) -> None:
    """Close it; on a connection that has just ended that is an error of its own."""
    with contextlib.suppress(OSError, EOFError, paramiko.SSHException):
        channel.close()


class _Talk:
    """The two outputs and the input of one running command."""

    def __init__(
        self, channel: paramiko.Channel, wrapped: Wrapped, stdin: Secret | None, link: SshLink, host: str, most: int
    ) -> None:
        self._channel = channel
        self._wrapped = wrapped
        self._stdin = stdin
        self._link = link
        self._host = host
        self._most = most
        self._wake = threading.Event()
        self._out = bytearray()
        self._err = bytearray()
        self._came = 0
        self._deadline = 0.0
        self._heard = time.monotonic()
        self._answered = False
        self._fed = False
        channel.in_buffer.set_event(self._wake)
        channel.in_stderr_buffer.set_event(self._wake)

    def finish(self, deadline: float, limit_s: float, what: str) -> Output:
        """Read both outputs until both ended and the exit status is there."""
        self._deadline = deadline
        if not self._wrapped.prompt:
            self._feed()
        while True:
            moved = self._read()
            self._refuse_flood(what)
            self._sudo()
            if not moved and self._ended():
                break
            left = deadline - time.monotonic()
            self._refuse_other_prompt(over=left <= 0)
            if left <= 0:
                raise TimedOut(tr("{what} did not end within {limit:g} s.", what=what, limit=limit_s), host=self._host)
            if not moved:
                self._wake.wait(min(left, 0.5))
                self._wake.clear()
        code = self._channel.recv_exit_status() if self._channel.exit_status_ready() else -1
        if code == -1 and not self._link.alive:
            raise self._link.lost()
        output = Output(code, bytes(self._out), self._own_errors())
        if self._wrapped.uses_sudo:
            user, silent = self._link.target.user, not output.stdout.strip()
            gave = self._wrapped.password is not None
            no = refusal(output.stderr, code, user=user, host=self._host, silent=silent, gave=gave)
            if no is not None:
                raise no
        return output

    def _refuse_other_prompt(self, *, over: bool) -> None:
        """End a command whose sudo asks in words of another: nobody would answer, and the password is not for it.

        over: the time is, so whatever stands there unanswered is why.
        """
        still = over or time.monotonic() - self._heard > _STILL_S
        if not still or not self._wrapped.prompt or self._fed or self._out:
            return
        if prompt := other_prompt(self._own_errors(), sure=not over):
            raise asked_otherwise(prompt, user=self._link.target.user, host=self._host)

    def _own_errors(self) -> bytes:
        """Return standard error without sudo's marks, its lines cut: they are searched and shown."""
        errors = without_marks(bytes(self._err), self._wrapped)
        return b"\n".join(line[:MOST_LINE] for line in errors.split(b"\n", MOST_LINES)[:MOST_LINES])

    def _refuse_flood(self, what: str) -> None:
        if self._came > self._most * _READ_AND_DROPPED:
            raise Unreachable(
                tr("{what} wrote more than {n} MB and was stopped.", what=what, n=max(1, self._came >> 20)),
                host=self._host,
            )

    def _read(self) -> bool:
        channel, moved = self._channel, False
        while channel.recv_ready():
            moved = True
            self._keep(self._out, channel.recv(_CHUNK))
            if channel.recv_stderr_ready():
                break
        while channel.recv_stderr_ready():
            moved = True
            self._keep(self._err, channel.recv_stderr(_CHUNK))
            if channel.recv_ready():
                break
        return moved

    def _keep(self, kept: bytearray, more: bytes) -> None:
        self._came += len(more)
        self._heard = time.monotonic()
        kept += more[: max(0, self._most - len(kept))]

    def _ended(self) -> bool:
        channel = self._channel
        both = bool(channel.eof_received or channel.closed)
        return (
            both
            and not channel.recv_ready()
            and not channel.recv_stderr_ready()
            and (channel.exit_status_ready() or channel.closed)
        )

    def _sudo(self) -> None:
        """Answer sudo's prompt once (a second one means a wrong password), and feed the command when it is through.

        Without a mark that says so, output of the command's own says it; its input stays open until then.
        """
        wrapped = self._wrapped
        if not wrapped.prompt or self._fed:
            return
        asked = self._err.count(wrapped.prompt)
        if asked > 1:
            raise wrong_password(user=self._link.target.user, host=self._host)
        if asked == 1 and not self._answered and wrapped.password is not None:
            self._answered = True
            self._send(wrapped.password.reveal().encode("utf-8") + b"\n")
            if not wrapped.passed:
                self._feed()
        elif self._out or (wrapped.passed and wrapped.passed in self._err):
            self._feed()

    def _feed(self) -> None:
        self._fed = True
        if self._stdin is not None:
            # A file with bytes that are no UTF-8 goes back as it came (PEP 383).
            self._send(self._stdin.reveal().encode("utf-8", "surrogateescape"))
        with contextlib.suppress(OSError, EOFError, paramiko.SSHException):
            self._channel.shutdown_write()

    def _send(self, data: bytes) -> None:
        rest = memoryview(data)
        with contextlib.suppress(OSError):  # the command has ended, or its time has: the loop that reads says so
            while rest and (left := self._deadline - time.monotonic()) > 0:
                self._channel.settimeout(left)  # a host may open its window by a byte, or never
                sent = self._channel.send(rest[:_CHUNK].tobytes())
                if not sent:
                    return
                rest = rest[sent:]
