"""What a host may carry that is watched: each kind of server, by its word in the inventory.

An entry says what a kind is to people and to the inventory. How such a server is asked, watched and gathered is said in
one table of each layer above, under the same word (decision 0066; adding.md, "A kind of server").
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import fields as fields_of

from services.i18n import mark
from services.inventory.access import MongoAccess, SqlAccess


@dataclass(frozen=True, slots=True)
class InstanceKind:
    """One kind.

    Attributes:
        name: what people call it; port: where it listens unless told; read: this program reads it.
        way: the table that gives the way into it: [host.WAY] of a host's first server, [defaults.WAY].
        many: several of it on one host are usual, each known by its port; else a host's name means its only one.
        speaks: what it is asked over, for sentences.
        access: what its account is written in. without: fields of that which such a server does not have.
        needs_user: nobody is let in without an account.
        names_socket: its Unix socket has its port in its name, so nobody has to write down where it is.
    """

    code: str
    name: str
    port: int
    read: bool
    way: str = "sql"
    many: bool = False
    speaks: str = "SQL"
    access: type[SqlAccess] = SqlAccess
    without: frozenset[str] = frozenset()
    needs_user: bool = True
    names_socket: bool = False

    @property
    def fields(self) -> tuple[str, ...]:
        """Return what may stand in its table, in the order in which it is written."""
        return tuple(field.name for field in fields_of(self.access) if field.name not in self.without)


MYSQL = InstanceKind("mysql", mark("MySQL or MariaDB"), 3306, read=True)
PROXYSQL = InstanceKind("proxysql", "ProxySQL", 6032, read=False)
"""Its admin interface (ProxySQL documentation, "Global variables", admin-mysql_ifaces: 0.0.0.0:6032)."""
MONGODB = InstanceKind(
    "mongodb",
    "MongoDB",
    MongoAccess().port,
    read=True,
    way="mongodb",
    many=True,
    speaks="MongoDB",
    access=MongoAccess,
    without=frozenset({"heartbeat_table"}),
    needs_user=False,
    names_socket=True,
)
"""A mongod or a mongos. Config servers and shards have other ports of their own (MongoDB manual, "Default Ports")."""

KINDS: Mapping[str, InstanceKind] = {kind.code: kind for kind in (MYSQL, PROXYSQL, MONGODB)}
FIRST: Mapping[str, InstanceKind] = {kind.way: kind for kind in KINDS.values() if kind.read}
"""The table of a host that gives the way into its first server -> the kind of that server; it has one at most."""
