"""How far back a member's oplog reaches: its first and last entry, its size. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from services.connections.mongo.document import Document, Stamp
from services.facts.mongodb.values import number, stamp


@dataclass(frozen=True, slots=True)
class Oplog:
    """One member's oplog.

    Attributes:
        first, last: its oldest and newest entry. size, used: bytes it may have (a server since 3.6 may be told to keep
            more), and has.
    """

    first: Stamp | None = None
    last: Stamp | None = None
    size: int | None = None
    used: int | None = None

    @property
    def window_s(self) -> int | None:
        """Return the seconds between its ends, None where one is not known: a member may be away for so long."""
        if self.first is None or self.last is None or self.last < self.first:
            return None
        return self.last.seconds - self.first.seconds

    @property
    def full(self) -> bool | None:
        """Return whether old entries are being given up for new ones: only then its window is what it will stay."""
        if self.size is None or self.used is None or self.size <= 0:
            return None
        return self.used >= self.size * _FULL


_FULL = 0.9
"""Entries are given up in pieces of a tenth at most (WiredTiger's oplog stones: ten of them at least, 3.2 source,
wiredtiger_record_store.cpp), so a full one is never below nine tenths."""


def parse_oplog(first: Sequence[Document], last: Sequence[Document], stats: Document | None) -> Oplog | None:
    """Return the oplog, None where there is none: the finds bring nothing, and nothing has a size set.

    A server that has no such collection answers with an error (3.2) or with a size of 0 and no limit (newer).

    Args:
        first, last: the documents of the two finds; stats: the answer to collStats, None where it was not read.
    """
    ends = [stamp(found[0].get("ts")) if found else None for found in (first, last)]
    stats = stats or {}
    size = _bytes(stats, "maxSize")
    if ends == [None, None] and size is None:
        return None
    return Oplog(ends[0], ends[1], size, _bytes(stats, "size"))


def _bytes(stats: Document, name: str) -> int | None:
    found = number(stats.get(name))
    return found if found is not None and found >= 0 else None
