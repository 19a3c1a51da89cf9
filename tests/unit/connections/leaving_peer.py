"""A database server on loopback, TLS included, that leaves at a moment of the login and in a way that a test names."""

from __future__ import annotations

import datetime as dt
import socket
import ssl
import struct
import threading
import time
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.unit.connections import packets as p

MOMENTS = (
    "connected",
    "greeted",
    "asked for TLS",
    "in the handshake",
    "handshake done",
    "logging in",
    "refusing",
    "another plugin",
    "set up",
    "refusing the set-up",
    "asked",
)
WAYS = ("close", "reset", "nonsense")
_OK = b"\x00\x00\x00\x02\x00\x00\x00"
_FLAGS = 0x00080000 | 0x00008000 | 0x00000200 | 0x00200000 | 0x00000800  # as a server that offers TLS


def certificate(folder: Path) -> tuple[Path, Path]:
    """Write a self-made certificate for localhost; return (certificate, key) as PEM files."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(7)
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    cert_file, key_file = folder / "cert.pem", folder / "key.pem"
    cert_file.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    key_file.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return cert_file, key_file


class LeavingPeer:
    """Takes one connection, plays a login up to `moment`, and leaves there: `close`, `reset`, `nonsense` or `silence`.

    Attributes:
        port: where it listens; there: set when the moment has come; sockets: its own ends.
    """

    def __init__(self, files: tuple[Path, Path], moment: str, way: str) -> None:
        self._moment, self._way = moment, way
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(*files)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.sockets: list[socket.socket] = [self._listener]
        self.there = threading.Event()
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._work, name="leaving-peer")
        self._thread.start()

    def close(self) -> None:
        """End the thread and its sockets."""
        self._end.set()
        self._thread.join(10)
        self._listener.close()

    def _work(self) -> None:
        self._listener.settimeout(5)
        try:
            self._sock, _ = self._listener.accept()
        except OSError:
            return
        self.sockets.append(self._sock)
        self._sock.settimeout(5)
        try:
            self._play()
        except (OSError, _Left):
            pass
        finally:
            self._sock.close()

    def _play(self) -> None:
        self._leave("connected")
        flags = (struct.pack("<H", _FLAGS & 0xFFFF), struct.pack("<H", _FLAGS >> 16))
        salt = b"abcdefghijklmnopqrst"
        head = (
            b"\x0a10.11.6-MariaDB\0" + struct.pack("<I", 7) + salt[:8] + b"\0" + flags[0] + b"\x2d\x02\x00" + flags[1]
        )
        self._send(head + bytes([21]) + b"\0" * 10 + salt[8:] + b"\0mysql_native_password\0", 0)
        self._leave("greeted")
        self._read()
        self._leave("asked for TLS")
        if self._moment == "in the handshake":
            self._sock.recv(5)
        self._leave("in the handshake")
        self._sock = self._context.wrap_socket(self._sock, server_side=True)
        self.sockets.append(self._sock)
        self._leave("handshake done")
        self._read()
        self._leave("logging in")
        if self._moment == "refusing":
            self._send(p.error(1045, "Access denied")[4:], 3)
        if self._moment == "another plugin":
            self._send(b"\xfeno_such_plugin\0abc\0", 3)
        self._leave("refusing")
        self._leave("another plugin")
        self._send(_OK, 3)
        while command := self._read():
            self._leave("set up")
            if self._moment == "asked" and b"GLOBAL STATUS" in command:
                self._leave("asked")
            elif self._moment == "refusing the set-up" and b"READ ONLY" in command:
                self._send(p.error(1105, "Unknown error")[4:], 1)
            else:
                self._send(_OK, 1)

    def _leave(self, moment: str) -> None:
        if moment != self._moment:
            return
        self.there.set()
        if self._way == "silence":
            self._end.wait(10)
        elif self._way == "nonsense":
            self._sock.sendall(b"\xff\x00" * 40)
        elif self._way == "reset":
            self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        raise _Left

    def _send(self, payload: bytes, sequence: int) -> None:
        self._sock.sendall(p.packets([payload], sequence))

    def _read(self) -> bytes:
        head = self._exactly(4)
        return self._exactly(int.from_bytes(head[:3], "little")) if head else b""

    def _exactly(self, size: int) -> bytes:
        found = b""
        while len(found) < size:
            part = self._sock.recv(size - len(found))
            if not part:
                return b""
            found += part
        return found


class _Left(Exception):  # noqa: N818 - it says what happened
    """The peer is gone."""


def reset_by_peer() -> socket.socket:
    """Return a socket whose peer has reset the connection, once that is known on this side."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        ours = socket.create_connection(listener.getsockname())
        theirs, _ = listener.accept()
        theirs.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        theirs.close()
    until = time.monotonic() + 5
    while time.monotonic() < until:
        try:
            ours.getpeername()
        except OSError:
            return ours
        time.sleep(0.005)
    raise AssertionError("the reset never came")
