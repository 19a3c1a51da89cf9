"""What a person wrote down of the estate: hosts, the ways to reach them, where their secrets live. Frozen values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from services.addresses import is_address
from services.errors import BadInput
from services.i18n import tr
from services.inventory.access import MongoAccess, SqlAccess, SshAccess, Tls
from services.inventory.kinds import KINDS, MYSQL, InstanceKind

__all__ = [
    "ClusterEntry",
    "HostEntry",
    "Instance",
    "Inventory",
    "MongoAccess",
    "SqlAccess",
    "SshAccess",
    "Tls",
    "with_instances",
]


@dataclass(frozen=True, slots=True)
class Instance:
    """One thing on a host that is watched: a server of some kind on a port.

    Attributes:
        host: the inventory's name of the host that carries it; kind: its word in `kinds.KINDS`.
        access: how to log in; None where it is only named.
    """

    host: str
    kind: str
    port: int
    access: SqlAccess | None = None

    @property
    def key(self) -> str:
        """Return what it is called everywhere: the host's name and the port. (The host's first server: the name.)"""
        return f"{self.host}:{self.port}"

    @property
    def what(self) -> InstanceKind:
        """Return its kind."""
        return KINDS[self.kind]


@dataclass(frozen=True, slots=True)
class HostEntry:
    """One host: the name a person uses, its address, its ways in (either may be missing), and what else it carries.

    Attributes:
        sql: the way into its first server, which is called as the host is; in what its kind writes an account.
        beside: the other instances on it, each called by `Instance.key`.
        ways_of: the inventory's key of the host or instance whose ways in these are, '' for what a person wrote down.
        on: the host on which this instance stands beside the first one; '' for a host. Its machine is that host's.
        kind: of the server behind `sql`.
    """

    name: str
    address: str
    ssh: SshAccess | None = None
    sql: SqlAccess | None = None
    ways_of: str = ""
    beside: tuple[Instance, ...] = ()
    on: str = ""
    kind: str = MYSQL.code

    @property
    def what(self) -> InstanceKind:
        """Return the kind of the server behind `sql`."""
        return KINDS[self.kind]

    @property
    def port(self) -> int | None:
        """Return the port by which its server is told from others of its kind on the host; None where it is not so."""
        return self.sql.port if self.sql is not None and self.what.many else None

    @property
    def asked_port(self) -> int | None:
        """Return the port of the host that leads to its SQL server, None where it is asked by its socket, or not."""
        return self.sql.port if self.sql is not None and self.sql.via != "socket" else None

    @property
    def reads_machine(self) -> bool:
        """Return whether the machine below is read by this one's watch: once a host, over its SSH way."""
        return self.ssh is not None and not self.on

    @property
    def keys(self) -> tuple[str, ...]:
        """Return what it and everything else on it are called, read or only named."""
        return (self.name, *(one.key for one in self.beside))

    @property
    def others(self) -> tuple[str, ...]:
        """Return what the other servers on it that are read are called."""
        return tuple(one.key for one in self.beside if one.what.read)

    @property
    def instances(self) -> tuple[Instance, ...]:
        """Return everything on the host that is watched, its first server first."""
        first = () if self.sql is None else (Instance(self.name, self.kind, self.sql.port, self.sql),)
        return (*first, *self.beside)

    def is_another(self, port: int) -> bool:
        """Return whether a server that answers for this one and calls `port` its own is another one of the host.

        Through a socket it is known: an instance has the port of its key, and no first server has an instance's. By TCP
        the port is dialled itself, and what the server calls it may differ (a container's, a forwarded port). 0 says
        nothing: such a server has no port (skip_networking).
        """
        if self.sql is None or self.sql.via != "socket" or not port:
            return False
        return port != self.sql.port if self.on else port in {one.port for one in self.beside if one.what.read}

    def of_instance(self, instance: Instance) -> HostEntry:
        """Return how an instance beside the first one is reached: by its own account, over the host's SSH way."""
        return replace(self, name=instance.key, sql=instance.access, beside=(), on=self.name, kind=instance.kind)

    def for_member(self, name: str, address: str, port: int | None = None) -> HostEntry:
        """Return the entry of a discovered member: this host's ways in for reading, at another address (and port).

        The account for changes stays behind: it goes to hosts that a person wrote down. Whether the address may be
        asked at all is not judged here (services/inventory/trust.py).

        Raises:
            BadInput: the address is none (services/addresses.py); a server or a file says it, so nobody is asked there.
        """
        if not is_address(address):
            raise BadInput(tr("{name} has the address '{address}', which is invalid.", name=name, address=address))
        sql = self.sql and replace(self.sql, operator_user=None, operator_password=None, port=port or self.sql.port)
        owner = self.ways_of or self.name  # an instance's own key: its account is not its host's
        return replace(self, name=name, address=address, sql=sql, ways_of=owner, beside=(), on="")


@dataclass(frozen=True, slots=True)
class ClusterEntry:
    """A cluster by the name a person gave it; `expected` is how many nodes it should have.

    `networks`: networks and addresses whose hosts may be asked with the account of a seed, once somebody names them.
    `retired`: members that left for good, by node name, address or UUID: no procedure waits for them.
    """

    name: str
    seeds: tuple[str, ...] = ()
    expected: int | None = None
    networks: tuple[str, ...] = ()
    retired: tuple[str, ...] = ()


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

    def entry(self, key: str) -> HostEntry | None:
        """Return how to reach what a key names: a host, or an instance that is read ('n1:3307'), else None."""
        return self.host(key) or next((one for one in with_instances(self.hosts) if one.name == key), None)

    def addresses(self) -> dict[str, str]:
        """Return host or instance -> the address that a person wrote."""
        return {one.name: one.address for one in with_instances(self.hosts)}


def with_instances(hosts: Sequence[HostEntry]) -> tuple[HostEntry, ...]:
    """Return the hosts, and after each of them what else on it is read, as an entry of its own."""
    return tuple(
        entry for host in hosts for entry in (host, *(host.of_instance(i) for i in host.beside if i.what.read))
    )
