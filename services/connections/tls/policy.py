"""TLS to database servers: who has to prove what, and one context per set of files for the whole process.

A context costs 17 ms of CPU and 0.9 MB (performance notes), so a hundred servers share one.
"""

from __future__ import annotations

import functools
import io
import ssl
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from services.connections.dial import hang_up
from services.connections.sql.raw_stream import RawStream
from services.connections.tls.closing import ClosingTlsSocket
from services.errors import BadInput
from services.i18n import tr

if TYPE_CHECKING:
    from services.inventory.model import SqlAccess

_CHUNK = 65536
_OLD_CIPHERS = "@SECLEVEL=2:ECDH+AESGCM:ECDH+CHACHA20:ECDH+AES:DHE+AES:RSA+AESGCM:RSA+AES:!aNULL:!eNULL:!aDSS:!AESCCM"
"""Python's own list (3.10 and newer: docs.python.org/3/whatsnew/3.10.html, ssl), and behind it the key exchange by RSA
alone, without which nobody reaches a server that sets up neither DHE nor ECDHE: MongoDB up to 3.6 where it was built
with OpenSSL 1.0 (3.2 source, ssl_manager.cpp; manual, "Forward Secrecy"). One that can do better is asked for it first.
"""

Proof = Literal["ca", "pin", "socket", "host", ""]
Road = Literal["open", "tunnel", "socket"]
"""What lies between here and the server: a network, an SSH tunnel that ends on the server's own host, its Unix socket
(here or over SSH). A tunnel that goes on from the host to another address is an open road."""


class SocketLike(Protocol):
    """What a channel and a socket have in common."""

    def recv(self, size: int, /) -> bytes:
        """Return some bytes, b'' at the end."""

    def sendall(self, data: bytes, /) -> object:
        """Send all of it."""

    def settimeout(self, seconds: float | None, /) -> object:
        """Limit every single read and write."""

    def close(self) -> object:
        """Close."""


@dataclass(frozen=True, slots=True)
class Trust:
    """How one way to a server speaks TLS, and what says that its end is the server.

    Attributes:
        context: None is no TLS. required: a server that offers none is refused.
        proof: 'ca' (chain, and name unless told otherwise), 'pin' (an accepted certificate), 'socket' (the server's
            own), 'host' (SSH leads to the right machine, where any of its users may listen on a port), '' for nothing.
            With the last two no secret is sent that the peer could read.
        pins: fingerprints, one of which the certificate must have where the proof is 'pin'.
        asks: a certificate that no authority vouches for is shown to a person.
    """

    context: ssl.SSLContext | None = None
    required: bool = False
    proof: Proof = ""
    pins: tuple[str, ...] = ()
    asks: bool = False

    @property
    def verified(self) -> bool:
        """Return whether whoever gets past the handshake is the server: it may then be told the password."""
        return self.proof in {"ca", "pin", "socket"}


class WrongCertificate(Exception):  # noqa: N818 - it says what happened
    """The peer's certificate is none of the accepted ones; `fingerprint` is what it showed. Nothing was sent to it."""

    def __init__(self, fingerprint: str) -> None:
        super().__init__(fingerprint)
        self.fingerprint = fingerprint


