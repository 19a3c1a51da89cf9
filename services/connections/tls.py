"""TLS to database servers: one context per set of files for the whole process, verified for real where asked.

A context costs 17 ms of CPU and 0.9 MB (performance notes), so a hundred servers share one.
"""

from __future__ import annotations

import functools
import io
import ssl
from typing import TYPE_CHECKING, Protocol

from services.connections.dial import hang_up
from services.errors import BadInput
from services.words import tr

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from services.inventory.model import SqlAccess

_CHUNK = 65536


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


def context_for(access: SqlAccess) -> ssl.SSLContext | None:
    """Return the shared context for an SQL access, None where TLS is off.

    prefer: encrypted when the server offers it, nothing verified. verify-ca: the certificate must come from `ca` (or
    the system's authorities). verify-identity: its name or address must be the server's as well.
    """
    if access.tls == "off":
        return None
    return _context(access.tls, access.ca, access.cert, access.key)


@functools.lru_cache(maxsize=64)
def _context(mode: str, ca: str | None, cert: str | None, key: str | None) -> ssl.SSLContext:
    try:
        if mode == "prefer" and ca is None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        else:
            context = ssl.create_default_context(cafile=ca)
        # Servers' self-made authorities lack extensions that Python 3.13's strict mode wants; the chain, the dates and
        # the name are still verified.
        context.verify_flags &= ~getattr(ssl, "VERIFY_X509_STRICT", 0)
        context.check_hostname = mode == "verify-identity"
        context.verify_mode = ssl.CERT_NONE if mode == "prefer" else ssl.CERT_REQUIRED
        if cert:
            context.load_cert_chain(cert, key)
    except (OSError, ssl.SSLError) as problem:
        files = ", ".join(name for name in (ca, cert, key) if name)
        raise BadInput(
            tr("The TLS files can't be used ({problem}): {files}.", problem=problem, files=files)
        ) from problem
    return context


class _Raw(io.RawIOBase):
    """A TlsOverChannel as a raw stream."""

    def __init__(self, source: TlsOverChannel) -> None:
        self._source = source

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer, /) -> int:
        view = memoryview(buffer)
        data = self._source.recv(len(view))
        view[: len(data)] = data
        return len(data)


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
        return io.BufferedReader(_Raw(self))

    def _flush(self) -> None:
        if data := self._out.read():
            self._below.sendall(data)

    def _fill(self) -> None:
        data = self._below.recv(_CHUNK)
        if data:
            self._in.write(data)
        else:
            self._in.write_eof()
