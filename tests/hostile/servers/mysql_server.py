"""A hostile MySQL server: each behaviour is a mode. Modes that let a client in lie afterwards."""

from __future__ import annotations

import socket
import struct
import threading

from tests.hostile.servers.listener import Listener, Script, drip, flood
from tests.unit.connections import packets as p

SALT = b"abcdefghijklmnopqrst"
OK = b"\x00\x00\x00\x02\x00\x00\x00"
STATUS = p.result([p.column("Variable_name"), p.column("Value")], [[b"Uptime", b"7"], [b"Threads_running", b"1"]])


def greeting(plugin: bytes = b"mysql_native_password", version: bytes = b"8.4.0") -> bytes:
    """Protocol::HandshakeV10 without TLS."""
    flags = 0x00080000 | 0x00008000 | 0x00000200 | 0x00200000  # PLUGIN_AUTH, SECURE_CONNECTION, PROTOCOL_41, lenenc
    return b"".join(
        (
            b"\x0a", version, b"\0", struct.pack("<I", 7), SALT[:8], b"\0", struct.pack("<H", flags & 0xFFFF),
            b"\x2d\x02\x00", struct.pack("<H", flags >> 16), bytes([21]), b"\0" * 10, SALT[8:], b"\0", plugin, b"\0",
        )
    )  # fmt: skip


HELLO = p.packets([greeting()], 0)


def take(sock: socket.socket) -> bytes:
    """Read one packet's payload. Raises EOFError when the client is gone."""
    head = sock.recv(4, socket.MSG_WAITALL)
    if len(head) < 4:
        raise EOFError
    return sock.recv(int.from_bytes(head[:3], "little"), socket.MSG_WAITALL)


def let_in(sock: socket.socket) -> None:
    """Greet and accept whatever password comes."""
    sock.sendall(HELLO)
    take(sock)
    sock.sendall(p.packets([OK], 2))


def _first(data: bytes, then: str = "") -> Script:
    """Send `data` as soon as somebody connects, then hang up, stay silent or send it again without end."""

    def script(sock: socket.socket, over: threading.Event) -> None:
        if then == "again":
            flood(sock, over, data)
        elif then == "slowly":
            drip(sock, over, data)
        sock.sendall(data)
        if then == "silence":
            over.wait()

    return script


def _after_greeting(data: bytes, then: str = "") -> Script:
    play = _first(data, then)

    def script(sock: socket.socket, over: threading.Event) -> None:
        sock.sendall(HELLO)
        take(sock)
        play(sock, over)

    return script


def after_login(reply: bytes, then: str = "") -> Script:
    """Let in, set up, and answer what the console asks for with `reply`."""
    play = _first(reply, then)

    def script(sock: socket.socket, over: threading.Event) -> None:
        let_in(sock)
        while True:
            if take(sock)[1:4] == b"SET":
                sock.sendall(p.packets([OK], 1))
            else:
                play(sock, over)

    return script


def _head(columns: int = 2) -> bytes:
    names = [p.column(f"c{i}") for i in range(columns)]
    return p.packets([p.number(columns), *names, p.end()])


_ROW = p.packets([p.string(b"name") + p.string(b"value")], 0)
_EMPTY_NAMES = b"".join(struct.pack("<I", 2)[:3] + bytes([n & 255]) + b"\0\0" for n in range(5, 20_005))

MODES: dict[str, Script] = {
    "silent": _first(b"", "silence"),
    "closes at once": _first(b""),
    "greeting without end": _first(b"\xff\xff\xff\x00" + b"\x0a" + b"8" * 65536, "again"),
    "a byte at a time": _first(HELLO, "slowly"),
    "announces 16 MB": _first(b"\xff\xff\xff\x00\x0a8.4", "silence"),
    "16 MB again and again": _first(b"\xff\xff\xff\x00" + b"\x0a" * 0xFFFFFF, "again"),
    "an empty greeting": _first(b"\x00\x00\x00\x00"),
    "half a greeting": _first(p.packets([greeting()[:30]], 0)),
    "no greeting": _first(b"HTTP/1.1 400 Bad Request\r\n\r\n"),
    "a version that is no number": _first(p.packets([greeting(version=b"x.y")], 0), "silence"),
    "a plugin that is no text": _first(p.packets([greeting(plugin=b"\xff\xfe\xfd")], 0), "silence"),
    "an unknown plugin": _after_greeting(p.packets([b"\xfe\xff\xff\x00abc"], 2), "silence"),
    "an unfinished answer": _after_greeting(p.packets([b"\xfe"], 2)),
    "extra data for ever": _after_greeting(p.packets([b"\x01\x04"], 2), "again"),
    "numbers out of order": _after_greeting(p.packets([OK], 9)),
    "an answer a byte at a time": _after_greeting(p.packets([b"\x01" * 4000], 2), "slowly"),
    "a refusal of a megabyte": _after_greeting(p.packets([b"\xff\x15\x04#28000" + b"no " * 300_000], 2)),
    "silent after the login": after_login(b"", "silence"),
    "rows without end": after_login(_head() + _ROW * 4000, "again"),
    "rows with numbers in order": after_login(
        _head() + b"".join(_ROW[:3] + bytes([(n + 5) & 255]) + _ROW[4:] for n in range(300_000)), "silence"
    ),
    "pairs without names": after_login(_head() + _EMPTY_NAMES * 50, "silence"),
    "a row a byte at a time": after_login(_head() + _ROW * 99, "slowly"),
    "columns without number": after_login(p.packets([b"\xfe" + b"\xff" * 8]), "silence"),
    "100,000 columns": after_login(_head(100_000)),
    "a broken column": after_login(p.packets([p.number(1), b"\x03def\xfe"])),
    "asks for a file": after_login(p.packets([b"\xfb/etc/passwd"]), "silence"),
    "an error of 16 MB": after_login(p.packets([b"\xff\x15\x04#28000" + b"\x1b[2J" * 2_000_000]), "silence"),
    "a row of 64 MB": after_login(_head() + (b"\xff\xff\xff\x05" + b"x" * 0xFFFFFF) * 4, "silence"),
}


def hostile_mysql(mode: str) -> Listener:
    """Start a server that behaves so."""
    return Listener(MODES[mode])
