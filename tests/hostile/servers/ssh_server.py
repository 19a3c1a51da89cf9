"""A hostile SSH server: each behaviour is a mode. The first ones never speak SSH; the others do, and lie behind it."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
import time
from collections.abc import Callable
from typing import Any

import paramiko
from paramiko.kex_gex import KexGexSHA256

from tests.hostile.servers.listener import Listener, Script, drip, flood

HELLO = b"SSH-2.0-OpenSSH_9.6\r\n"


def packet(payload: bytes, announced: int | None = None) -> bytes:
    """An unencrypted packet (RFC 4253, section 6)."""
    padding = 4 + (8 - (len(payload) + 9) % 8) % 8
    size = len(payload) + padding + 1 if announced is None else announced
    return struct.pack(">IB", size, padding) + payload + b"\0" * padding


def _greeted(data: bytes, then: str = "silence") -> Script:
    """Greet, then send `data`: once, again and again, or a byte at a time."""

    def script(sock: socket.socket, over: threading.Event) -> None:
        sock.sendall(HELLO)
        _play(sock, over, data, then)

    return script


def _raw(data: bytes, then: str = "silence") -> Script:
    return lambda sock, over: _play(sock, over, data, then)


def _play(sock: socket.socket, over: threading.Event, data: bytes, then: str) -> None:
    if then == "again":
        flood(sock, over, data)
    elif then == "slowly":
        drip(sock, over, data)
    sock.sendall(data)
    if then == "silence":
        over.wait()


class _Door(paramiko.ServerInterface):
    """Lets everybody in, and leaves what is asked afterwards to the mode."""

    def __init__(self, over: threading.Event, mode: str) -> None:
        self._over = over
        self._mode = mode
        self.started: list[tuple[paramiko.Channel, bytes]] = []
        self.wake = threading.Event()
        self.say: Callable[[paramiko.Message], None] = lambda _: None

    def check_auth_password(self, username: str, password: str) -> int:
        """Accept, refuse or never answer."""
        if self._mode == "counts extensions it does not send":
            self.say(paramiko.Message(b"\x07\xff\xff\xff\xff"))
            self._over.wait()
        if self._mode == "login without end":
            self._over.wait()
        return paramiko.AUTH_FAILED if self._mode == "counts questions it does not ask" else paramiko.AUTH_SUCCESSFUL

    def check_auth_interactive(self, username: str, submethods: str) -> int:
        """Ask 4,294,967,295 questions, and send none."""
        self.say(paramiko.Message(b"\x3c" + b"\0" * 12 + b"\xff\xff\xff\xff"))
        self._over.wait()
        return paramiko.AUTH_FAILED

    def get_allowed_auths(self, username: str) -> str:
        """Offer passwords only."""
        return "password,keyboard-interactive"

    def check_channel_request(self, kind: str, chanid: int) -> int:
        """Open every session, or let the client wait."""
        if self._mode == "opens no channel":
            self._over.wait()
        return paramiko.OPEN_SUCCEEDED

    def check_channel_exec_request(self, channel: paramiko.Channel, command: bytes) -> bool:
        """Start nothing; the mode writes."""
        self.started.append((channel, command))
        self.wake.set()
        return True


class _NoGroup(KexGexSHA256):
    """Sends a group whose modulus is below nothing, or too large."""

    modulus = 0

    def _parse_kexdh_gex_request(self, m: paramiko.Message) -> None:
        group = paramiko.Message()
        group.add_byte(b"\x1f")
        group.add_mpint(self.modulus)
        group.add_mpint(2)
        self.transport._send_message(group)
        self.transport._expect_packet(32)


_MODULI = {"a group below nothing": -(1 << 2047) - 1, "a group of 8192 bits": (1 << 8191) + 1}


def _send_no_group(transport: Any, mode: str) -> None:
    name = KexGexSHA256.name
    transport._preferred_kex, transport._modulus_pack = (name,), object()
    transport._kex_info = {name: type("Group", (_NoGroup,), {"modulus": _MODULI[mode]})}


def _speaking(mode: str) -> Script:
    """Speak SSH as paramiko's own server does; the mode decides what a command's output is."""

    def script(sock: socket.socket, over: threading.Event) -> None:
        transport = paramiko.Transport(sock)
        transport.add_server_key(_KEY)
        # New keys while it answers: the server itself waits for them, by default for twice a test's patience.
        transport.clear_to_send_timeout = 2.0
        door = _Door(over, mode)
        if mode in _MODULI:
            _send_no_group(transport, mode)
        door.say = transport._send_message
        threads: list[threading.Thread] = []
        try:
            transport.start_server(server=door)
            while transport.is_active() and not over.is_set():
                if mode == "new keys without end" and transport.is_authenticated():
                    transport.renegotiate_keys()
                door.wake.wait(0.1 if mode != "new keys without end" else 0.001)
                while door.started:
                    threads.append(threading.Thread(target=_write, args=(*door.started.pop(0), mode, over)))
                    threads[-1].start()
        except (paramiko.SSHException, EOFError, OSError):
            return
        finally:
            transport.close()
            transport.join(5)
            for thread in threads:
                thread.join(5)

    return script


EMPTY_LINES = 10_000_000


def _write(channel: paramiko.Channel, command: bytes, mode: str, over: threading.Event) -> None:
    with contextlib.suppress(OSError, EOFError, paramiko.SSHException):
        if mode == "ten million lines":
            for _ in range(EMPTY_LINES // 31_250):
                channel.sendall(b"\n" * 31_250)
            channel.send_exit_status(0)
            channel.close()
        while mode == "lines without end" and not over.is_set():
            channel.sendall(b"\n" * 31_250)
        if mode == "counters that it makes up":
            _make_up(channel, streams=b"diskstats" in command, over=over)
        if mode == "honest":
            channel.sendall(b"hello\n")
            channel.send_exit_status(0)
            channel.close()
        while mode == "output without newline" and not over.is_set():
            channel.sendall(b"x" * 32_000)
        while mode == "beyond the window" and not over.is_set():
            channel.out_window_size = 1 << 30
            channel.sendall(b"x" * 32_000)


def _make_up(channel: paramiko.Channel, *, streams: bool, over: threading.Event) -> None:
    """Write what no host has: escapes for whatever is asked once, new devices and odd numbers each second."""
    second = 0
    while streams and not over.wait(0.5):
        second += 1
        disks = b";".join(b"8 0 x%d_%d " % (second, at) + b"1 " * 11 for at in range(300))
        odd = (b"4321 S", "² S".encode(), b"9" * 5000 + b" S", b"- -")[second % 4]
        net = b";<b>e%d\x1b[2J:1 1 1 1 1 1 1 1 1 1 1 1" % second
        line = b"t %d.5;@disk;%s;@mem;MemTotal: nan kB;@load;inf 1e999 0 1/2 3;@net%s;@proc;%s;@fs;8:0 %s 1 1"
        channel.sendall(line % (time.time(), disks, net, odd, b"9" * 30) + b"\n")
    channel.sendall(b"\x1b[2J<img src='file:///etc/passwd'>\x9b31m\n" * 5)
    channel.send_exit_status(0)
    channel.close()


_KEY = paramiko.ECDSAKey.generate()

MODES: dict[str, Script] = {
    "silent": _raw(b""),
    "closes at once": _raw(b"", ""),
    "a line without end": _raw(b"x" * 65536, "again"),
    "greetings without end": _raw(b"welcome\r\n" * 5000, "again"),
    "a byte at a time": _raw(HELLO, "slowly"),
    "another protocol": _raw(b"HTTP/1.1 400 Bad Request\r\n\r\n", ""),
    "no text": _raw(b"\xff\xfe\x00\n" * 200, ""),
    "an old version": _raw(b"SSH-1.5-x\r\n", ""),
    "greets and stays silent": _greeted(b""),
    "packets of 4 GB": _greeted(b"\xff\xff\xff\xf4" + b"\x00" * 65536, "again"),
    "packets without length": _greeted(b"\0" * 4096, "again"),
    "packets to ignore": _greeted(packet(b"\x02" + b"\0\0\x7f\x00" + b"x" * 0x7F00), "again"),
    "a key exchange of noise": _greeted(packet(b"\x14" + bytes(range(200)))),
    "an empty key exchange": _greeted(packet(b"\x14" + b"\0" * 61)),
    "an unknown message": _greeted(packet(b"\xfa") * 3),
    "an empty packet": _greeted(packet(b"")),
    "a key exchange a byte at a time": _greeted(packet(b"\x14" + b"\0" * 61), "slowly"),
    "counts extensions it does not send": _speaking("counts extensions it does not send"),
    "counts questions it does not ask": _speaking("counts questions it does not ask"),
    "a group below nothing": _speaking("a group below nothing"),
    "a group of 8192 bits": _speaking("a group of 8192 bits"),
    "new keys without end": _speaking("new keys without end"),
    "login without end": _speaking("login without end"),
    "opens no channel": _speaking("opens no channel"),
    "output without newline": _speaking("output without newline"),
    "beyond the window": _speaking("beyond the window"),
    "never ends a command": _speaking("never ends a command"),
    "lines without end": _speaking("lines without end"),
}
HONEST = _speaking("honest")
LIARS: dict[str, Script] = {mode: _speaking(mode) for mode in ("ten million lines", "counters that it makes up")}
"""They end what they are asked, so that it is read."""


def hostile_ssh(mode: str) -> Listener:
    """Start a server that behaves so."""
    return Listener({**MODES, **LIARS, "honest": HONEST}[mode])


def known_as(port: int) -> str:
    """Return the line of known_hosts for a server of this file."""
    return f"[127.0.0.1]:{port} {_KEY.get_name()} {_KEY.get_base64()}\n"
