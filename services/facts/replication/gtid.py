"""Arithmetic of global transaction ids: what one server has that another has not.

MariaDB (KB "Global Transaction ID"): a position is one "domain-server-sequence" per domain; everything up to the
sequence is contained. MySQL (manual, "GTID Sets", 8.4 "Tagged GTIDs"): a set "uuid[:tag]:1-5:7, uuid:1-3"; a tag stands
between colons and holds for the intervals after it. Nothing raises: text that is neither is None, and so is a set of
more than MOST_CHARACTERS or MOST_INTERVALS: whoever sends a new one each second would have the console compute only.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field

from services.facts.reading import may_be_cut

MOST = 2**64 - 1
_UUID = re.compile(r"[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}")
_ONE = re.compile(r"(\d{1,10})-(\d{1,10})-(\d{1,20})", re.ASCII)
_TAG = re.compile(r"[a-z_][a-z0-9_]{0,31}")
MOST_CHARACTERS = 32_768
"""Of one set: 700 servers that once wrote, or 4,000 holes."""
MOST_INTERVALS = 4096
"""Of one set, its tags and sources counted too."""
MOST_OF_A_SERVER = 4 * MOST_CHARACTERS
"""Characters of all sets of one server that differ; what is beyond is not kept."""
TOO_LARGE = "…"
"""Stands in the place of a set that was not kept; it is no set, so that nothing is computed from it."""
CUT = "… (may be cut)"
"""Stands in the place of a set whose text a server may have cut: it would be read as another, smaller one."""
_MOST_CACHED = 4_000_000
_INTERVAL_B = 128
"""An interval is a pair of numbers: in memory it is larger than its text."""

Interval = tuple[int, int]


@dataclass(frozen=True, slots=True)
class GtidSet:
    """A set of transactions: group (domain, or uuid and tag) -> sorted, separate intervals, both ends included."""

    groups: Mapping[str, tuple[Interval, ...]] = field(default_factory=dict)

    def count(self) -> int:
        """Return how many transactions are in the set."""
        return sum(high - low + 1 for intervals in self.groups.values() for low, high in intervals)

    def subtract(self, other: GtidSet) -> GtidSet:
        """Return what is here and not in `other`."""
        left = {
            group: rest
            for group, intervals in self.groups.items()
            if (rest := _minus(intervals, other.groups.get(group, ())))
        }
        return GtidSet(left)

    def contains(self, other: GtidSet) -> bool:
        """Return whether every transaction of `other` is here."""
        return not other.subtract(self).groups

    def __str__(self) -> str:
        """Return the set as MySQL prints it (a MariaDB domain stands in the uuid's place)."""
        return ",".join(
            f"{group}:" + ":".join(f"{low}-{high}" if high > low else str(low) for low, high in intervals)
            for group, intervals in sorted(self.groups.items())
        )


class _Cache:
    """The sets that were read last, by their text: bounded by what they hold, not by how many they are."""

    def __init__(self) -> None:
        self._sets: OrderedDict[str, tuple[GtidSet | None, int]] = OrderedDict()
        self._lock = threading.Lock()
        self.weight = 0

    def get(self, text: str) -> tuple[GtidSet | None, int] | None:
        with self._lock:
            found = self._sets.get(text)
            if found is not None:
                self._sets.move_to_end(text)
            return found

    def put(self, text: str, made: GtidSet | None) -> None:
        held = sum(1 + len(intervals) for intervals in made.groups.values()) if made is not None else 0
        weight = 4 * len(text) + _INTERVAL_B * (1 + held)
        with self._lock:
            self.weight += weight - self._sets.pop(text, (None, 0))[1]
            self._sets[text] = (made, weight)
            while self.weight > _MOST_CACHED:
                self.weight -= self._sets.popitem(last=False)[1][1]


_cache = _Cache()


def parts_of(text: str) -> tuple[int, int, int] | None:
    """Return domain, server id and sequence number of one GTID of MariaDB; None for anything else."""
    found = _ONE.fullmatch(text)
    return (int(found[1]), int(found[2]), int(found[3])) if found is not None else None


def fits(text: str) -> bool:
    """Return whether a set is small enough to be computed with."""
    return len(text) <= MOST_CHARACTERS and text.count(":") + text.count(",") <= MOST_INTERVALS


def cached_bytes() -> int:
    """Return about how many bytes the sets take that are remembered."""
    return _cache.weight


def parse(text: str) -> GtidSet | None:
    """Return the set that a position (MariaDB) or a set (MySQL) stands for; '' is the empty set.

    Nonsense is None, and so is what is larger than a set may be, or as long as a text that a server cuts.
    """
    if not fits(text) or may_be_cut(text):
        return None
    known = _cache.get(text)
    if known is None:
        made = _parsed(text)
        _cache.put(text, made)
        return made
    return known[0]


def _parsed(text: str) -> GtidSet | None:
    clean = "".join(text.lower().split())
    if not clean:
        return GtidSet()
    parts = [p for p in clean.split(",") if p]
    if parts and all(p.count("-") == 2 and ":" not in p for p in parts):
        whole = not clean.startswith(",") and ",," not in clean  # MySQL alone lets parts be empty
        return _mariadb(parts) if whole else None
    return _mysql(parts)


def _mariadb(parts: list[str]) -> GtidSet | None:
    groups: dict[str, tuple[Interval, ...]] = {}
    for part in parts:
        numbers = [_number(n) for n in part.split("-")]
        domain, _, sequence = numbers
        if any(n is None for n in numbers) or domain is None or sequence is None:
            return None
        # Two servers may have written in one domain; the higher sequence is the position.
        highest = max(sequence, groups.get(str(domain), ((1, 0),))[0][1])
        if highest:
            groups[str(domain)] = ((1, highest),)
    return GtidSet(groups)


def _mysql(parts: list[str]) -> GtidSet | None:
    found: dict[str, list[Interval]] = {}
    source = ""
    for part in parts:
        words = part.split(":")
        if _UUID.fullmatch(words[0]):
            source, words = words[0], words[1:]
        if not source or not words:
            return None
        group = source
        for word in words:
            if _TAG.fullmatch(word):
                group = f"{source}:{word}"
                continue
            low, _, high = word.partition("-")
            first, last = _number(low), _number(high or low)
            if first is None or last is None or first < 1:
                return None
            if last >= first:
                found.setdefault(group, []).append((first, last))
    return GtidSet({group: _joined(intervals) for group, intervals in found.items()})


def _number(text: str) -> int | None:
    if not (text.isascii() and text.isdigit()) or len(text) > 20:
        return None
    number = int(text)
    return number if number <= MOST else None


def _joined(intervals: list[Interval]) -> tuple[Interval, ...]:
    joined: list[Interval] = []
    for low, high in sorted(intervals):
        if joined and low <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(joined[-1][1], high))
        else:
            joined.append((low, high))
    return tuple(joined)


def _minus(mine: tuple[Interval, ...], theirs: tuple[Interval, ...]) -> tuple[Interval, ...]:
    left: list[Interval] = []
    position = 0
    for start, high in mine:
        low = start
        while position < len(theirs) and theirs[position][1] < low:
            position += 1
        index = position
        while index < len(theirs) and theirs[index][0] <= high:
            if theirs[index][0] > low:
                left.append((low, theirs[index][0] - 1))
            low = max(low, theirs[index][1] + 1)
            index += 1
        if low <= high:
            left.append((low, high))
    return tuple(left)


def gap(ahead: str, behind: str) -> int | None:
    """Return how many transactions of `ahead` are missing in `behind`; None when either can't be read.

    MariaDB: only domains that `ahead` names count, and a domain that `behind` has never seen counts from its first
    sequence.
    """
    if not ahead.strip():
        return None
    left, right = parse(ahead), parse(behind)
    return None if left is None or right is None else left.subtract(right).count()
