"""What groups of MySQL Group Replication are called, and what may be said of every one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.i18n import mark
from services.types import KEEPS_IDENTITY, VOTES, ClusterKind

if TYPE_CHECKING:
    from services.facts.model import NodeFacts

GROUP_REPLICATION = ClusterKind(
    "GROUP_REPLICATION",
    "Group Replication",
    short="Group",
    identity=mark("group {uuid}"),
    inside=mark("Majority"),
    outside=mark("No majority"),
    traits=frozenset({"group_replication", VOTES, KEEPS_IDENTITY}),
)


def speaks(facts: NodeFacts) -> bool:
    """Return whether a server tells of a group."""
    return facts.group is not None
