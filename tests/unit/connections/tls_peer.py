"""A peer that speaks MySQL's handshake over real TLS and asks for the password in any way; what it gets, it keeps."""

from __future__ import annotations

import datetime as dt
import hashlib
import ipaddress
import os
import socket
import ssl
import struct
import threading
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from cryptography.x509.oid import NameOID

from tests.unit.connections import packets as p

SALT = b"abcdefghijklmnopqrst"
_OK = b"\x00\x00\x00\x02\x00\x00\x00"
_SSL, _FLAGS = 0x00000800, 0x00080000 | 0x00008000 | 0x00000200 | 0x00200000  # PLUGIN_AUTH, SECURE, 4.1, lenenc
_RSA = rsa.generate_private_key(public_exponent=65537, key_size=2048)
_PUBLIC = _RSA.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


@dataclass(frozen=True)
class Issued:
    """A certificate: its file (PEM, key in it) and its SHA-256 fingerprint as openssl prints it."""

    file: Path
    fingerprint: str


class Authority:
    """A CA, and the certificates it signs; `file` is what `ca` names."""

    def __init__(self, folder: Path, name: str = "test CA") -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        signed = _builder(self._name, self._name, self._key).add_extension(
            x509.BasicConstraints(ca=True, path_length=None), critical=True
        )
        self.file = folder / f"{name}.pem"
        self.file.write_bytes(signed.sign(self._key, hashes.SHA256()).public_bytes(Encoding.PEM))

    def issue(self, name: str, *addresses: str, of_rsa: bool = False) -> Issued:
        """A server certificate for these IP addresses, and for `name`."""
        key = _RSA if of_rsa else ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        names = [x509.DNSName(name), *(x509.IPAddress(ipaddress.ip_address(a)) for a in addresses)]
        made = _builder(subject, self._name, key).add_extension(x509.SubjectAlternativeName(names), critical=False)
        signed = made.sign(self._key, hashes.SHA256())
        file = self._folder / f"{name}-{os.urandom(4).hex()}.pem"
        private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        file.write_bytes(private + signed.public_bytes(Encoding.PEM))
        digest = hashlib.sha256(signed.public_bytes(Encoding.DER)).digest()
        return Issued(file, ":".join(f"{byte:02X}" for byte in digest))


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey
) -> x509.CertificateBuilder:
    now = dt.datetime.now(dt.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
    )


class TlsPeer:
    """Takes connections one after the other.

    Args:
        certificate: None offers no TLS. greets, asks: the plugin of its greeting, and of its auth switch ('' for none).
        fast: it says that it remembers the account's caching_sha2 password.
    """

    def __init__(
        self,
        certificate: Issued | None,
        *,
        greets: str = "mysql_native_password",
        asks: str = "",
        fast: bool = False,
        version: str = "8.4.0",
    ) -> None:
        self.certificate = certificate
        self.greets, self.asks, self.fast, self.version = greets, asks, fast, version
        self.received: list[bytes] = []
        self.encrypted = False
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(0.1)
        self.port: int = self._listener.getsockname()[1]
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._work)
        self._thread.start()

    def close(self) -> None:
        """End the thread."""
        self._ends.set()
        self._thread.join(10)
        self._listener.close()

    def learnt(self, password: bytes) -> bool:
        """Return whether it has the password now: as it is, or under the key that it sent itself."""
        return any(password in packet or password in _opened(packet) for packet in self.received)

    # ------------------------------------------------------------------------------------------------------------
    def _work(self) -> None:
        while not self._ends.is_set():
            try:
                sock, _ = self._listener.accept()
            except TimeoutError:
                continue
            sock.settimeout(5)
            self._sock: socket.socket = sock
            try:
                self._talk()
            except (OSError, ssl.SSLError, EOFError):
                pass
            finally:
                self._sock.close()
                sock.close()

    def _talk(self) -> None:
        self._sock.sendall(p.packets([self._greeting()], 0))
        answer = self._read()
        if self.certificate is not None and len(answer) == 32 and answer[1] & (_SSL >> 8):
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(self.certificate.file)
            self._sock = context.wrap_socket(self._sock, server_side=True)
            self.encrypted = True
            self._read()
        if self.asks:
            self._send(
                b"\xfe" + self.asks.encode() + b"\0" + (b"\x02Password: " if self.asks == "dialog" else SALT + b"\0")
            )
            self._hear(self._read())
        elif self.greets.startswith("caching"):
            self._hear(b"")
        self._send(_OK)
        while self._read():
            self._send(_OK)

    def _hear(self, answer: bytes) -> None:
        """Go on with one of the two sha plugins until there is nothing more to be had."""
        if (self.asks or self.greets).startswith("caching"):
            if self.fast:
                self._send(b"\x01\x03")
                return
            self._send(b"\x01\x04")
            answer = self._read()
        if answer in {b"\x01", b"\x02"}:
            self._send(b"\x01" + _PUBLIC)
            self._read()

    def _greeting(self) -> bytes:
        flags = _FLAGS | (_SSL if self.certificate is not None else 0)
        return b"".join(
            (
                b"\x0a", self.version.encode(), b"\0", struct.pack("<I", 7), SALT[:8], b"\0",
                struct.pack("<H", flags & 0xFFFF), b"\x2d\x02\x00", struct.pack("<H", flags >> 16), bytes([21]),
                b"\0" * 10, SALT[8:], b"\0", self.greets.encode(), b"\0",
            )
        )  # fmt: skip

    def _send(self, payload: bytes) -> None:
        self._sock.sendall(p.packets([payload], self._next))
        self._next += 1

    def _read(self) -> bytes:
        head = self._exactly(4)
        self._next = (head[3] + 1) % 256
        self.received.append(self._exactly(int.from_bytes(head[:3], "little")))
        return self.received[-1]

    def _exactly(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            more = self._sock.recv(size - len(data))
            if not more:
                raise EOFError
            data += more
        return data


def _opened(packet: bytes) -> bytes:
    """What an RSA-encrypted password is to whoever sent the key (sha256_password, caching_sha2_password)."""
    try:
        plain = _RSA.decrypt(packet, padding.OAEP(padding.MGF1(hashes.SHA1()), hashes.SHA1(), None))
    except ValueError:
        return b""
    return bytes(byte ^ SALT[i % len(SALT)] for i, byte in enumerate(plain))
