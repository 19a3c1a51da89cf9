"""The gate and the second net before the wire: nothing passes but named reads, whoever registered them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from services.connections.reads.mongo import HASHED, MONGO_READS, MongoRead, MongoTemplate
from services.errors import Refused
from services.i18n import tr

READING: Final = frozenset(
    {
        "balancerStatus",
        "buildInfo",
        "collStats",
        "connectionStatus",
        "dbHash",
        "find",
        "getCmdLineOpts",
        "getParameter",
        "getShardMap",
        "isMaster",
        "listDatabases",
        "listShards",
        "replSetGetConfig",
        "replSetGetStatus",
        "serverStatus",
        "shardingState",
    }
)
_FOUND_IN: Final = {
    "config": frozenset({"collections", "databases", "locks", "mongos", "settings", "shards", "version"}),
    "local": frozenset({"oplog.rs", "replset.election", "system.replset"}),
}
"""What is found in, and nothing else: users and keys stand in admin.system.*, people's data elsewhere."""
_ALLOWED_SIGNS: Final = frozenset({"$natural"})
MOST_FOUND = 500
MOST_BYTES = 4 * 1024 * 1024
"""Of one reply. The whole serverStatus of 3.2.5 has 20 kB, the largest moments of newer servers 100."""


def template_of(read: MongoRead) -> MongoTemplate:
    """Return what is sent for a read. Raises Refused for whatever is no read of the registry."""
    template = MONGO_READS.get(read.name) if type(read) is MongoRead else None
    if template is None:
        raise Refused(
            tr("The Observer refuses a command: its registry of MongoDB reads has no command with that name."),
            safe=tr("Nothing was sent to the host."),
        )
    check(template)
    return template


def check(template: MongoTemplate) -> None:
    """Raise Refused for a command that does more than read, or reads what is nobody's business here."""
    name = next(iter(template.command), "")
    found = template.command.get("find")
    fine = (
        name in READING
        and not set(_signs(template.command)) - _ALLOWED_SIGNS
        and (found is None or _is_bounded(template, found))
        and (found is not None or template.database == "admin" or name == "collStats" or _is_metadata(template, name))
    )
    if not fine:
        raise Refused(
            tr("The Observer refuses the command '{name}': it is not a read.", name=template.name),
            safe=tr("Nothing was sent to the host."),
        )


def _is_metadata(template: MongoTemplate, name: str) -> bool:
    """Return whether it hashes named collections of a cluster's metadata, and nothing else."""
    named = template.command.get("collections")
    fine = isinstance(named, list) and bool(named) and set(named) <= set(HASHED)
    return name == "dbHash" and template.database == "config" and fine


def _is_bounded(template: MongoTemplate, collection: object) -> bool:
    """Return whether a find is in a collection that may be looked at, brings few documents and leaves no cursor."""
    return (
        collection in _FOUND_IN.get(template.database, ())
        and 0 < template.limit <= MOST_FOUND
        and template.command.get("limit") == template.limit
        and template.command.get("singleBatch") is True
    )


def _signs(value: Any) -> Iterator[str]:
    """Yield every name with a dollar in it, at any depth: operators, stages, places."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            if "$" in name:
                yield name
            yield from _signs(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _signs(inner)
    elif isinstance(value, str) and "$" in value:
        yield value
