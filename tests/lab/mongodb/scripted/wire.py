"""The wire protocol of both sides: a listener that hands commands on, and one question to another server."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import bson

Doc = dict[str, Any]
_OP_REPLY, _OP_QUERY, _OP_MSG = 1, 2004, 2013
_SLAVE_OK = 4
_MOST = 48_000_000
_END_S = 10.0


class Refused(Exception):  # noqa: N818 - it is an answer
    """A server's answer that it did not do it. code 0: as old commands do, it gives none."""

    def __init__(self, code: int, message: str, **more: Any) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message
        self.more = more

    def document(self) -> Doc:
        """The reply."""
        coded = {"code": self.code} if self.code else {}
        return {**self.more, "ok": 0.0, "errmsg": self.message, **coded}


class HungUp(Exception):  # noqa: N818 - it is what happens
    """The server closes this connection instead of an answer."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One command. slave_ok: a member that is not the primary may answer."""

    database: str
    command: Doc
    slave_ok: bool

    @property
    def name(self) -> str:
        """The command's name."""
        return next(iter(self.command))


Handler = Callable[[Asked], Doc]


def ask(place: str, command: Doc, *, database: str = "admin", limit_s: float = 2.0, slave_ok: bool = True) -> Doc:
    """Send one command to host:port. Raises Refused with its answer, OSError or EOFError where none comes."""
    host, _, port = place.rpartition(":")
    with socket.create_connection((host, int(port)), limit_s) as sock:
        head = (
            struct.pack("<i", _SLAVE_OK if slave_ok else 0) + f"{database}.$cmd".encode() + struct.pack("<xii", 0, -1)
        )
        body = head + bson.encode(command)
        sock.sendall(struct.pack("<iiii", len(body) + 16, 1, 0, _OP_QUERY) + body)
        length = struct.unpack("<i", _exactly(sock, 16)[:4])[0]
        answer: Doc = bson.decode(_exactly(sock, length - 16)[20:])
    if answer.get("ok") != 1:
        more = {key: value for key, value in answer.items() if key not in {"ok", "code", "errmsg"}}
        raise Refused(int(answer.get("code", 0)), str(answer.get("errmsg")), **more)
    return answer


class Listener:
    """Takes connections on a port of loopback, each on a thread of its own, until it is closed."""

    def __init__(self, port: int, handler: Handler) -> None:
        self._handler = handler
        self._open: set[socket.socket] = set()
        self._threads: set[threading.Thread] = set()
        self._lock = threading.Lock()
        self._closed = False
        self._listener = socket.create_server(("127.0.0.1", port), backlog=64)

    def begin(self) -> None:
        """Answer who has come meanwhile, and who comes."""
        self._start(self._accept)

    def close(self) -> None:
        """Refuse connections from now on, and end those that are open."""
        self._closed = True
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.hang_up()

    def wait(self) -> None:
        """Wait until what it was answering is over: it may be asking another server yet."""
        with self._lock:
            left = [one for one in self._threads if one is not threading.current_thread()]
        for thread in left:
            thread.join(_END_S)

    def hang_up(self) -> None:
        """End the open connections, as a step down does."""
        with self._lock:
            for sock in self._open:
                with suppress(OSError):
                    sock.shutdown(socket.SHUT_RDWR)

    @property
    def connections(self) -> int:
        """How many are open."""
        return len(self._open)

    def _start(self, target: Callable[..., None], *args: object) -> None:
        thread = threading.Thread(target=target, args=args, daemon=True)
        with self._lock:
            self._threads = {one for one in self._threads if one.is_alive() or one.ident is None} | {thread}
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            with self._lock:
                self._open.add(sock)
            if self._closed:
                sock.close()
                return
            self._start(self._serve, sock)

    def _serve(self, sock: socket.socket) -> None:
        try:
            with suppress(OSError, EOFError, HungUp):
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                while not self._closed:
                    self._exchange(sock)
        finally:
            with self._lock:
                self._open.discard(sock)
            sock.close()

    def _exchange(self, sock: socket.socket) -> None:
        length, number, _, kind = struct.unpack("<iiii", _exactly(sock, 16))
        if not 16 <= length <= _MOST or kind != _OP_QUERY:
            raise HungUp  # OP_MSG came with 3.6; and what is no message (a TLS hello) is none
        payload = _exactly(sock, length - 16)
        place = payload.index(b"\0", 4)
        flags = struct.unpack("<i", payload[:4])[0]
        asked = Asked(
            payload[4:place].decode().partition(".")[0], bson.decode(payload[place + 9 :]), bool(flags & _SLAVE_OK)
        )
        try:
            answer = self._handler(asked)
        except Refused as problem:
            answer = problem.document()
        body = struct.pack("<iqii", 8, 0, 0, 1) + bson.encode(answer)
        sock.sendall(struct.pack("<iiii", len(body) + 16, 1, number, _OP_REPLY) + body)


def _exactly(sock: socket.socket, size: int) -> bytes:
    found = bytearray()
    while len(found) < size:
        data = sock.recv(size - len(found))
        if not data:
            raise EOFError
        found += data
    return bytes(found)
