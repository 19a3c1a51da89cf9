"""A Synced member still caches all that a stopped node's data lack, so that IST can bring it. Read before its start.

Whom, and for how long: the one rule, services.facts.galera.ist. Its rates are measured between two looks: of what is
written, and of how fast the cache purges; but a ring purges in steps, and stands still between them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from services.facts.galera.ist import Cache, Ist, Served, cache_in, ist_offers
from services.facts.galera.provider_options import option_number, provider_options
from services.facts.galera.whole import SYNCED
from services.facts.reading import count
from services.facts.replication.write_rate import HEADER_BYTES, Rates
from services.procedures.looking.asked import number_of
from services.procedures.looking.standing import silent
from services.procedures.plan.condition import Answer, Declared, Number, OfHost, condition
from services.procedures.plan.looks import Asking

APART_S = 1.0
LEAST_LEFT_S = 30.0
"""A start asks for its transfer within seconds; a cache that purges what it needs meanwhile has an SST come."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """What a member says of its cache, and its counter of bytes written; None where it says none.

    `state`: why it is no Synced member of this cluster, '' where it is one. `member`: of its Primary Component.
    """

    cache: Cache
    state: str
    member: bool
    written: int | None = None


@condition("galera.ist-reaches", "a Synced donor that caches all write sets that {host} is missing")
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

    def look(self, asking: Asking) -> Answer:
        """Read each member twice, a second apart: where its cache begins, and how fast that beginning moves."""
        stopped_at = number_of(self.stopped_at, asking.past)
        if stopped_at is None:
            return Answer(holds=None, evidence=f"this run did not store the position of the data of {self.host}")

        def seen(name: str) -> _Seen:
            return _seen(asking, name, self.state_uuid)

        first = asking.each(self.donors, seen)
        asking.clock.sleep(APART_S)
        found = asking.each(self.donors, seen)
        seen_now = {n: now for n, now in found.items() if isinstance(now, _Seen) and now.member}
        caches = {n: _measured(first.get(n), now) for n, now in seen_now.items()}
        answers, told, able, unheard = ist_offers(stopped_at, caches), [], [], False
        for name, now in found.items():
            if not isinstance(now, _Seen):
                told.append(silent(name, now))
                unheard = True
                continue
            one = answers.get(name, Served(Ist.NOT_SYNCED))
            told.append(f"{name} {_words(now, one)}")
            if one.serves and one.left_s is not None and one.left_s >= LEAST_LEFT_S:
                able.append(name)
            unheard = unheard or one.left_s is None
        evidence = f"the data of {self.host} are at {stopped_at}; {', '.join(told)}"
        return Answer(holds=True if able else None if unheard else False, evidence=evidence)


def _seen(asking: Asking, name: str, state_uuid: str) -> _Seen:
    status = asking.status(name)
    state, member = "", True
    if status.get("wsrep_cluster_status") != "Primary":
        state, member = "is not Primary", False
    elif status.get("wsrep_cluster_state_uuid", "").lower() != state_uuid.lower():
        state, member = "belongs to another cluster", False
    elif count(status.get("wsrep_local_state", "")) != SYNCED:
        state = f"is {status.get('wsrep_local_state_comment', 'of unknown state')}, not Synced"
    written = [count(status.get(f"wsrep_{way}_bytes", "")) for way in ("replicated", "received")]
    options = provider_options(asking.variable(name, "wsrep_provider_options") or "")
    ring = option_number(options.get("gcache.size", "")) or None
    cache = replace(cache_in(status), synced=state == "", ring=ring)
    return _Seen(cache, state, member, None if None in written else sum(one or 0 for one in written))


def _measured(before: object, now: _Seen) -> Cache:
    """Return a member's cache with what two looks tell of its pace; as it was told where there was no first one."""
    if not isinstance(before, _Seen) or before.cache.newest is None or now.cache.newest is None:
        return now.cache
    sets_s = max(0.0, (now.cache.newest - before.cache.newest) / APART_S)
    known = before.written is not None and now.written is not None
    grown = (now.written or 0) - (before.written or 0) if known else 0
    rates = Rates(max(0.0, grown / APART_S) + HEADER_BYTES * sets_s, sets_s, APART_S)
    purged = None
    if before.cache.first and now.cache.first:
        purged = max(0.0, (now.cache.first - before.cache.first) / APART_S)
    return replace(now.cache, rates=rates, ring=now.cache.ring if known else None, purged_s=purged)


def _words(seen: _Seen, one: Served) -> str:
    cache = seen.cache
    if seen.state:
        return seen.state
    if not cache.first:
        return "caches nothing" if cache.first == 0 else "reports no cached range"
    lasts = ""
    if one.left_s is None:
        lasts = ", for an unknown time"
    elif one.left_s and not math.isinf(one.left_s):
        lasts = f", needed ones for {one.left_s:.0f} s more"
    return f"caches from {cache.first} (newest {cache.newest}){lasts}"
