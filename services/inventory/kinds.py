"""What a host may carry that is watched: each kind of server by its word in the inventory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from services.i18n import mark


@dataclass(frozen=True, slots=True)
class InstanceKind:
    """One kind.

    Attributes:
        name: what people call it; port: where it listens unless told; read: this program reads it.
        way: the table that gives the way into it: [host.WAY] of a host's first server, [defaults.WAY].
        speaks: what it is asked over, for sentences.
        many: several of it on one host are usual, each known by its port; else a host's name means its only one.
    """

    code: str
    name: str
    port: int
    read: bool
    way: str = "sql"
    many: bool = False
    speaks: str = "SQL"


MYSQL = InstanceKind("mysql", mark("MySQL or MariaDB"), 3306, read=True)
PROXYSQL = InstanceKind("proxysql", "ProxySQL", 6032, read=False)
"""Its admin interface (ProxySQL documentation, "Global variables", admin-mysql_ifaces: 0.0.0.0:6032)."""
MONGODB = InstanceKind("mongodb", "MongoDB", 27017, read=True, way="mongodb", many=True, speaks="MongoDB")
"""A mongod or a mongos. Config servers and shards have other ports of their own (MongoDB manual, "Default Ports")."""

KINDS: Mapping[str, InstanceKind] = {kind.code: kind for kind in (MYSQL, PROXYSQL, MONGODB)}
