"""What a person wrote down of the estate: hosts, the ways to reach them, where their secrets live. Frozen values."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from services.addresses import is_address
from services.errors import BadInput
from services.secrets import SecretRef
from services.words import tr


@dataclass(frozen=True, slots=True)
class SshAccess:
    """How to log in over SSH. `key`, `known_hosts`, `config`, `certificate` are paths; None means OpenSSH's default.

    `config` "" means that no ssh_config is read at all.
    """

    user: str
    port: int = 22
    key: str | None = None
    passphrase: SecretRef | None = None
    password: SecretRef | None = None
    sudo: Literal["none", "nopasswd", "password"] = "none"
    sudo_password: SecretRef | None = None
    known_hosts: str | None = None
    jump: str | None = None
    config: str | None = None
    agent: bool = True
    certificate: str | None = None


@dataclass(frozen=True, slots=True)
class SqlAccess:
    """How to log in over SQL: directly, through the SSH tunnel, or to the server's Unix socket over SSH.

    `operator_user`, `operator_password`: the account of procedures that change the server, over the same way in;
    None means the observer's own, else the server's root over its Unix socket (sudo on the host).
    """

    user: str
    password: SecretRef | None = None
    port: int = 3306
    via: Literal["direct", "tunnel", "socket"] = "direct"
    socket: str | None = None
    tls: Literal["off", "prefer", "verify-ca", "verify-identity"] = "prefer"
    ca: str | None = None
    cert: str | None = None
    key: str | None = None
    heartbeat_table: str | None = None
    operator_user: str | None = None
    operator_password: SecretRef | None = None


@dataclass(frozen=True, slots=True)
class HostEntry:
    """One host: the name a person uses, its address, and its ways in (either may be missing)."""

    name: str
    address: str
    ssh: SshAccess | None = None
    sql: SqlAccess | None = None

    def for_member(self, name: str, address: str) -> HostEntry:
        """Return the entry of a discovered member: this host's ways in, at another address.

        Raises:
            BadInput: the address is none (services/addresses.py); a server or a file says it, so nobody is asked there.
        """
        if not is_address(address):
            raise BadInput(tr("{name} is named at '{address}', which is no address.", name=name, address=address))
        return replace(self, name=name, address=address)


@dataclass(frozen=True, slots=True)
class ClusterEntry:
    """A cluster by the name a person gave it; `expected` is how many nodes it should have."""

    name: str
    seeds: tuple[str, ...] = ()
    expected: int | None = None


@dataclass(frozen=True, slots=True)
class Inventory:
    """The whole file."""

    version: int = 1
    path: str = ""
    hosts: tuple[HostEntry, ...] = ()
    clusters: tuple[ClusterEntry, ...] = ()

    def host(self, name: str) -> HostEntry | None:
        """Return the host of that name, or None."""
        return next((h for h in self.hosts if h.name == name), None)
