"""MongoDB's wire protocol over a socket that is already open: one command, one answer, each with its clock and purse.

Two forms of a command: OP_QUERY on `$cmd`, which servers up to 3.4 know alone, and OP_MSG, which 3.6 (wire version 6)
brought and 5.1 and newer know alone, but for the first hello. Sources: MongoDB manual, "MongoDB Wire Protocol" (OP_MSG)
and "Legacy Opcodes"; driver specifications, "OP_MSG" and "Handshake".
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

from services.connections.budget import Metered
from services.connections.dial import hang_up
from services.connections.mongo.document import Document, Value
from services.connections.mongo.plain import as_sent, decoded, encoded
from services.connections.sql.text_rows import BadReply
from services.connections.tls.policy import SocketLike, TlsOverChannel
from services.i18n import tr

_HEAD = struct.Struct("<iiii")
_REPLY_HEAD = struct.Struct("<iqii")
_OP_REPLY, _OP_QUERY, _OP_MSG = 1, 2004, 2013
_SLAVE_OK = 4
_CHUNK = 65536
_CHECKED, _MORE_TO_COME = 1, 2
MSG_SINCE = 6
"""The wire version of MongoDB 3.6, the first that speaks OP_MSG."""


class CommandFailed(Exception):  # noqa: N818 - it says what happened
    """The server's own answer that it did not do it: its number (0 where it gives none) and words."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message


class MongoWire:
    """One connection. Not for two threads, but for `abort`.

    Attributes:
        modern: commands go by OP_MSG. secondaries: a server that is not the primary may answer (never of a mongos: it
            would go and ask some secondary).
    """

    def __init__(self, meter: Metered, sock: SocketLike) -> None:
        """Take a socket: the meter itself, or TLS over it."""
        self._meter = meter
        self._sock = sock
        self._number = 0
        self.modern = False
        self.secondaries = True

    @property
    def cipher(self) -> str:
        """Return the TLS protocol and cipher in use, '' without TLS."""
        tls = self._sock.tls if isinstance(self._sock, TlsOverChannel) else self._meter.below
        version, cipher = getattr(tls, "version", None), getattr(tls, "cipher", None)
        if version is None or cipher is None:
            return ""
        return f"{version()} {(cipher() or ('',))[0]}"

    def begin(self, limit_s: float, most: int) -> None:
        """Begin an exchange of so many seconds and bytes in all; TLS takes a little on top."""
        self._meter.begin(limit_s, most + most // 8)

    def command(self, database: str, command: Mapping[str, Any]) -> Document:
        """Send a command and return its answer, within the exchange that was begun.

        Raises CommandFailed, BadReply, OSError (TimeoutError, LimitReached), EOFError.
        """
        return _judged(decoded(self._exchanged(database, command)))

    def exact(self, database: str, command: Mapping[str, Any]) -> dict[str, Any]:
        """Return an answer with every value of the type in which it came, to be sent back. Raises as `command`."""
        data = self._exchanged(database, command)
        _judged(decoded(data))
        return as_sent(data)

    def abort(self) -> None:
        """Cut the connection from any thread; a blocked call ends with an error."""
        hang_up(self._sock)

    def _exchanged(self, database: str, command: Mapping[str, Any]) -> bytes:
        """Send a command and return the document that answers it, as bytes."""
        self._number = self._number % 0x7FFFFFFF + 1
        kind, payload = self._message(database, command)
        self._sock.sendall(_HEAD.pack(len(payload) + _HEAD.size, self._number, 0, kind) + payload)
        return self._answer()

    def _message(self, database: str, command: Mapping[str, Any]) -> tuple[int, bytes]:
        if not self.modern:
            flags = _SLAVE_OK if self.secondaries else 0
            head = struct.pack("<i", flags) + f"{database}.$cmd".encode() + struct.pack("<xii", 0, -1)
            return _OP_QUERY, head + encoded(command)
        body = {**command, "$db": database}
        if self.secondaries:
            body["$readPreference"] = {"mode": "primaryPreferred"}
        return _OP_MSG, struct.pack("<ix", 0) + encoded(body)

    def _answer(self) -> bytes:
        length, _, to, kind = _HEAD.unpack(self._exactly(_HEAD.size))
        if to != self._number:
            raise BadReply(tr("it answers a different request"))
        left = self._meter.left_bytes()
        if length < _HEAD.size or (left is not None and length - _HEAD.size > left):
            raise BadReply(tr("it declares a length of {n} bytes", n=length))
        if kind not in {_OP_REPLY, _OP_MSG}:
            raise BadReply(tr("its kind {kind} is unknown", kind=kind))
        payload = self._exactly(length - _HEAD.size)
        return _reply(payload) if kind == _OP_REPLY else _message(payload)

    def _exactly(self, size: int) -> bytes:
        found = bytearray()
        while len(found) < size:
            data = self._sock.recv(min(size - len(found), _CHUNK))
            if not data:
                raise EOFError
            found += data
        return bytes(found)


def _reply(payload: bytes) -> bytes:
    """Return the document of an OP_REPLY."""
    if len(payload) < _REPLY_HEAD.size or _REPLY_HEAD.unpack_from(payload)[3] != 1:
        raise BadReply(tr("it does not contain exactly one document"))
    return payload[_REPLY_HEAD.size :]


def _message(payload: bytes) -> bytes:
    """Return the document of an OP_MSG; what was not agreed on (checksums, streams) is no reply."""
    if len(payload) < 5 or payload[4] != 0 or int.from_bytes(payload[:4], "little") & (_CHECKED | _MORE_TO_COME):
        raise BadReply(tr("it does not contain exactly one document"))
    return payload[5:]


def _judged(answer: Document) -> Document:
    """Return an answer that says ok. Raises CommandFailed."""
    if "$err" in answer:  # a legacy query that failed
        raise CommandFailed(_code(answer.get("code")), _words(answer["$err"]))
    said = answer.get("ok")
    if isinstance(said, int | float) and said == 1:
        return answer
    if "ok" not in answer:
        raise BadReply(tr("it reports neither success nor failure of the command"))
    raise CommandFailed(_code(answer.get("code")), _words(answer.get("errmsg")))


def _code(value: Value) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _words(value: Value) -> str:
    return value[:1000] if isinstance(value, str) else ""
