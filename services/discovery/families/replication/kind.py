"""What trees of asynchronous replication are called."""

from __future__ import annotations

from services.i18n import mark
from services.types import TREE, ClusterKind

ASYNC = ClusterKind("ASYNC", mark("asynchronous replication"), traits=frozenset({TREE}))
