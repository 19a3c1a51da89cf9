"""What members hold against one another: config servers' metadata, and databases that one of a set lacks (E8). Pure.

'0 documents' is said by nobody here: an empty answer of one member is held against what its peers have.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from services.discovery.families.mongodb.numbers import LAG_WARN_S, lag_of
from services.discovery.families.mongodb.places import facts_of
from services.discovery.families.mongodb.problems import METADATA_DIFFER, METADATA_GONE, UNEXPECTED_EMPTY
from services.discovery.families.mongodb.quorum import PART
from services.discovery.families.mongodb.views import SetOf
from services.discovery.nodes import Node
from services.discovery.words import clock, listing, names
from services.facts.model import Problem
from services.facts.mongodb.metadata import differing
from services.facts.mongodb.model import Contents
from services.i18n import tr

ONE_MOMENT_S = 2.0
"""Readings further apart than this are not of one moment: what differs may have been changed in between."""


def metadata_problems(nodes: Sequence[Node]) -> Iterator[Problem]:
    """Yield a problem where mirrored config servers, read at one moment, have not the same metadata, or one has none.

    A mongos that reads through one without any was seen to end itself (3.2.5).
    """
    pairs = [
        (n, f.metadata) for n in nodes if (f := facts_of(n)) is not None and f.metadata is not None and n.sql_fresh
    ]
    newest = max((metadata.at for _, metadata in pairs), default=0.0)
    together = [(node, metadata) for node, metadata in pairs if newest - metadata.at <= ONE_MOMENT_S]
    empty = sorted(node.name for node, metadata in together if not metadata.hashes)
    having = [(node, metadata) for node, metadata in together if metadata.hashes]
    if empty and having:
        text = tr(
            "No metadata of the cluster on {empty}, unlike {hosts} (read at {at}): the data folder is empty "
            "or the wrong one. The catalog cannot be changed, and a mongos that reads there may stop.",
            empty=names(empty),
            hosts=names(sorted(node.name for node, _ in having)),
            at=clock(newest),
        )
        yield Problem(PART, text, METADATA_GONE)
    if other := differing([dict(metadata.hashes) for _, metadata in having]):
        text = tr(
            "The mirrored config servers {hosts} differ in {collections} (read at {at}; a change at that "
            "moment is also shown as a difference until the next read). While they differ, the catalog cannot "
            "be changed.",
            hosts=names(sorted(node.name for node, _ in having)),
            collections=listing(f"config.{name}" for name in other),
            at=clock(newest),
        )
        yield Problem(PART, text, METADATA_DIFFER)


def empty_problems(one: SetOf) -> Iterator[Problem]:
    """Yield a problem for each member that lacks databases which the primary had before it was asked."""
    primary = next((n for n in one.nodes if n.node_id == one.primary and n.sql_fresh), None)
    there = _contents(primary)
    if primary is None or there is None:
        return
    for node in one.nodes:
        own = _contents(node) if node is not primary and node.sql_fresh else None
        behind = lag_of(node, one)
        if own is None or own.at < there.at or behind is None or behind > LAG_WARN_S:
            continue  # it may not have heard of them yet
        lacking = sorted(set(there.with_data) - set(own.with_data))
        if lacking:
            text = tr(
                "{databases}: empty or missing on {member} ({at}), but not on {peer} ({before}).",
                databases=listing(lacking),
                member=node.name,
                at=clock(own.at),
                peer=primary.name,
                before=clock(there.at),
            )
            yield Problem(PART, text, UNEXPECTED_EMPTY)


def _contents(node: Node | None) -> Contents | None:
    facts = facts_of(node) if node is not None else None
    return facts.contents if facts is not None else None
