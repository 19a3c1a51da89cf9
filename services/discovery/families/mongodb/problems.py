"""What may be wrong with a set or a sharded cluster as a whole: the codes, and how bad each is."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from services.types import Health

NO_PRIMARY_MEMBER = "mongodb.no-primary"
MAJORITY_NOT_KNOWN = "mongodb.majority-not-known"
STALE_PRIMARY = "mongodb.stale-primary"
EVEN_VOTES = "mongodb.even-votes"
OLD_PROTOCOL = "mongodb.old-protocol"
ARBITER_BLOCKS = "mongodb.arbiter-blocks-majority"
METADATA_DIFFER = "mongodb.config-metadata-differ"
METADATA_GONE = "mongodb.config-metadata-gone"
UNEXPECTED_EMPTY = "mongodb.unexpected-empty"
CONFIG_STRINGS = "mongodb.config-strings-differ"
SHARD_SILENT = "mongodb.shard-silent"

GRAVITY: Mapping[str, Health] = MappingProxyType(
    {
        NO_PRIMARY_MEMBER: Health.BAD,
        STALE_PRIMARY: Health.BAD,
        METADATA_DIFFER: Health.WARN,
        METADATA_GONE: Health.BAD,
        CONFIG_STRINGS: Health.BAD,
        ARBITER_BLOCKS: Health.WARN,
        MAJORITY_NOT_KNOWN: Health.UNKNOWN,
        SHARD_SILENT: Health.UNKNOWN,
        UNEXPECTED_EMPTY: Health.WARN,
    }
)
"""What is advice only (even votes, the old protocol) is not here."""
