"""What the cards of all procedures for Galera say alike."""

from __future__ import annotations

from services.discovery.families.galera.kind import GALERA
from services.i18n import mark

KINDS = (GALERA.code,)
ELSEWHERE = mark(
    "These procedures are for Galera clusters, and {name} is not one. Choose a Galera cluster in the tree first."
)
