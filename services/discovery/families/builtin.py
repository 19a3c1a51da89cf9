"""The families that come with the program, in the order in which they are asked: adding one adds its entry here.

Their kinds are known at once, for a snapshot that is read from a file names them. What judges is loaded when first
asked: a recording is drawn without it, and sixty modules would hold up its first picture.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.discovery.families.galera.kind import GALERA
from services.discovery.families.group_replication.kind import GROUP_REPLICATION
from services.discovery.families.late import late
from services.discovery.families.mongodb.kind import REPLICA_SET, SHARDED
from services.discovery.families.proxysql.kind import PROXYSQL
from services.discovery.families.registry import Families, registered
from services.discovery.families.replication.kind import ASYNC
from services.discovery.families.single.kind import SINGLE, UNKNOWN
from services.types import ClusterKind

if TYPE_CHECKING:
    from services.discovery.families.port import Family


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


BUILT_IN = Families(
    (
        late((GALERA,), _galera),
        late((GROUP_REPLICATION,), _group_replication),
        late((REPLICA_SET, SHARDED), _mongodb),
        late((ASYNC,), _replication),
        late((PROXYSQL,), _proxysql),
        late((SINGLE, UNKNOWN), _single),
    )
)


def kind_kept(words: str) -> ClusterKind | None:
    """Return the kind that a store keeps by these words, None where no family declares it; of old stores ('') Galera's:
    no other was remembered."""
    if not words:
        return GALERA
    return next((kind for kind in registered().kinds if kind.words == words), None)
