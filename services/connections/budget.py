"""A clock and a purse for every exchange: how long it may take in all, and how much may come, whoever sends it.

A limit of each read is none: a server that sends one byte a second keeps it for ever, one that never stops sending
fills the memory within it.
"""

from __future__ import annotations

import errno
import io
import os
import threading
import time
from typing import Any, Literal

from services.connections.dial import hang_up
from services.connections.sql.raw_stream import RawStream

Limit = Literal["time", "size"]


class LimitReached(OSError):  # noqa: N818 - the name says what happened
    """An exchange took more time, or brought more bytes, than it may. No TimeoutError: drivers try those again."""

    def __init__(self, limit: Limit) -> None:
        number = errno.ETIMEDOUT if limit == "time" else errno.EMSGSIZE
        super().__init__(number, os.strerror(number))
        self.limit: Limit = limit


class NoGreeting(TimeoutError):  # noqa: N818 - the name says what happened
    """A server took the connection and said nothing for `limit_s`: the kernel of one that is held takes it."""

    def __init__(self, limit_s: float) -> None:
        super().__init__(errno.ETIMEDOUT, os.strerror(errno.ETIMEDOUT))
        self.limit_s = limit_s


def reached(problem: BaseException | None) -> Limit | None:
    """Return which limit is behind what a driver raised, None where none is."""
    seen: set[int] = set()
    while problem is not None and id(problem) not in seen:
        if isinstance(problem, LimitReached):
            return problem.limit
        seen.add(id(problem))
        problem = getattr(problem, "original_exception", None) or problem.__cause__ or problem.__context__
    return None


class Metered:
    """A connected socket (or a channel, or a program's pipes) that gives no more than the present exchange may have.

    Attributes:
        below: what it stands on; TLS over a socket is put in between here, the clock goes on.
    """

    def __init__(self, below: Any) -> None:
        self.below = below
        self._each: float | None = None  # the limit of one read or write, as the driver has set it
        self._until: float | None = None
        self._left: int | None = None
        self._send_until: float | None = None

    def begin(self, limit_s: float | None, most: int) -> None:
        """Begin an exchange of `limit_s` seconds in all (None: as long as it takes) and `most` bytes received."""
        self._until = None if limit_s is None else time.monotonic() + limit_s
        self._left = most

    def free(self) -> None:
        """End the exchange: from now on the reader has limits of its own."""
        self._until = self._left = None
        self.below.settimeout(self._each)

    def sending(self, limit_s: float | None) -> None:
        """Give what is sent from now on so many seconds in all; None is no limit."""
        self._send_until = None if limit_s is None else time.monotonic() + limit_s

    def left_s(self) -> float | None:
        """Return what is left of the time, None without a limit. Raises LimitReached when nothing is."""
        if self._until is None:
            return None
        left = self._until - time.monotonic()
        if left <= 0:
            raise LimitReached("time")
        return left

    def left_bytes(self) -> int | None:
        """Return what is left of the bytes, None without a limit."""
        return self._left

    @property
    def _closed(self) -> bool:
        """Return whether it is closed, as paramiko asks of a socket when the program ends."""
        return bool(getattr(self.below, "_closed", False))

    # --- as a socket ------------------------------------------------------------------------------------------------

    def recv(self, size: int, /) -> bytes:
        """Return some bytes, b'' at the end. Raises TimeoutError for this one read, LimitReached for the exchange."""
        left = self.left_s()
        if left is not None:
            self.below.settimeout(left if self._each is None else min(left, self._each))
        try:
            data: bytes = self.below.recv(size)
        except TimeoutError:
            self.left_s()
            raise
        except OSError as problem:
            raise _whole(problem) from problem
        if self._left is not None:
            self._left -= len(data)
            if self._left < 0:
                raise LimitReached("size")
        return data

    def send(self, data: bytes, /) -> int:
        """Send some of it."""
        if self._send_until is not None and time.monotonic() > self._send_until:
            raise LimitReached("time")
        try:
            return int(self.below.send(data))
        except TimeoutError:
            raise
        except OSError as problem:
            raise _whole(problem) from problem

    def sendall(self, data: bytes, /) -> None:
        """Send all of it."""
        left = self.left_s()
        if left is not None:
            self.below.settimeout(left if self._each is None else min(left, self._each))
        self.below.sendall(data)

    def settimeout(self, seconds: float | None, /) -> None:
        """Limit every single read and write."""
        self._each = seconds
        self.below.settimeout(seconds)

    def shutdown(self, how: int, /) -> None:
        """Wake whoever reads or writes."""
        shutdown = getattr(self.below, "shutdown", None)
        if shutdown is not None:
            shutdown(how)

    def close(self) -> None:
        """Close."""
        self.below.close()

    def makefile(self, _mode: str = "rb") -> io.BufferedReader:
        """Return a buffered reader, as socket.makefile does."""
        return io.BufferedReader(RawStream(self))


def _whole(problem: OSError) -> OSError:
    """Return an error with number and text: paramiko prints both, and a channel's 'Socket is closed' has only one."""
    if isinstance(problem, LimitReached) or len(problem.args) >= 2:
        return problem
    return OSError(errno.EPIPE, str(problem) or os.strerror(errno.EPIPE))


class UnderWay:
    """The sockets of connections that are being made: whoever closes the session cuts them, and nobody waits."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sockets: list[Any] = []
        self._cut = False

    def take(self, sock: Any) -> None:
        """Note a socket; one that comes after `cut` is hung up."""
        with self._lock:
            self._sockets.append(sock)
            late = self._cut
        if late:
            hang_up(sock)

    def metered(self, sock: Any) -> Metered:
        """Return a socket with clock and purse, and note that: TLS, put in between there, has a socket of its own."""
        meter = Metered(sock)
        self.take(meter)
        return meter

    def made(self) -> None:
        """Forget the sockets: the connection stands, or it failed."""
        with self._lock:
            self._sockets.clear()

    def cut(self) -> None:
        """Hang up all there are and all that come."""
        with self._lock:
            self._cut = True
            sockets, self._sockets = self._sockets, []
        for sock in sockets:
            hang_up(sock)
