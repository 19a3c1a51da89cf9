"""May a node that stopped at a seqno return by IST, and for how long still: the one rule of it. Pure.

With s where the node stopped, c = wsrep_local_cached_downto of a member, m the lowest c of all members, and L the
highest wsrep_last_committed of them, a member serves the node if (Galera source, gcs_group.cpp, gcs_group_find_donor
and group_find_ist_donor; replicator_str.cpp, process_state_req)
- it is Synced;
- s <= L: a node that is ahead of the group aborts. The group's newest counts (its quorum's act_id): a donor that
  applies late has applied all that is ordered before the request when it serves it;
- c <= s + 1: the first write set that is missed is cached (else "not found from cache, falling back to SST");
- s >= m + min((L - m) / 128, 2**20): below this gap the first Synced node is taken, IST or not. m counts whoever is a
  member. The joiner's own cache would count too: without it the gap is never too small.
"wsrep_local_cached_downto: the lowest sequence number in gcache" (Galera documentation, "Galera Status Variables"): 0
is a cache that keeps nothing, and what is not told is not known.

For how long: a ring of G = gcache.size bytes is written round and round ("gcache.size", "Galera Parameters"), so a
write set is purged when nearly G bytes have followed it. MARGIN of the room that is left is promised.
- In a ring that is full, as c says: the room of the write sets that are older than what is needed. What is cached fits
  in the ring, so each has (L - c) parts of it at most.
- A ring that is not full yet, as after each new start, purges nothing before it is: all of it but what follows s,
  counted by what a write set takes now.
- The ring does not tell which of the two it is: the longer one counts, until it was seen to purge. `least_s` is by
  write sets: what a burst of small ones behind large ones may make of it.
- Never longer than until the gap passes s: while nothing is purged it grows by one for each 128 write sets.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from services.facts.galera.whole import SYNCED
from services.facts.model import GaleraFacts
from services.facts.reading import count
from services.facts.replication.write_rate import Rates

MARGIN = 0.8
"""Share of the predicted time that is promised: rates swing, and the oldest page of the ring is never quite whole."""
GAP_SHARE, GAP_MOST = 128, 2**20


class Ist(Enum):
    """Whether a member serves a node by IST: one of these, the first that holds."""

    NOT_KNOWN = "not-known"
    NOT_SYNCED = "not-synced"
    KEEPS_NOTHING = "keeps-nothing"
    AHEAD = "ahead"  # of the whole group: the node stopped where nobody has come yet
    PURGED = "purged"
    GAP = "gap"  # too near the end of what is cached
    SERVES = "serves"


@dataclass(frozen=True, slots=True)
class Cache:
    """What a member tells of its cache; None is what it does not tell.

    Attributes:
        first: wsrep_local_cached_downto, 0 while it keeps nothing; newest: wsrep_last_committed.
        synced: whether it is Synced; True where only its cache is asked about.
        ring: gcache.size in bytes; rates: how fast is written.
        purged_s: how many write sets a second it was seen to purge, 0.0 where it stood still.
    """

    first: int | None
    newest: int | None
    synced: bool | None = True
    ring: int | None = None
    rates: Rates | None = None
    purged_s: float | None = None


@dataclass(frozen=True, slots=True)
class Served:
    """Whether a member serves a node, and for how long still.

    Attributes:
        gap: the lowest seqno that the donor selection takes, None where no cache is told.
        newest: the group's.
        left_s: 0.0 where it doesn't; None where that is not known; infinity while nothing is written.
        least_s: the same, were all write sets of one size.
    """

    answer: Ist
    gap: int | None = None
    newest: int | None = None
    left_s: float | None = 0.0
    least_s: float | None = 0.0

    @property
    def serves(self) -> bool:
        """Return whether it does; what is not known is no yes."""
        return self.answer is Ist.SERVES


def cache_told(galera: GaleraFacts | None, rates: Rates | None = None) -> Cache:
    """Return a member's cache as its facts tell it."""
    if galera is None:
        return Cache(None, None, synced=None)
    synced = None if galera.local_state is None else galera.local_state == SYNCED
    return Cache(galera.cached_downto, galera.last_committed, synced, galera.gcache_size, rates)


