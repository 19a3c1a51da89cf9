"""A few commands of MongoDB over the wire, with the standard library alone: the lab runs before there is any package.

OP_QUERY on `$cmd`, which 3.2 speaks (MongoDB manual, "Legacy Opcodes"); BSON of what these commands hold and no more.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Mapping
from typing import Any

from tests.lab.estate.errors import LabError

_OP_QUERY, _SLAVE_OK = 2004, 4


class RefusedError(LabError):
    """The server answered that it did not do it. `code`: its number, 0 where it gives none."""

    def __init__(self, said: Mapping[str, Any]) -> None:
        super().__init__(str(said.get("errmsg") or said))
        self.code = int(said.get("code", 0))


def command(
    address: str, port: int, database: str, asked: Mapping[str, Any], *, limit_s: float = 20.0
) -> dict[str, Any]:
    """Send one command and return its answer. Raises RefusedError, and LabError where nobody answers."""
    body = struct.pack("<i", _SLAVE_OK) + f"{database}.$cmd\0".encode() + struct.pack("<ii", 0, -1) + encoded(asked)
    try:
        with socket.create_connection((address, port), timeout=limit_s) as sock:
            sock.sendall(struct.pack("<iiii", len(body) + 16, 1, 0, _OP_QUERY) + body)
            size = struct.unpack("<i", _exactly(sock, 4))[0]
            answer = decoded(_exactly(sock, size - 4)[12 + 20 :])
    except OSError as problem:
        raise LabError(f"{address}:{port} does not answer: {problem}") from problem
    if answer.get("ok") != 1:
        raise RefusedError(answer)
    return answer


def _exactly(sock: socket.socket, size: int) -> bytes:
    found = b""
    while len(found) < size:
        more = sock.recv(size - len(found))
        if not more:
            raise ConnectionResetError("the server closed the connection")
        found += more
    return found


def encoded(document: Mapping[str, Any]) -> bytes:
    """Return a document of texts, whole numbers, truths, lists and documents as BSON (bsonspec.org)."""
    body = b"".join(_element(name, value) for name, value in document.items())
    return struct.pack("<i", len(body) + 5) + body + b"\0"


def _element(name: str, value: Any) -> bytes:
    head = name.encode() + b"\0"
    if isinstance(value, bool):
        return b"\x08" + head + bytes([value])
    if isinstance(value, int):
        return b"\x12" + head + struct.pack("<q", value)
    if isinstance(value, float):
        return b"\x01" + head + struct.pack("<d", value)
    if isinstance(value, str):
        text = value.encode() + b"\0"
        return b"\x02" + head + struct.pack("<i", len(text)) + text
    if isinstance(value, Mapping):
        return b"\x03" + head + encoded(value)
    if isinstance(value, list | tuple):
        return b"\x04" + head + encoded({str(n): one for n, one in enumerate(value)})
    raise TypeError(f"no BSON for {type(value).__name__}")


def decoded(data: bytes) -> dict[str, Any]:
    """Return a BSON document; what has no plain form (an id, a moment) is its bytes or its number."""
    found: dict[str, Any] = {}
    at = 4
    while data[at]:
        kind, end = data[at], data.index(0, at + 1)
        name = data[at + 1 : end].decode()
        found[name], at = _value(kind, data, end + 1)
    return found


_FIXED = {0x01: "<d", 0x08: "<?", 0x09: "<q", 0x10: "<i", 0x11: "<Q", 0x12: "<q"}


def _value(kind: int, data: bytes, at: int) -> tuple[Any, int]:
    if kind in _FIXED:
        form = struct.Struct(_FIXED[kind])
        return form.unpack_from(data, at)[0], at + form.size
    if kind in {0x0A, 0xFF, 0x7F}:
        return None, at
    if kind == 0x07:
        return data[at : at + 12].hex(), at + 12
    size = struct.unpack_from("<i", data, at)[0]
    if kind in {0x02, 0x0D, 0x0E}:
        return data[at + 4 : at + 3 + size].decode(errors="replace"), at + 4 + size
    if kind in {0x03, 0x04}:
        inner = decoded(data[at : at + size])
        return (inner if kind == 0x03 else list(inner.values())), at + size
    if kind == 0x05:
        return data[at + 5 : at + 5 + size], at + 5 + size
    raise LabError(f"BSON of the kind {kind:#x} is not read here")
