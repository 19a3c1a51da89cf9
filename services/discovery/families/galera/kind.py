"""What Galera clusters are called, and what may be said of every one of them."""

from __future__ import annotations

from services.i18n import mark
from services.types import KEEPS_IDENTITY, LENDS_HISTORY, VOTES, ClusterKind

GALERA = ClusterKind(
    "GALERA",
    "Galera",
    short="Galera",
    identity=mark("state {uuid}"),
    inside=mark("Primary component"),
    outside=mark("non-Primary"),
    traits=frozenset({"galera", VOTES, KEEPS_IDENTITY, LENDS_HISTORY}),
)
