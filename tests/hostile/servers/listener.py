"""A server on loopback that follows a script with each connection, and ends with its test."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable

Script = Callable[[socket.socket, threading.Event], None]
"""Plays one connection; the event is set when the test is over."""


class Listener:
    """Listens at once. `close` hangs up all connections and joins all threads."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port: int = self._listening.getsockname()[1]
        self._over = threading.Event()
        self._lock = threading.Lock()
        self._sockets: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept, name="hostile-accept")]
        self._threads[0].start()

    def _accept(self) -> None:
        while not self._over.is_set():
            try:
                sock, _ = self._listening.accept()
            except OSError:
                return
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            thread = threading.Thread(target=self._play, args=(sock,), name="hostile-connection")
            with self._lock:
                self._sockets.append(sock)
                self._threads = [one for one in self._threads if one.is_alive()] + [thread]
            thread.start()

    def _play(self, sock: socket.socket) -> None:
        with sock, contextlib.suppress(OSError, EOFError):
            self._script(sock, self._over)
        with self._lock:
            self._sockets.remove(sock)

    def close(self) -> None:
        """End everything."""
        self._over.set()
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        with self._lock:
            sockets, threads = list(self._sockets), list(self._threads)
        for sock in sockets:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
        for thread in threads:
            thread.join(10)


def flood(sock: socket.socket, over: threading.Event, block: bytes) -> None:
    """Send the same without end."""
    while not over.is_set():
        sock.sendall(block)


def drip(sock: socket.socket, over: threading.Event, data: bytes, pause_s: float = 0.1) -> None:
    """Send a byte at a time, over and over."""
    while not over.is_set():
        for byte in data:
            sock.sendall(bytes([byte]))
            if over.wait(pause_s):
                return