def trust_for(
    access: SqlAccess, road: Road, pins: tuple[str, ...] = (), *, own: bool = False, old: bool = False
) -> Trust:
    """Return how an SQL access wants its server judged (resources/docs/adr/0029-verified-or-asked.md).

    Args:
        pins: fingerprints that a person accepted for this server; they count for `verify` where no `ca` is named.
        own: the road is a socket where nobody can listen but the server (socket_owner.py).
        old: a server without forward secrecy is reached too.
    """
    safe: Proof = "" if road == "open" else "socket" if own else "host"
    mode, files = access.tls, (access.ca, access.cert, access.key)
    if mode == "off" or (road == "socket" and mode in {"verify", "required"}):
        return Trust(None, proof=safe)  # servers offer no TLS on a Unix socket unless forced to
    if mode == "required":
        return Trust(_context("nothing", *files, old=old), required=True, proof=safe)
    if mode == "verify" and pins and access.ca is None:
        return Trust(_context("nothing", *files, old=old), required=True, proof="pin", pins=pins)
    if mode == "verify" and safe:
        return Trust(_context("nothing", *files, old=old), proof=safe, asks=access.ca is None)
    # An authority alone says nothing where it is anybody's (the system's): then the name must be right as well.
    checks = "chain" if mode == "verify-ca" and access.ca is not None else "name"
    return Trust(
        _context(checks, *files, old=old), required=True, proof="ca", asks=mode == "verify" and access.ca is None
    )


def unverified(*, old: bool = False) -> ssl.SSLContext:
    """Return the context that takes any certificate: to look at it, never to log in. `old` is as in trust_for."""
    return _context("nothing", None, None, None, old=old)


@functools.lru_cache(maxsize=64)
def _context(checks: str, ca: str | None, cert: str | None, key: str | None, *, old: bool) -> ssl.SSLContext:
    try:
        if checks == "nothing":
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        else:
            context = ssl.create_default_context(cafile=ca)
        # Servers' self-made authorities lack extensions that Python 3.13's strict mode wants; the chain, the dates and
        # the name are still verified.
        context.verify_flags &= ~getattr(ssl, "VERIFY_X509_STRICT", 0)
        context.sslsocket_class = ClosingTlsSocket
        if old:
            context.set_ciphers(_OLD_CIPHERS)
        context.check_hostname = checks == "name"
        context.verify_mode = ssl.CERT_NONE if checks == "nothing" else ssl.CERT_REQUIRED
        if cert:
            context.load_cert_chain(cert, key)
    except (OSError, ssl.SSLError) as problem:
        files = ", ".join(name for name in (ca, cert, key) if name)
        raise BadInput(
            tr("The TLS files cannot be used ({problem}): {files}.", problem=problem, files=files)
        ) from problem
    return context


class TlsOverChannel:
    """TLS over something that only sends and receives (an SSH channel has no file descriptor for ssl.SSLSocket)."""

    def __init__(self, below: SocketLike, context: ssl.SSLContext, server_name: str) -> None:
        self._below = below
        self._in = ssl.MemoryBIO()
        self._out = ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._in, self._out, server_hostname=server_name)
        self._shake()

    @property
    def tls(self) -> ssl.SSLObject:
        """Return the TLS state: version, cipher, certificate."""
        return self._tls

    def _shake(self) -> None:
        while True:
            try:
                self._tls.do_handshake()
            except ssl.SSLWantReadError:
                self._flush()
                self._fill()
                continue
            finally:
                self._flush()
            return

    def recv(self, size: int, /) -> bytes:
        """Return decrypted bytes, b'' at the end."""
        while True:
            try:
                return self._tls.read(size)
            except ssl.SSLWantReadError:
                self._flush()
                self._fill()
            except (ssl.SSLZeroReturnError, ssl.SSLEOFError):
                return b""

    def sendall(self, data: bytes, /) -> None:
        """Encrypt and send."""
        self._tls.write(data)
        self._flush()

    def settimeout(self, seconds: float | None, /) -> None:
        """Limit every single read and write."""
        self._below.settimeout(seconds)

    def close(self) -> None:
        """Close what is below; the server sees the end."""
        hang_up(self._below)

    def makefile(self, _mode: str = "rb") -> io.BufferedReader:
        """Return a buffered reader, as socket.makefile does."""
        return io.BufferedReader(RawStream(self))

    def _flush(self) -> None:
        if data := self._out.read():
            self._below.sendall(data)

    def _fill(self) -> None:
        data = self._below.recv(_CHUNK)
        if data:
            self._in.write(data)
        else:
            self._in.write_eof()
