"""What the cards of all procedures for MongoDB say alike."""

from __future__ import annotations

from services.discovery.families.mongodb.kind import REPLICA_SET, SHARDED
from services.i18n import mark

KINDS = (REPLICA_SET.code, SHARDED.code)
ELSEWHERE = mark(
    "These procedures are for MongoDB clusters, and {name} is not one. Choose a MongoDB cluster in the tree first."
)
NOT_SHARDED = mark(
    "This procedure is for sharded MongoDB clusters, and {name} is not one. Choose a sharded cluster in the tree first."
)
NEED = "MongoDB must be upgraded"
