"""The families that come with the program, in the order in which they are asked: adding one adds its entry here.

Their kinds are known at once, for a snapshot that is read from a file names them. What judges is loaded when first
asked, which is when a server of the family was first heard: a recording is drawn without it, sixty modules would hold
up its first picture, and an estate pays for no family that it has not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.discovery.families.families import Families
from services.discovery.families.galera import kind as galera
from services.discovery.families.group_replication import kind as group_replication
from services.discovery.families.late import late
from services.discovery.families.mongodb import kind as mongodb
from services.discovery.families.proxysql.kind import PROXYSQL
from services.discovery.families.replication import kind as replication
from services.discovery.families.single.kind import SINGLE, UNKNOWN

if TYPE_CHECKING:
    from services.discovery.families.port import Family
    from services.facts.model import NodeFacts


def _galera() -> Family:
    from services.discovery.families.galera.family import Galera

    return Galera()


def _group_replication() -> Family:
    from services.discovery.families.group_replication.family import GroupReplication

    return GroupReplication()


def _mongodb() -> Family:
    from services.discovery.families.mongodb.family import MongoDb

    return MongoDb()


def _replication() -> Family:
    from services.discovery.families.replication.family import Replication

    return Replication()


def _proxysql() -> Family:
    from services.discovery.families.proxysql.family import ProxySql

    return ProxySql()


def _single() -> Family:
    from services.discovery.families.single.family import Single

    return Single()


def _in_no_answer(_facts: NodeFacts) -> bool:
    """Return False: no answer of a server tells of it."""
    return False


BUILT_IN = Families(
    (
        late((galera.GALERA,), _galera, galera.speaks),
        late((group_replication.GROUP_REPLICATION,), _group_replication, group_replication.speaks),
        late((mongodb.REPLICA_SET, mongodb.SHARDED), _mongodb, mongodb.speaks),
        late((replication.ASYNC,), _replication, replication.speaks),
        late((PROXYSQL,), _proxysql, _in_no_answer),
        late((SINGLE, UNKNOWN), _single, _in_no_answer),
    )
)
