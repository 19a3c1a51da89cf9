"""How long a search waits: for a host that says nothing a few seconds, for one that answers piece by piece longer.

Over a VPN of 200 ms a look at a healthy node is twenty round trips one after another: a limit of all of it together
would call it dead. What shows that a host lives is an answer.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeVar

from services.clock import Clock
from services.connections.ports import ObserverSession, Output, Rows, Stream
from services.connections.reads.read import CommandRead, SqlRead

if TYPE_CHECKING:
    from services.connections.mongo.document import Reply
    from services.connections.reads.mongo import MongoRead

MOST_TIMES = 4.0
"""Of the limit, for the whole search: hosts that answer a little now and then end it too."""

T = TypeVar("T")


class Patience:
    """When each host that is asked said something last. Safe to call from several threads.

    Args:
        limit_s: for so long a host may say nothing; the whole search ends after `MOST_TIMES` of it.
    """

    def __init__(self, clock: Clock, limit_s: float) -> None:
        self._clock = clock
        self._limit_s = limit_s
        self._end = clock.monotonic() + MOST_TIMES * limit_s
        self._heard: dict[str, float] = {}
        self._lock = threading.Lock()

    def heard(self, host: str) -> None:
        """Note that a host was asked, or said something."""
        with self._lock:
            self._heard[host] = self._clock.monotonic()

    def left_s(self, hosts: Iterable[str]) -> float:
        """Return for how long these are still waited for, not above 0 when the time of all of them is over."""
        with self._lock:
            newest = max((self._heard[host] for host in hosts if host in self._heard), default=0.0)
        return min(self._end, newest + self._limit_s) - self._clock.monotonic()


class Heard:
    """An ObserverSession that tells of each answer."""

    def __init__(self, session: ObserverSession, tell: Callable[[], None]) -> None:
        self._session = session
        self._tell = tell

    @property
    def host(self) -> str:
        """Return the inventory name of the host."""
        return self._session.host

    @property
    def has_ssh(self) -> bool:
        """Return whether the session reads the host itself."""
        return self._session.has_ssh

    @property
    def has_sql(self) -> bool:
        """Return whether the inventory gives a way into the server of this host."""
        return self._session.has_sql

    @property
    def kind(self) -> str:
        """Return what that server is."""
        return self._session.kind

    @property
    def reached(self) -> tuple[str, ...]:
        """Return where SSH leads."""
        return self._session.reached

    def ask(self, read: MongoRead, *, limit_s: float = 5.0) -> Reply:
        """Send one command to a MongoDB server."""
        return self._told(self._session.ask(read, limit_s=limit_s))

    def query(self, read: SqlRead, *, limit_s: float = 5.0) -> Rows:
        """Send one statement."""
        return self._told(self._session.query(read, limit_s=limit_s))

    def status(self, *, limit_s: float = 5.0) -> dict[str, str]:
        """Return SHOW GLOBAL STATUS as name -> text."""
        return self._told(self._session.status(limit_s=limit_s))

    def run(self, read: CommandRead, *, limit_s: float = 10.0) -> Output:
        """Run one command."""
        return self._told(self._session.run(read, limit_s=limit_s))

    def stream(self, read: CommandRead) -> Stream:
        """Start a long-lived command."""
        return self._session.stream(read)

    def try_now(self) -> None:
        """Skip what is left of a backoff."""
        self._session.try_now()

    def close(self) -> None:
        """Close everything."""
        self._session.close()

    def _told(self, answer: T) -> T:
        self._tell()
        return answer
