"""Everything that is known of one MongoDB process, as one value."""

from __future__ import annotations

from dataclasses import dataclass

from services.facts.mongodb.oplog import Oplog
from services.facts.mongodb.replica_set import ReplicaSet
from services.facts.mongodb.server import MongoServer
from services.facts.mongodb.sharding import ShardedCluster


@dataclass(frozen=True, slots=True)
class Contents:
    """Which databases a member has. with_data: those that hold something; at: when it was read, epoch seconds."""

    with_data: tuple[str, ...]
    at: float


@dataclass(frozen=True, slots=True)
class Metadata:
    """What a config server's metadata are like: a hash for each collection. at: when it was read, epoch seconds."""

    hashes: tuple[tuple[str, str], ...]
    at: float


@dataclass(frozen=True, slots=True)
class MongoFacts:
    """What is known of one process. None is 'not its own', or not read: then a problem has why.

    Attributes:
        proven: whoever answers knows the password of the account, where there is one; else only its greeting is known.
        set_untold: why the status of its set was not read, '' where it was, or it answered without one.
    """

    server: MongoServer
    set: ReplicaSet | None = None
    oplog: Oplog | None = None
    cluster: ShardedCluster | None = None
    contents: Contents | None = None
    metadata: Metadata | None = None
    proven: bool = True
    set_untold: str = ""
