"""A scripted server that speaks MongoDB's wire protocol, OP_QUERY and OP_MSG, with SCRAM; it keeps what it was asked.

It answers from a table of replies, as recorded of a server or made up: tests on it say 'scripted' of themselves.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Self

import bson

Answer = Mapping[str, Any] | Callable[[Mapping[str, Any]], Mapping[str, Any] | bytes]
_OP_REPLY, _OP_QUERY, _OP_MSG = 1, 2004, 2013
HELLO_32 = {"ismaster": True, "maxWireVersion": 4, "minWireVersion": 0, "maxBsonObjectSize": 16777216}
HELLO_80 = {
    "isWritablePrimary": True,
    "ismaster": True,
    "helloOk": True,
    "maxWireVersion": 25,
    "minWireVersion": 0,
    "maxBsonObjectSize": 16777216,
}
"""maxWireVersion 4 is MongoDB 3.2, 25 is 8.0 (PyMongo's own table of versions)."""


class MongoPeer:
    """Takes connections, each on a thread of its own.

    Attributes:
        asked: (database, command, kind of message) of every command, in order; opened: connections so far.
    """

    def __init__(
        self,
        replies: Mapping[str, Answer],
        *,
        hello: Mapping[str, Any] = HELLO_32,
        users: Mapping[str, str] | None = None,
        mechanisms: tuple[str, ...] = ("SCRAM-SHA-1",),
        rounds: int = 5000,
        tls: ssl.SSLContext | None = None,
        knows_password: bool = True,
        listener: socket.socket | None = None,
    ) -> None:
        self.replies = dict(replies)
        self.hello = dict(hello)
        self.users = users
        self.asked: list[tuple[str, dict[str, Any], int]] = []
        self.opened = 0
        self._mechanisms = mechanisms
        self._rounds = rounds
        self._tls = tls
        self._knows = knows_password
        self._listener = listener or socket.create_server(("127.0.0.1", 0))
        self._threads: list[threading.Thread] = []
        self._sockets: list[socket.socket] = []
        self.port = 0 if listener is not None else int(self._listener.getsockname()[1])

    def __enter__(self) -> Self:
        self._start(self._accept)
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for sock in self._sockets:
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
            sock.close()
        for thread in self._threads:
            thread.join(5)

    def commands(self) -> list[str]:
        """The names of what was asked."""
        return [next(iter(command)) for _, command, _ in self.asked]

    def _start(self, target: Callable[..., None], *args: object) -> None:
        thread = threading.Thread(target=target, args=args)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            self.opened += 1
            self._sockets.append(sock)
            self._start(self._serve, sock)

    def _serve(self, sock: socket.socket) -> None:
        with suppress(OSError, EOFError):
            try:
                if self._tls is not None:
                    sock = self._tls.wrap_socket(sock, server_side=True)
                    self._sockets.append(sock)
                _Talk(self, sock).run()
            finally:
                sock.close()


class _Talk:
    """One connection."""

    def __init__(self, peer: MongoPeer, sock: socket.socket) -> None:
        self._peer = peer
        self._sock = sock
        self._in = peer.users is None
        self._scram: _Scram | None = None

    def run(self) -> None:
        while True:
            length, number, _, kind = struct.unpack("<iiii", self._exactly(16))
            if not 16 <= length <= 48_000_000 or kind not in {_OP_QUERY, _OP_MSG}:
                return  # as a real server does with what is no message (a TLS hello)
            payload = self._exactly(length - 16)
            newest = self._peer.hello["maxWireVersion"]
            if kind == _OP_MSG and newest < 6:
                return  # 3.6 brought it
            if kind == _OP_QUERY:
                place = payload.index(b"\0", 4)
                database = payload[4:place].decode().partition(".")[0]
                command = bson.decode(payload[place + 9 :])
            else:
                command = bson.decode(payload[5:])
                database = command.pop("$db")
            if kind == _OP_QUERY and newest > 13 and next(iter(command)).lower() not in {"ismaster", "hello"}:
                return  # 5.1 took it away, but for the first hello
            self._peer.asked.append((database, command, kind))
            answer = self._answer(command)
            if isinstance(answer, bytes):
                self._sock.sendall(answer)
                return
            body = bson.encode(answer)
            out = (b"\0" * 5 if kind == _OP_MSG else struct.pack("<iqii", 8, 0, 0, 1)) + body
            head = struct.pack("<iiii", len(out) + 16, 1, number, _OP_MSG if kind == _OP_MSG else _OP_REPLY)
            self._sock.sendall(head + out)

    def _answer(self, command: Mapping[str, Any]) -> Mapping[str, Any] | bytes:
        name = next(iter(command))
        if name.lower() in {"ismaster", "hello"}:
            named = {"saslSupportedMechs": list(self._peer._mechanisms)} if "saslSupportedMechs" in command else {}
            return {**self._peer.hello, **(named if self._peer.hello["maxWireVersion"] > 6 else {}), "ok": 1.0}
        if name in {"saslStart", "saslContinue"}:
            return self._login(name, command)
        if name == "authenticate":
            old = self._peer.hello["maxWireVersion"] < 5  # 3.2.5: "no x.509 certificate matching the user"
            self._in = command.get("mechanism") == "MONGODB-X509" and bool(command.get("user") or not old)
            return {"ok": 1.0} if self._in else {"ok": 0.0, "code": 18, "errmsg": "auth failed"}
        if not self._in:
            return {"ok": 0.0, "code": 13, "errmsg": f"not authorized on admin to execute command {{ {name}: 1 }}"}
        found = self._peer.replies.get(str(command["find"]) if name == "find" else name)
        if found is None:
            return {"ok": 0.0, "code": 59, "errmsg": f"no such command: '{name}', bad cmd: '{{ {name}: 1 }}'"}
        return found(command) if callable(found) else found

    def _login(self, name: str, command: Mapping[str, Any]) -> Mapping[str, Any]:
        users = self._peer.users or {}
        if name == "saslStart":
            self._scram = _Scram(command["mechanism"], users, self._peer._rounds, knows=self._peer._knows)
            return {"conversationId": 1, "done": False, "payload": self._scram.first(command["payload"]), "ok": 1.0}
        assert self._scram is not None
        if not command["payload"]:
            self._in = True
            return {"conversationId": 1, "done": True, "payload": b"", "ok": 1.0}
        proof = self._scram.final(command["payload"])
        if proof is None:
            return {"ok": 0.0, "code": 18, "errmsg": "Authentication failed."}
        return {"conversationId": 1, "done": False, "payload": proof, "ok": 1.0}

    def _exactly(self, size: int) -> bytes:
        found = b""
        while len(found) < size:
            data = self._sock.recv(size - len(found))
            if not data:
                raise EOFError
            found += data
        return found


class _Scram:
    """The server's side, with what it would have stored of each account."""

    def __init__(self, mechanism: str, users: Mapping[str, str], rounds: int, *, knows: bool) -> None:
        self._hash = "sha1" if mechanism == "SCRAM-SHA-1" else "sha256"
        self._users, self._rounds, self._knows = users, rounds, knows
        self._salt = os.urandom(16)
        self._user = self._bare = self._first = ""

    def first(self, said: bytes) -> bytes:
        self._bare = said.decode().removeprefix("n,,")
        user, nonce = self._bare.split(",")
        self._user = user.removeprefix("n=").replace("=2C", ",").replace("=3D", "=")
        salt = base64.b64encode(self._salt).decode()
        self._first = f"{nonce}{os.urandom(8).hex()},s={salt},i={self._rounds}"
        return self._first.encode()

    def final(self, said: bytes) -> bytes | None:
        without, _, proof = said.decode().rpartition(",p=")
        password = self._users.get(self._user, "") if self._knows else "something else"
        if self._hash == "sha1":
            password = hashlib.md5(f"{self._user}:mongo:{password}".encode()).hexdigest()
        salted = hashlib.pbkdf2_hmac(self._hash, password.encode(), self._salt, self._rounds)
        client = hmac.new(salted, b"Client Key", self._hash).digest()
        text = f"{self._bare},{self._first},{without}".encode()
        signature = hmac.new(hashlib.new(self._hash, client).digest(), text, self._hash).digest()
        right = bytes(a ^ b for a, b in zip(client, signature, strict=True)) == base64.b64decode(proof)
        if self._knows and (self._user not in self._users or not right):
            return None
        own = hmac.new(hmac.new(salted, b"Server Key", self._hash).digest(), text, self._hash).digest()
        return b"v=" + base64.b64encode(own)
