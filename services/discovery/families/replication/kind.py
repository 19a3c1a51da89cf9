"""What trees of asynchronous replication are called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.i18n import mark
from services.types import TREE, ClusterKind

if TYPE_CHECKING:
    from services.facts.model import NodeFacts

ASYNC = ClusterKind("ASYNC", mark("asynchronous replication"), traits=frozenset({TREE}))


def speaks(facts: NodeFacts) -> bool:
    """Return whether a server told of its channels, or of its replicas."""
    return facts.replication is not None
