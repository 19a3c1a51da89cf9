"""The database servers of the lab, and what differs in how a host is asked for its own."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Engine:
    """A server as a Debian release packages it: its process, its unit, its client and where its settings go."""

    name: str
    process: str
    unit: str
    client: str
    settings: str


MARIADB = Engine("MariaDB", "mariadbd", "mariadb", "mariadb", "etc/mysql/mariadb.conf.d/90-lab.cnf")
MYSQL = Engine("MySQL", "mysqld", "mysql", "mysql", "etc/mysql/mysql.conf.d/zz-lab.cnf")

MONGOD = Engine("MongoDB", "mongod", "mongod", "", "etc/mongod.conf")
MONGOS = Engine("MongoDB", "mongos", "mongos", "", "etc/mongos.conf")
"""No release has them: their binaries are brought (mongodb.py), and they run on the image of any release."""

MYSQL_RELEASE = "sid"
"""No stable release of Debian has the package mysql-server."""


_BY_ROLE = {
    "mongod": MONGOD, "mirror": MONGOD, "config": MONGOD, "arbiter": MONGOD, "mongo-spare": MONGOD, "mongos": MONGOS
}  # fmt: skip


def engine_of(release: str, role: str = "") -> Engine:
    """The server in the image of this release, unless the role is one of MongoDB's."""
    if role in _BY_ROLE:
        return _BY_ROLE[role]
    return MYSQL if release == MYSQL_RELEASE else MARIADB
