"""What MongoDB's clusters are called, and what may be said of every one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.discovery.families.mongodb.problems import GRAVITY
from services.i18n import mark
from services.types import KEEPS_IDENTITY, PLACES, SEVERAL_GROUPS, VOTES, ClusterKind

if TYPE_CHECKING:
    from services.facts.model import NodeFacts

MONGODB = "mongodb"
"""Trait of both kinds: their nodes are mongod and mongos."""

REPLICA_SET = ClusterKind(
    "MONGODB_SET",
    mark("MongoDB replica set"),
    short="MongoDB",
    identity=mark("replica set {uuid}"),
    inside=mark("Majority"),
    outside=mark("No majority"),
    traits=frozenset({MONGODB, VOTES, KEEPS_IDENTITY, PLACES}),
    gravity=GRAVITY,
)
SHARDED = ClusterKind(
    "MONGODB_SHARDED",
    mark("MongoDB sharded cluster"),
    short="MongoDB sharded",
    identity=mark("cluster {uuid}"),
    inside=mark("Majority"),
    outside=mark("No majority"),
    traits=frozenset({MONGODB, SEVERAL_GROUPS, KEEPS_IDENTITY, PLACES}),
    gravity=GRAVITY,
)


def speaks(facts: NodeFacts) -> bool:
    """Return whether a process of MongoDB answered."""
    return facts.mongo is not None
