"""The words every layer shares: small enumerations and names, nothing that acts."""

from __future__ import annotations

from enum import Enum
from typing import Final, Literal

from services.words import mark


class Flavour(Enum):
    """Which dialect a server speaks, found by query and never guessed from a host name."""

    MARIADB = "MariaDB"
    MYSQL = "MySQL"
    PERCONA = "Percona Server"
    PXC = "Percona XtraDB Cluster"
    CODERSHIP = "MySQL-wsrep"
    UNKNOWN = "unknown"


class ClusterKind(Enum):
    """How the nodes of a cluster are bound to one another; decides the notation of the drawing.

    UNKNOWN: hosts that a person wrote into one cluster, while no server of it tells of any replication, or one host of
    which nothing is known.
    """

    GALERA = "Galera"
    ASYNC = mark("asynchronous replication")
    SINGLE = mark("single server")
    UNKNOWN = mark("replication not known")


class Health(Enum):
    """What a state means to a person. Each has one shape, one colour token and never colour alone.

    GOOD filled circle, TRANSFER half circle, WARN triangle, BAD square with a cut, UNKNOWN dashed outline.
    """

    GOOD = "good"
    TRANSFER = "transfer"
    WARN = "warn"
    BAD = "bad"
    UNKNOWN = "unknown"

    @property
    def severity(self) -> int:
        """Order for 'the worst of': GOOD 0, TRANSFER 1, UNKNOWN 2, WARN 3, BAD 4."""
        return _SEVERITY[self]


_SEVERITY = {Health.GOOD: 0, Health.TRANSFER: 1, Health.UNKNOWN: 2, Health.WARN: 3, Health.BAD: 4}


def worst(healths: tuple[Health, ...]) -> Health:
    """Return the most severe health, UNKNOWN for an empty tuple (nothing known is never 'good')."""
    return max(healths, key=lambda h: h.severity, default=Health.UNKNOWN)


class Reach(Enum):
    """How far the console itself gets to a host, told apart because the remedies differ."""

    FULL = mark("SSH and SQL answer")
    SSH_ONLY = mark("SSH answers, SQL does not")
    SQL_ONLY = mark("SQL answers, SSH does not")
    NONE = mark("no answer")
    NOT_TRIED = mark("not contacted yet")


Lack = Literal["", "not offered", "not yet", "no way"]
"""Why nothing of a metric was sampled, '' where something was."""
NODES_LEFT_OUT = "too-many-nodes"
"""A recording holds more nodes than are drawn."""
NOT_OFFERED: Final = "not offered"
"""The server does not know such a number."""
NOT_YET: Final = "not yet"
"""It takes more samples than there are."""
NO_WAY: Final = "no way"
"""It comes over a way in that gave nothing here."""
