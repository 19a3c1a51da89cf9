"""How to log in: to a host over SSH, and to a server of any kind. Frozen values; what kind has which is kinds.py's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from services.i18n import tr
from services.secrets import SecretRef

Tls = Literal["off", "required", "verify", "verify-ca", "verify-identity"]
"""How a server's TLS is judged: resources/docs/inventory.md, "TLS"."""
Fault = tuple[str, str]
"""The key that is at fault, and the sentence about it."""


@dataclass(frozen=True, slots=True)
class SshAccess:
    """How to log in over SSH. `key`, `known_hosts`, `config`, `certificate` are paths; None means OpenSSH's default.

    `config` "" means that no ssh_config is read at all; `port` None leaves the port to ssh_config, 22 otherwise.
    """

    user: str
    port: int | None = None
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

    def contradictions(self, called: str) -> Iterator[Fault]:
        """Yield what the fields of this kind's login say that can't be, though each is fine alone.

        Args:
            called: what the server is called in the sentences.
        """
        del called
        return iter(())


@dataclass(frozen=True, slots=True)
class MongoAccess(SqlAccess):
    """How to log in to a MongoDB server: what SQL's ways have (a heartbeat table apart), and what its login has beside.

    `user` '' logs nobody in: a server without access control. `source`: the database that has the account;
    `mechanism`: SCRAM, or the client certificate of the TLS (X.509).
    """

    user: str = ""
    port: int = 27017
    source: str = "admin"
    mechanism: Literal["scram", "x509"] = "scram"

    def contradictions(self, called: str) -> Iterator[Fault]:
        """See SqlAccess."""
        if self.password is not None and not self.user:
            yield "password", f'{called}: "password" needs its "user".'
        if self.mechanism == "x509" and not self.cert:
            yield "mechanism", f'{called}: mechanism = "x509" needs "cert".'
        if self.mechanism == "x509" and (self.tls == "off" or self.via == "socket"):
            yield "mechanism", tr("{called}: a login by certificate needs TLS.", called=called)
