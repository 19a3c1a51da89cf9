"""The hashes of a config server's metadata. Pure."""

from __future__ import annotations

from services.connections.mongo.document import Document
from services.connections.reads.mongo import HASHED
from services.facts.mongodb.values import inside, line


def parse_hashes(answer: Document) -> dict[str, str]:
    """Return collection -> hash of dbHash's answer, of those that move only by a change of the catalog."""
    told = inside(answer, "collections")
    return {name: line(told[name], 64) for name in HASHED if name in told}
