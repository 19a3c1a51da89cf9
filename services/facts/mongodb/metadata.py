"""The hashes of a config server's metadata. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from services.connections.mongo.document import Document
from services.connections.reads.mongo import HASHED
from services.facts.mongodb.values import inside, line


def parse_hashes(answer: Document) -> dict[str, str]:
    """Return collection -> hash of dbHash's answer, of those that move only by a change of the catalog."""
    told = inside(answer, "collections")
    return {name: line(told[name], 64) for name in HASHED if name in told}


def differing(told: Collection[Mapping[str, str]]) -> tuple[str, ...]:
    """Return the collections whose hashes are not the same in all of these, or that one of them lacks; sorted."""
    names = sorted({name for hashes in told for name in hashes})
    return tuple(name for name in names if len({hashes.get(name) for hashes in told}) > 1)
