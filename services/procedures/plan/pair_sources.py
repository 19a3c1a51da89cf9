"""Where a CA certificate, a certificate and its key come from when a step puts them on a host (`PutPair`)."""

from __future__ import annotations

from dataclasses import dataclass

from services.connections.command import MASK


@dataclass(frozen=True, slots=True)
class MadePair:
    """A CA and a pair that are made in memory when the step acts: a certificate for all nodes, and its key.

    Attributes:
        name: begins the common names; days: how long both are valid.
    """

    name: str
    days: int

    def origins(self, paths: tuple[str, str, str]) -> tuple[str, str, str]:
        """Return where CA, certificate and key come from that are put at these paths."""
        del paths
        return (
            f"made in memory: {self.name} CA, valid for {self.days} days; its key is dropped",
            f"made in memory: {self.name} server, signed by that CA, one for all nodes",
            MASK,
        )


@dataclass(frozen=True, slots=True)
class LocalPair:
    """Files of the workstation, read when the step acts: CA certificates, certificate, key."""

    ca: str
    cert: str
    key: str

    def origins(self, paths: tuple[str, str, str]) -> tuple[str, str, str]:
        """Return where CA, certificate and key come from that are put at these paths."""
        del paths
        own = "from this workstation's"
        return (f"{own} {self.ca}", f"{own} {self.cert}", f"{own} {self.key}")


@dataclass(frozen=True, slots=True)
class HostPair:
    """The same three files of another host, where an earlier step has put them."""

    host: str

    def origins(self, paths: tuple[str, str, str]) -> tuple[str, str, str]:
        """Return where CA, certificate and key come from that are put at these paths."""
        ca, cert, key = paths
        return (f"copied from {self.host}:{ca}", f"copied from {self.host}:{cert}", f"copied from {self.host}:{key}")
