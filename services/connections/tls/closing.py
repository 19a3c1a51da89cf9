"""A TLS socket that is closed where its peer is gone before the handshake begins."""

from __future__ import annotations

import errno
import os
import ssl
from typing import Any


class ClosingTlsSocket(ssl.SSLSocket):
    """What a context of ours makes of a socket: `SSLContext.sslsocket_class` (docs.python.org/3/library/ssl.html).

    wrap_socket takes the socket out of the caller's hands, then asks whom it is connected to. A peer that has reset the
    connection by then (a server killed between its greeting and the handshake) makes it raise out of there, and the new
    socket is left open until the garbage collector comes by: nobody else holds it.
    """

    def getpeername(self) -> Any:
        """Return the peer's address; where there is none any more, close and say that the connection was reset."""
        try:
            return super().getpeername()
        except OSError as problem:
            if problem.errno != errno.ENOTCONN:
                raise
            self.close()
            raise ConnectionResetError(errno.ECONNRESET, os.strerror(errno.ECONNRESET)) from problem
