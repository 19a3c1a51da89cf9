"""What groups of MySQL Group Replication are called, and what may be said of every one of them."""

from __future__ import annotations

from services.i18n import mark
from services.types import KEEPS_IDENTITY, VOTES, ClusterKind

GROUP_REPLICATION = ClusterKind(
    "GROUP_REPLICATION",
    "Group Replication",
    short="Group",
    identity=mark("group {uuid}"),
    inside=mark("Majority"),
    outside=mark("No majority"),
    traits=frozenset({"group_replication", VOTES, KEEPS_IDENTITY}),
)
