"""The numbers of a rejoin from binary logs: does IST reach from backup and target, and when is the start. Pure.

The replay is one thread: measured on the lab, MariaDB 10.11.18 on two cores, 1,000 to 1,700 small transactions a
second, or 3.9 MB/s of larger ones (resources/docs/rejoining.md). Before it runs half of that is counted with; while it
runs the race is told from what is measured (conditions/galera/transfer/replay_race.py).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from services.facts.galera.ist import Cache, Served, cache_told, ist_offers
from services.procedures.catalogue.checks.parts import galera_of
from services.procedures.catalogue.steps.choices import member_hosts
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.parts.galera.write_rate import WriteRate

COPY_BYTES_S = 80e6
"""Copying, preparing, copying back: each about this fast on a plain disk."""
REPLAY_PER_S, REPLAY_BYTES_S = 500.0, 2e6
FIXED_S = 60.0
AIR = 2**30


@dataclass(frozen=True, slots=True)
class Reaches:
    """Whether one member could send, by IST, all that follows a seqno; services.facts.galera.ist says it.

    Attributes:
        able: as things are now; told: the numbers.
        left_s: for how long at today's rate, infinity without writes, None where that is not known.
        least_s: the same, were all write sets of one size: what a burst of small ones behind large ones makes of it.
    """

    host: str
    able: bool
    left_s: float | None
    told: str
    least_s: float | None = 0.0


def reaches(facts: Facts, joiner: str, seqno: int) -> tuple[Reaches, ...]:
    """Return it of each member; the one that can the longest first."""
    names = tuple(name for name in member_hosts(facts) if name != joiner)
    caches = {n: cache_told(galera_of(facts.host(n)), facts.host(n)[WriteRate].rates) for n in names}
    found = [_reach(facts, name, caches[name], one) for name, one in ist_offers(seqno, caches).items()]
    return tuple(sorted(found, key=lambda one: (not one.able, -(one.left_s or 0.0), one.host)))


def _reach(facts: Facts, name: str, cache: Cache, one: Served) -> Reaches:
    galera = galera_of(facts.host(name))
    if galera is None or not cache.first or cache.newest is None:
        return Reaches(name, able=False, left_s=0.0, told=f"{name} reports no cached range")
    if not cache.synced:
        return Reaches(name, able=False, left_s=0.0, told=f"{name} is {galera.local_state_comment}, not Synced")
    cached = f"{name} caches from {cache.first} (newest {cache.newest})"
    if not one.serves:
        return Reaches(name, able=False, left_s=0.0, told=cached)
    return Reaches(name, able=True, left_s=one.left_s, told=cached + _lasts(cache, one), least_s=one.least_s)


def _lasts(cache: Cache, one: Served) -> str:
    if one.left_s is None or one.least_s is None:
        return ", for an unknown time"
    if math.isinf(one.left_s):
        return ""
    by_bytes = cache.ring and cache.rates is not None and cache.rates.bytes_s > 0
    if not by_bytes:
        return f", for {one.least_s:.0f} s more by the number of write sets"
    return f", for {one.left_s:.0f} s more by bytes, {one.least_s:.0f} s by the number of write sets"


def replay_s(transactions: int, size: int) -> float:
    """Return how long a replay is expected to take: by its transactions or its bytes, whichever is more."""
    return max(transactions / REPLAY_PER_S, size / REPLAY_BYTES_S)


def until_start_s(backup_bytes: int, transactions: int, size: int) -> float:
    """Return the seconds from now to the node's start: copy, prepare, copy back, replay, two short starts."""
    return 3 * backup_bytes / COPY_BYTES_S + replay_s(transactions, size) + FIXED_S


def disk_needed(backup_bytes: int, size: int) -> int:
    """Return the bytes that the data folder's disk must have free: the copy twice, what the replay adds, some air."""
    return 2 * backup_bytes + 2 * size + AIR
