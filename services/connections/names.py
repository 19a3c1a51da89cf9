"""Names of hosts, looked up within a limit: the system's resolver takes none, and can't be told to stop.

So it is asked by a thread of its own, which nobody waits for longer than the limit. One that still waits is not asked
again: whoever wants the same name waits for the same answer.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from typing import Any

from services.addresses import is_ip

_running: dict[tuple[Any, ...], _Lookup] = {}
_lock = threading.Lock()


class _Lookup:
    """One question to the resolver, under way or answered."""

    def __init__(self, ask: Callable[[], Any], key: tuple[Any, ...]) -> None:
        self._ask = ask
        self._key = key
        self._answer: Any = None
        self._problem: Exception | None = None
        self._thread = threading.Thread(target=self._work, name="name lookup", daemon=True)
        self._thread.start()

    def wait(self, limit_s: float) -> Any:
        """Return the answer. Raises what the resolver raised, or TimeoutError."""
        self._thread.join(max(0.0, limit_s))
        if self._thread.is_alive():
            raise TimeoutError
        if self._problem is not None:
            raise self._problem
        return self._answer

    def _work(self) -> None:
        try:
            self._answer = self._ask()
        except Exception as problem:  # noqa: BLE001 - raised again to whoever waits
            self._problem = problem
        with _lock:
            _running.pop(self._key, None)


def addresses_of(name: str, port: int | None, limit_s: float) -> list[tuple[Any, ...]]:
    """Return what socket.getaddrinfo returns for TCP. Raises OSError as it does; TimeoutError beyond the limit."""

    def ask() -> list[tuple[Any, ...]]:
        return list(socket.getaddrinfo(name, port, type=socket.SOCK_STREAM))

    return ask() if is_ip(name) else list(_within(ask, ("address", name, port), limit_s))


def _within(ask: Callable[[], Any], key: tuple[Any, ...], limit_s: float) -> Any:
    with _lock:
        lookup = _running.get(key)
        if lookup is None:
            lookup = _running[key] = _Lookup(ask, key)
    return lookup.wait(limit_s)
