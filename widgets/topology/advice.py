"""What a person can try for a host that does not answer, by the code of what came in the way. Pure."""

from __future__ import annotations

from services.discovery.model import NodeView
from services.errors import UNREACHED, OtherProtocol
from services.facts.model import SQL
from services.i18n import mark, tr
from services.types import Reach

_ADVICE = {
    "auth-failed": (
        mark("Check the user and password of the connection."),
        mark("A monitoring account needs only read privileges."),
    ),
    "host-key-changed": (
        mark("Verify the new key with the host's owner before you remove the old line from known_hosts."),
    ),
    "host-key-unknown": (mark("Open the connection and compare the fingerprint with the one from the host's owner."),),
    "certificate-changed": (mark("Verify the new certificate with the server's owner before you accept it."),),
    "certificate-unknown": (
        mark("Open the connection, test it, and compare the fingerprint of the server's certificate."),
    ),
    "tls-missing": (mark("Open the connection and test it: choose SSH, or an unencrypted connection."),),
    "tls-failed": (mark("Check the TLS setting of the connection, its CA and the dates of the server's certificate."),),
    "secret-missing": (mark("Store the password where its reference points, or open the connection and type it."),),
    "other-protocol": (mark("Another protocol listens there: check the port of the connection."),),
    "not-that-server": (mark("Another server of this host answers there: check the socket of the connection."),),
    "name-unknown": (mark("Check the spelling of the address, the DNS servers and whether the VPN is up."),),
    "resolver-silent": (
        mark("Check that this workstation reaches its DNS servers: the network, and whether the VPN is up."),
    ),
    "no-route": (mark("Check the network of this workstation and whether the VPN is up."),),
    "connection-refused": (
        mark("Check that it is running and listens on this port of this address, not only on 127.0.0.1."),
    ),
    "timed-out": (mark("Check that the host is up, and that no firewall drops the connection (VPN up?)."),),
}
"""What to try, by the code of a problem; the first of them that is there."""
_NOT_NOW = UNREACHED - {OtherProtocol.code}
"""Codes that say nothing to try of a host that answers: its server may just be down."""


def advice(node: NodeView) -> tuple[str, ...]:
    """Return what to try for a host that never answered: by the code of its problem, else by how far we got."""
    if known := _by_code(node):
        return known
    if node.facts is not None and SQL in node.facts.no_way:
        return (tr("Open the connection and enter an account that can read the server."),)
    if node.reach is Reach.SSH_ONLY:
        return (tr("SSH answers: check the SQL user, its password and that the server runs."),)
    return (tr("Check the address and port, the VPN, and that no firewall blocks this workstation."),)


def advice_now(node: NodeView) -> tuple[str, ...]:
    """Return what to try where something stands in the way; of a server that its host says is down there is nothing."""
    codes = {p.code for p in node.facts.problems} if node.facts is not None else set()
    if node.reach is Reach.NONE:
        return advice(node) if codes else ()
    return _by_code(node) if codes & (_ADVICE.keys() - _NOT_NOW) else ()


def _by_code(node: NodeView) -> tuple[str, ...]:
    codes = {p.code for p in node.facts.problems} if node.facts is not None else set()
    return next((tuple(map(tr, sentences)) for code, sentences in _ADVICE.items() if code in codes), ())
