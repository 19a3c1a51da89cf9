"""What a person wrote down of the estate: hosts, the ways to reach them, where their secrets live. Frozen values."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from services.addresses import is_address
from services.errors import BadInput
from services.secrets import SecretRef
from services.words import tr

Tls = Literal["off", "required", "verify", "verify-ca", "verify-identity"]
"""How a server's TLS is judged: resources/docs/inventory.md, "TLS"."""


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
    tls: Tls = "verify"
    ca: str | None = None
    cert: str | None = None
    key: str | None = None
    heartbeat_table: str | None = None
    operator_user: str | None = None
    operator_password: SecretRef | None = None


@dataclass(frozen=True, slots=True)
class HostEntry:
    """One host: the name a person uses, its address, and its ways in (either may be missing).

    `ways_of`: the inventory host whose ways in these are, '' for a host that a person wrote down.
    """

    name: str
    address: str
    ssh: SshAccess | None = None
    sql: SqlAccess | None = None
    ways_of: str = ""

    def for_member(self, name: str, address: str) -> HostEntry:
        """Return the entry of a discovered member: this host's ways in for reading, at another address.

        The account for changes stays behind: it goes to hosts that a person wrote down. Whether the address may be
        asked at all is not judged here (services/inventory/trust.py).

        Raises:
            BadInput: the address is none (services/addresses.py); a server or a file says it, so nobody is asked there.
        """
        if not is_address(address):
            raise BadInput(tr("{name} is named at '{address}', which is no address.", name=name, address=address))
        sql = self.sql and replace(self.sql, operator_user=None, operator_password=None)
        return replace(self, name=name, address=address, sql=sql, ways_of=self.ways_of or self.name)


@dataclass(frozen=True, slots=True)
class ClusterEntry:
    """A cluster by the name a person gave it; `expected` is how many nodes it should have.

    `networks`: networks and addresses whose hosts may be asked with the account of a seed, once somebody names them.
    """

    name: str
    seeds: tuple[str, ...] = ()
    expected: int | None = None
    networks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Inventory:
    """The whole file. `also`: what this run may ask besides (--also), as in `ClusterEntry.networks`; never written."""

    version: int = 1
    path: str = ""
    hosts: tuple[HostEntry, ...] = ()
    clusters: tuple[ClusterEntry, ...] = ()
    also: tuple[str, ...] = ()

    def host(self, name: str) -> HostEntry | None:
        """Return the host of that name, or None."""
        return next((h for h in self.hosts if h.name == name), None)
