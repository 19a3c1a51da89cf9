"""What the test of a connection says of a server, of whatever kind: who opens it, and the steps that all kinds have."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from services.connections.tls.policy import Proof, Road
from services.i18n import tr

if TYPE_CHECKING:
    from services.connections.limits import Limits
    from services.connections.ssh.connection import SshLink
    from services.inventory.model import HostEntry
    from services.secrets import Vault

StepState = Literal["passed", "failed", "skipped", "warned"]


class Told(NamedTuple):
    """A step's name (steps.TITLES), its state and its sentence."""

    name: str
    state: StepState
    sentence: str


class Opened(Protocol):
    """A server that let us in."""

    def told(self) -> Iterator[Told]:
        """Yield what is found, step by step. A UserError ends it, and is the answer to what the account may read."""

    def close(self) -> None:
        """Close the connection."""


OpenServer = Callable[["HostEntry", "Vault", "Callable[[], SshLink] | None", "Limits"], Opened]
"""Connects and logs in once. Raises UserError subclasses."""


def rights_told(user: str, missing: list[str]) -> Told:
    """Return the step about what the account may read."""
    if missing:
        return Told("rights", "warned", tr("{user} may not read {missing}.", user=user, missing="; ".join(missing)))
    return Told("rights", "passed", tr("{user} may read everything the console shows.", user=user))


def tls_told(proof: Proof, cipher: str, road: Road, *, named: bool) -> tuple[StepState, str]:
    """Return the state and the sentence of the TLS step: 'passed' is only said of what was verified.

    Args:
        proof: what says that this is the server (tls.Trust); cipher: '' without TLS; named: its name was checked too.
    """
    if proof == "ca":
        how = tr("its name and certificate") if named else tr("its certificate")
        return "passed", tr("Encrypted with {cipher}; {how} verified by CA.", cipher=cipher, how=how)
    if proof == "pin":
        return "passed", tr("Encrypted with {cipher}; verified by the accepted certificate.", cipher=cipher)
    if proof == "socket":
        return "skipped", tr("Not needed: the connection uses the server's own socket.")
    if proof == "host" and road == "tunnel":
        return "passed", tr(
            "Through SSH: encrypted, and the host is verified by its key. The password is never sent, only proven."
        )
    if proof == "host":
        return "warned", tr(
            "Other users can create files in the socket's folder, so the server's identity cannot be verified. "
            "The password is never sent, only proven."
        )
    if cipher:
        sentence = tr(
            "Encrypted with {cipher}, but the server's identity is not verified. The password is never sent, "
            "only proven.",
            cipher=cipher,
        )
        return "warned", sentence
    return "warned", tr("Not encrypted: results can be read in transit; the password is never sent, only proven.")