def cache_in(status: Mapping[str, str]) -> Cache:
    """Return a member's cache as SHOW GLOBAL STATUS alone tells it."""
    state = count(status.get("wsrep_local_state", ""))
    return Cache(
        count(status.get("wsrep_local_cached_downto", "")),
        count(status.get("wsrep_last_committed", "")),
        synced=None if state is None else state == SYNCED,
    )


def ist_offers(stopped_at: int | None, members: Mapping[str, Cache]) -> dict[str, Served]:
    """Return of each member whether a node that stopped there is served by it, and for how long still.

    Args:
        members: all that are known, the ones that are not Synced too: their caches count for the gap.
    """
    lowest = min((one.first for one in members.values() if one.first), default=None)
    newest = max((one.newest for one in members.values() if one.newest is not None), default=None)
    return {name: _served(stopped_at, one, lowest, newest) for name, one in members.items()}


def _served(stopped_at: int | None, cache: Cache, lowest: int | None, newest: int | None) -> Served:
    gap = None if lowest is None or newest is None else safe_gap(lowest, newest)
    if cache.synced is False:
        return Served(Ist.NOT_SYNCED, gap, newest)
    if cache.first == 0:
        return Served(Ist.KEEPS_NOTHING, gap, newest)
    told = cache.first is not None and cache.newest is not None and cache.synced is not None
    if not told or stopped_at is None or gap is None or lowest is None or newest is None:
        return Served(Ist.NOT_KNOWN, gap, newest, None, None)
    assert cache.first is not None
    if stopped_at > newest:
        return Served(Ist.AHEAD, gap, newest)
    if cache.first > stopped_at + 1:
        return Served(Ist.PURGED, gap, newest)
    if stopped_at < gap:
        return Served(Ist.GAP, gap, newest)
    older = min(stopped_at + 1 - cache.first, stopped_at - gap)
    return Served(Ist.SERVES, gap, newest, *_left(cache, stopped_at, older, (lowest, newest)))


def _left(cache: Cache, stopped_at: int, older: int, group: tuple[int, int]) -> tuple[float | None, float | None]:
    """Return (left_s, least_s); `older`: how many write sets may be purged, `group`: its lowest cached and newest."""
    seen = math.inf if not cache.purged_s else older / cache.purged_s
    if cache.rates is None:
        told = None if cache.purged_s is None else seen
        return told, told
    sets_s = cache.rates.seqno_s
    by_sets = min(seen, older / sets_s if sets_s > 0 else math.inf)
    if not cache.ring or cache.rates.bytes_s <= 0:
        return by_sets, by_sets
    left = min(seen, _by_bytes(cache, cache.ring, stopped_at, older), _until_gap(stopped_at, sets_s, group))
    return left, min(left, by_sets)


def _by_bytes(cache: Cache, ring: int, stopped_at: int, older: int) -> float:
    assert cache.rates is not None
    assert cache.first is not None
    assert cache.newest is not None
    bytes_s, sets_s = cache.rates.bytes_s, cache.rates.seqno_s
    each = ring / max(1, cache.newest + 1 - cache.first)
    full = MARGIN * older * each / bytes_s
    if cache.purged_s or sets_s <= 0:
        return full
    behind = max(0, cache.newest - stopped_at) * min(each, bytes_s / sets_s)
    return max(full, (MARGIN * ring - behind) / bytes_s)


def _until_gap(stopped_at: int, sets_s: float, group: tuple[int, int]) -> float:
    """Return when the gap passes the position even if nothing is purged; while it is, the gap moves faster."""
    lowest, newest = group
    above = stopped_at - lowest
    if above >= GAP_MOST or sets_s <= 0:
        return math.inf
    return (lowest + GAP_SHARE * (above + 1) - newest) / sets_s


def safe_gap(lowest_cached: int, last_committed: int) -> int:
    """Return the lowest seqno a node may have stopped at for a donor to be chosen for IST."""
    return lowest_cached + min(max(0, last_committed - lowest_cached) // GAP_SHARE, GAP_MOST)


def lasts_s(ring: float | None, bytes_s: float | None) -> float | None:
    """Return for how long a ring keeps what is written from now on, margin taken off: for a node that goes down now.

    How much it holds now does not matter. None where its size or the rate is not known, infinity without writes.
    """
    if not ring or bytes_s is None or math.isnan(bytes_s):
        return None
    return math.inf if bytes_s <= 0 else MARGIN * ring / bytes_s
