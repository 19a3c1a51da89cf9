"""TLS put over a metered socket or channel, and the peer's certificate held against the accepted ones."""

from __future__ import annotations

import socket
from typing import Any

from services.connections.budget import Metered
from services.connections.dial import hang_up
from services.connections.tls.known_certificates import fingerprint
from services.connections.tls.policy import TlsOverChannel, Trust, WrongCertificate


class Seen(Exception):  # noqa: N818 - it says what happened
    """The peer's certificate (DER), looked at; the connection is closed."""

    def __init__(self, certificate: bytes) -> None:
        super().__init__()
        self.certificate = certificate


class Wrapping:
    """The shared context; wraps real sockets as ssl does, and channels with TlsOverChannel.

    looks: only the certificate is wanted, whatever it is.
    """

    def __init__(self, trust: Trust, *, looks: bool) -> None:
        self._trust = trust
        self._looks = looks

    def wrap_socket(self, sock: Metered, server_hostname: str) -> Metered | TlsOverChannel:
        """Speak TLS over `sock`; the login's clock and purse go on.

        A certificate that is not the accepted one ends it before anything is sent. Raises WrongCertificate, Seen.
        """
        context = self._trust.context
        assert context is not None
        made: Metered | TlsOverChannel
        tls: Any
        if isinstance(sock.below, socket.socket):
            sock.below.settimeout(sock.left_s())
            sock.below = tls = context.wrap_socket(sock.below, server_hostname=server_hostname)
            made = sock
        else:
            made = TlsOverChannel(sock, context, server_hostname)
            tls = made.tls
        if self._looks or self._trust.proof == "pin":
            certificate = tls.getpeercert(True) or b""
            if self._looks:
                hang_up(made)
                raise Seen(certificate)
            if (shown := fingerprint(certificate)) not in self._trust.pins:
                hang_up(made)
                raise WrongCertificate(shown)
        return made
