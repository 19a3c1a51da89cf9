"""What Galera clusters are called, and what may be said of every one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.i18n import mark
from services.types import KEEPS_IDENTITY, LENDS_HISTORY, VOTES, ClusterKind

if TYPE_CHECKING:
    from services.facts.model import NodeFacts

GALERA = ClusterKind(
    "GALERA",
    "Galera",
    short="Galera",
    identity=mark("state {uuid}"),
    inside=mark("Primary component"),
    outside=mark("non-Primary"),
    traits=frozenset({"galera", VOTES, KEEPS_IDENTITY, LENDS_HISTORY}),
)


def speaks(facts: NodeFacts) -> bool:
    """Return whether a server tells of a Galera group."""
    return facts.galera is not None
