"""Builds replies of the MySQL text protocol, and hands them out in pieces as a socket would."""

from __future__ import annotations

import struct

VAR_STRING, LONGLONG, DOUBLE, BLOB, NEWDECIMAL = 253, 8, 5, 252, 246
UTF8, BINARY = 45, 63


def number(value: int) -> bytes:
    """A length-encoded integer."""
    if value < 0xFB:
        return bytes([value])
    if value < 1 << 16:
        return b"\xfc" + struct.pack("<H", value)
    if value < 1 << 24:
        return b"\xfd" + struct.pack("<I", value)[:3]
    return b"\xfe" + struct.pack("<Q", value)


def string(value: bytes | None) -> bytes:
    """A length-encoded string, or NULL."""
    return b"\xfb" if value is None else number(len(value)) + value


def packets(payloads: list[bytes], first: int = 1) -> bytes:
    """Payloads with their headers; those of 16 MB and more are split."""
    out = bytearray()
    sequence = first
    for payload in payloads:
        rest = payload
        while True:
            part, rest = rest[:0xFFFFFF], rest[0xFFFFFF:]
            out += struct.pack("<I", len(part))[:3] + bytes([sequence & 255]) + part
            sequence += 1
            if len(part) < 0xFFFFFF:
                break
    return bytes(out)


def column(name: str, kind: int = VAR_STRING, charset: int = UTF8) -> bytes:
    """A column definition."""
    parts = [b"def", b"", b"", b"", name.encode(), b""]
    return b"".join(string(part) for part in parts) + b"\x0c" + struct.pack("<HIBHBxx", charset, 255, kind, 0, 0)


def end(status: int = 2) -> bytes:
    """An EOF packet."""
    return b"\xfe" + struct.pack("<HH", 0, status)


def result(columns: list[bytes], rows: list[list[bytes | None]], status: int = 2) -> bytes:
    """A whole result set."""
    body = [b"".join(string(value) for value in row) for row in rows]
    return packets([number(len(columns)), *columns, end(), *body, end(status)])


def error(errno: int, text: str, first: int = 1) -> bytes:
    """An error packet."""
    return packets([b"\xff" + struct.pack("<H", errno) + b"#HY000" + text.encode()], first)


class Pieces:
    """A socket that gives `data` in pieces of `size` bytes, then its end."""

    def __init__(self, data: bytes, size: int = 1 << 20) -> None:
        self._data = data
        self._size = size
        self.limits: list[float | None] = []

    def recv(self, size: int) -> bytes:
        taken = min(size, self._size)
        piece, self._data = self._data[:taken], self._data[taken:]
        return piece

    def settimeout(self, seconds: float | None) -> None:
        self.limits.append(seconds)

    def sendall(self, data: bytes) -> None:
        raise AssertionError(data)

    def close(self) -> None:
        self._data = b""
