"""The families of this process: start-up chooses them (app/compose.py), else they are those of builtin.py."""

from __future__ import annotations

from services.discovery.families.builtin import BUILT_IN
from services.discovery.families.families import Families
from services.discovery.families.galera.kind import GALERA
from services.types import ClusterKind

_registered = BUILT_IN  # replaced whole, so that any thread may read it


def register(families: Families) -> Families:
    """Choose the families of this process (at its start) and return them."""
    global _registered  # noqa: PLW0603 - one set a process, chosen at its start
    _registered = families
    return families


def registered() -> Families:
    """Return the families of this process."""
    return _registered


def kind_kept(words: str) -> ClusterKind | None:
    """Return the kind that a store keeps by these words, None where no family declares it; of old stores ('') Galera's:
    no other was remembered."""
    if not words:
        return GALERA
    return next((kind for kind in registered().kinds if kind.words == words), None)
