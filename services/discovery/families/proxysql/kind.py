"""What a ProxySQL instance is called."""

from __future__ import annotations

from services.types import ALONE, ONLY_NAMED, ClusterKind

PROXYSQL = ClusterKind("PROXYSQL", "ProxySQL", short="ProxySQL", traits=frozenset({ALONE, ONLY_NAMED}))
