"""A Synced member still caches all that a stopped node's data lack, so that IST can bring it. Read before its start.

Whom: services.sampling.ist_reach, method 3 (Galera source gcs_group.cpp, group_find_ist_donor).

For how long: the lower of two bounds. How fast the first cached seqno moves: but a ring purges in steps, and stands
still between them. And the room that the ring has left for what follows the position, by the rate of writes (method 2,
a margin taken off), with as many bytes a write set as are written now; where the ring's size or the bytes are not told,
every write set counts as one that is purged.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from services.facts.galera_whole import SYNCED
from services.facts.provider_options import option_number, provider_options
from services.facts.reading import count
from services.facts.write_rate import HEADER_BYTES
from services.procedures.looking.asked import number_of
from services.procedures.looking.standing import silent
from services.procedures.plan.condition import Answer, Declared, Number, OfHost, condition
from services.procedures.plan.looks import Asking, Past
from services.sampling.ist_reach import MARGIN, safe_gap

APART_S = 1.0
LEAST_LEFT_S = 30.0
"""A start asks for its transfer within seconds; a cache that purges what it needs meanwhile has an SST come."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """A member's first cached and newest seqno, bytes written and the ring's size, as it says; None where it says none.

    `state`: why it is no Synced member of this cluster, '' where it is one.
    """

    first: int | None
    newest: int | None
    state: str
    written: int | None = None
    ring: int | None = None

    @property
    def is_able(self) -> bool:
        """Return whether it may be chosen as a donor for IST."""
        return self.state == "" and bool(self.first) and self.newest is not None


@condition("galera.ist-reaches", "a Synced donor that caches all that {host} lacks")
class IstReaches(OfHost):
    """One of `donors` is Synced and caches what follows `stopped_at`, and will for half a minute more at least.

    No state file is asked: the data may be a backup's. No answer of a donor is never a yes.
    """

    donors: tuple[str, ...]
    state_uuid: str
    stopped_at: Number

    def declared(self) -> Declared:
        """See Condition."""
        return Declared(frozenset({self.host, *self.donors}), enough_of=frozenset(self.donors))

    def look(self, asking: Asking, past: Past) -> Answer:
        """Read each member twice, a second apart: where its cache begins, and how fast that beginning moves."""
        stopped_at = number_of(self.stopped_at, past)
        if stopped_at is None:
            return Answer(holds=None, evidence=f"where the data of {self.host} stand was not kept by this run")

        def seen(name: str) -> _Seen:
            return _seen(asking, name, self.state_uuid)

        first = asking.each(self.donors, seen)
        asking.clock.sleep(APART_S)
        found = asking.each(self.donors, seen)
        lowest = min((one.first for one in found.values() if isinstance(one, _Seen) and one.first), default=None)
        able, told = [], []
        for name, now in found.items():
            if not isinstance(now, _Seen):
                told.append(silent(name, now))
                continue
            before = first.get(name)
            left = left_s(before if isinstance(before, _Seen) else now, now, stopped_at)
            told.append(f"{name} {_words(now, left)}")
            if now.is_able and lowest and _serves(now, stopped_at, lowest) and left >= LEAST_LEFT_S:
                able.append(name)
        evidence = f"the data of {self.host} stand at {stopped_at}; {', '.join(told)}"
        unheard = any(not isinstance(one, _Seen) for one in found.values())
        return Answer(holds=True if able else None if unheard else False, evidence=evidence)


def _seen(asking: Asking, name: str, state_uuid: str) -> _Seen:
    status = asking.status(name)
    first = count(status.get("wsrep_local_cached_downto", ""))
    state = ""
    if status.get("wsrep_cluster_status") != "Primary":
        state = "is not Primary"
    elif status.get("wsrep_cluster_state_uuid", "").lower() != state_uuid.lower():
        state = "is of another cluster"
    elif count(status.get("wsrep_local_state", "")) != SYNCED:
        state = f"is {status.get('wsrep_local_state_comment', 'of unknown state')}, not Synced"
    written = [count(status.get(f"wsrep_{way}_bytes", "")) for way in ("replicated", "received")]
    options = provider_options(asking.variable(name, "wsrep_provider_options") or "")
    return _Seen(
        first or None,
        count(status.get("wsrep_last_committed", "")),
        state,
        None if None in written else sum(one or 0 for one in written),
        option_number(options.get("gcache.size", "")) or None,
    )


def _serves(seen: _Seen, stopped_at: int, lowest: int) -> bool:
    assert seen.first is not None
    assert seen.newest is not None
    return seen.first <= stopped_at + 1 and safe_gap(lowest, seen.newest) <= stopped_at <= seen.newest


def left_s(before: _Seen, now: _Seen, stopped_at: int) -> float:
    """Return for how many seconds the cache still holds what follows a position, by the lower of both bounds."""
    if now.first is None or now.newest is None or now.first > stopped_at + 1:
        return 0.0
    purged = (now.first - before.first) / APART_S if before.first is not None else 0.0
    by_purge = (stopped_at + 1 - now.first) / purged if purged > 0 else math.inf
    return min(by_purge, _by_ring(before, now, stopped_at))


def _by_ring(before: _Seen, now: _Seen, stopped_at: int) -> float:
    assert now.first is not None
    assert now.newest is not None
    sets = (now.newest - before.newest) / APART_S if before.newest is not None else 0.0
    if sets <= 0:
        return math.inf
    if now.ring is None or now.written is None or before.written is None:
        return (stopped_at + 1 - now.first) / sets
    bytes_s = max(0.0, (now.written - before.written) / APART_S) + HEADER_BYTES * sets
    return max(0.0, MARGIN * now.ring - (now.newest - stopped_at) * bytes_s / sets) / bytes_s


def _words(seen: _Seen, left_s: float) -> str:
    if seen.state:
        return seen.state
    if not seen.first:
        return "caches nothing"
    lasts = "" if math.isinf(left_s) or left_s == 0.0 else f", needed ones for {left_s:.0f} s more"
    return f"caches from {seen.first} (newest {seen.newest}){lasts}"
