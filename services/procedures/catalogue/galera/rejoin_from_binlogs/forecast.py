"""The numbers of a rejoin from binary logs: does IST reach from backup and target, and when is the start. Pure.

The replay is one thread: measured on the lab, MariaDB 10.11.18 on two cores, 1,000 to 1,700 small transactions a
second, or 3.9 MB/s of larger ones (resources/docs/rejoining.md). Before it runs half of that is counted with; while it
runs the race is told from what is measured (conditions/galera/replay_race.py).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from services.facts.galera_whole import SYNCED
from services.procedures.catalogue.checks.parts import galera_of
from services.procedures.catalogue.steps.choices import member_hosts
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.parts.galera.write_rate import WriteRate
from services.sampling.ist_reach import MARGIN, remaining_s, safe_gap

COPY_BYTES_S = 80e6
"""Copying, preparing, copying back: each about this fast on a plain disk."""
REPLAY_PER_S, REPLAY_BYTES_S = 500.0, 2e6
FIXED_S = 60.0
AIR = 2**30


@dataclass(frozen=True, slots=True)
class Reaches:
    """Whether one member could send, by IST, all that follows a seqno.

    Attributes:
        able: as things are now; left_s: for how long at today's rate, infinity without writes; told: the numbers.
        least_s: the same, were all write sets of one size: what a burst of small ones behind large ones makes of it.
    """

    host: str
    able: bool
    left_s: float
    told: str
    least_s: float = 0.0


def reaches(facts: Facts, joiner: str, seqno: int) -> tuple[Reaches, ...]:
    """Return it of each member; the one that can the longest first."""
    names = tuple(name for name in member_hosts(facts) if name != joiner)
    lows = [g.cached_downto for name in names if (g := galera_of(facts.host(name))) is not None and g.cached_downto]
    found = [_reach(facts, name, seqno, min(lows, default=None)) for name in names]
    return tuple(sorted(found, key=lambda one: (not one.able, -one.left_s, one.host)))


def _reach(facts: Facts, name: str, seqno: int, lowest: int | None) -> Reaches:
    galera, rates = galera_of(facts.host(name)), facts.host(name)[WriteRate].rates
    low, last = (galera.cached_downto, galera.last_committed) if galera is not None else (None, None)
    if galera is None or not low or last is None or lowest is None:
        return Reaches(name, able=False, left_s=0.0, told=f"{name} tells no cached range")
    if galera.local_state != SYNCED:
        return Reaches(name, able=False, left_s=0.0, told=f"{name} is {galera.local_state_comment}, not Synced")
    able = low <= seqno + 1 and safe_gap(lowest, last) <= seqno <= last
    if not able:
        return Reaches(name, able, 0.0, f"{name} caches from {low} (newest {last})")
    least = remaining_s(seqno, low, last, math.nan if rates is None else rates.seqno_s, lowest)
    least = math.inf if least is None or math.isnan(least) else least
    left, by_bytes = least, ""
    if galera.gcache_size and rates is not None and rates.bytes_s > 0:
        share = (seqno + 1 - low) / max(1, last + 1 - low)
        left = MARGIN * share * galera.gcache_size / rates.bytes_s
        by_bytes = f"{left:.0f} s more by bytes, "
    lasts = "" if math.isinf(left) else f", for {by_bytes}{least:.0f} s {'' if by_bytes else 'more '}by write sets"
    return Reaches(name, able, left, f"{name} caches from {low} (newest {last}){lasts}", least)


def replay_s(transactions: int, size: int) -> float:
    """Return how long a replay is expected to take: by its transactions or its bytes, whichever is more."""
    return max(transactions / REPLAY_PER_S, size / REPLAY_BYTES_S)


def until_start_s(backup_bytes: int, transactions: int, size: int) -> float:
    """Return the seconds from now to the node's start: copy, prepare, copy back, replay, two short starts."""
    return 3 * backup_bytes / COPY_BYTES_S + replay_s(transactions, size) + FIXED_S


def disk_needed(backup_bytes: int, size: int) -> int:
    """Return the bytes that the data folder's disk must have free: the copy twice, what the replay adds, some air."""
    return 2 * backup_bytes + 2 * size + AIR
