"""The two database servers of the lab, and what differs in how a host is asked for its own."""

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

MYSQL_RELEASE = "sid"
"""No stable release of Debian has the package mysql-server."""


def engine_of(release: str) -> Engine:
    """The server in the image of this release."""
    return MYSQL if release == MYSQL_RELEASE else MARIADB
