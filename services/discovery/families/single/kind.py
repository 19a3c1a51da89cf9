"""What hosts are called that nothing ties to others: one that said so itself, and those of which nothing is known."""

from __future__ import annotations

from services.i18n import mark
from services.types import ALONE, NOT_KNOWN, ClusterKind

SINGLE = ClusterKind("SINGLE", mark("single server"), traits=frozenset({ALONE}))
UNKNOWN = ClusterKind("UNKNOWN", mark("replication not known"), traits=frozenset({NOT_KNOWN}))
"""Hosts that a person wrote into one cluster, while no server of it tells of any replication, one host of which nothing
is known, or one server that could not be asked for its channels or its replicas."""
