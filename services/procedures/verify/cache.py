"""Conditions about the write-set cache: for how long it keeps what is written, and whom it still serves by IST.

Whom: services.sampling.ist_reach, method 3 (Galera source gcs_group.cpp, group_find_ist_donor: a node that stopped at S
is served from c <= S + 1, and only where S >= m + min((L - m) / 128, 2**20), m the lowest c of the members).

For how long: method 2 of services.sampling.ist_reach: gcache.size by the rate, a margin taken off. How much the ring
holds now does not matter: the node that goes down needs what is written after it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from services.connections.reads import commands, statements
from services.errors import UserError
from services.facts import reads
from services.facts.provider_options import provider_options
from services.facts.reading import count, size, sized
from services.procedures.engine.ports import Past
from services.procedures.gather.server import rates_of
from services.procedures.gather.state_files import parse_listing
from services.procedures.plan.conditions import Answer, CacheFrozen, CacheLasts, CacheReaches, CleanPosition
from services.procedures.verify.asking import SQL_LIMIT_S, Asking, number_of
from services.procedures.verify.files import clean_position
from services.procedures.verify.server import told_dead
from services.procedures.verify.standing import silent
from services.sampling.ist_reach import MARGIN, safe_gap

SPAN_S = 2.0


def cache_lasts(condition: CacheLasts, asking: Asking, past: Past) -> Answer:
    """Measure the rate over two seconds, and compare how long the ring lasts at it."""
    del past
    host, session = condition.host, asking.session(condition.host)
    options = provider_options(asking.variable(host, "wsrep_provider_options") or "")
    ring = size(options.get("gcache.size", ""))
    began, before = asking.clock.monotonic(), session.query(statements.WRITTEN, limit_s=SQL_LIMIT_S)
    asking.clock.sleep(SPAN_S)
    after, ended = session.query(statements.WRITTEN, limit_s=SQL_LIMIT_S), asking.clock.monotonic()
    rates = rates_of(before, after, ended - began)
    if ring is None or rates is None:
        return Answer(holds=None, evidence=f"how long the cache of {host} lasts could not be read")
    lasts = math.inf if rates.bytes_s <= 0 else MARGIN * ring / rates.bytes_s
    shown = "without end (nothing is written)" if math.isinf(lasts) else f"{lasts:.0f} s"
    return Answer(lasts >= condition.seconds, f"the cache of {host} lasts {shown}; {condition.seconds:g} s are wanted")


@dataclass(frozen=True, slots=True)
class Cached:
    """What one member caches: the first and the newest seqno; None where it caches nothing or does not say."""

    first: int | None
    newest: int | None

    def serves(self, stopped_at: int, lowest: int) -> bool:
        """Return whether a node that stopped there would be served by IST; `lowest`: of all members' first seqnos."""
        if self.first is None or self.newest is None:
            return False
        return self.first <= stopped_at + 1 and stopped_at >= safe_gap(lowest, self.newest)

    def __str__(self) -> str:
        return "nothing" if self.first is None else f"from {self.first} (newest {self.newest})"


def _cached(asking: Asking, host: str) -> Cached:
    status = asking.status(host)
    first = count(status.get("wsrep_local_cached_downto", ""))
    return Cached(first or None, count(status.get("wsrep_last_committed", "")))


@told_dead
def cache_frozen(condition: CacheFrozen, asking: Asking, past: Past) -> Answer:
    """Look at the donor's option, at what it caches, and at its page files."""
    host, stopped_at = condition.host, number_of(condition.stopped_at, past)
    if stopped_at is None:
        return Answer(holds=None, evidence="the position to compare with was not kept by this run")
    value = provider_options(asking.variable(host, "wsrep_provider_options") or "").get(condition.option)
    if value is None:
        return Answer(holds=False, evidence=f"the provider of {host} has no option {condition.option}", final=True)
    frozen, cached = sized(value), _cached(asking, host)
    told = f"cache of {host}: frozen at {value if frozen is None else frozen}, cached {cached}"
    told += f"; {_pages(asking, host, condition.directory)}; the node that is away stopped at {stopped_at}"
    if frozen is None or cached.newest is None:
        return Answer(holds=None, evidence=told)
    serves = cached.first is not None and cached.serves(stopped_at, cached.first)
    return Answer(0 <= frozen <= stopped_at and serves, told)


def _pages(asking: Asking, host: str, directory: str) -> str:
    """Return the page files of the cache, in words."""
    listing = asking.run(host, commands.LISTED_AT.read(reads.clean(directory), sudo=True))
    if listing.exit_code:
        return f"its page files in {directory} could not be read"
    pages = parse_listing(listing.text).pages
    return f"{len(pages)} page files, {sum(size for _, size, _ in pages) / 1e9:.2f} GB, in {directory}"


def cache_reaches(condition: CacheReaches, asking: Asking, past: Past) -> Answer:
    """Compare where the node stopped with what the members cache; one that is a member already needs nothing."""
    host = condition.host
    if _is_member(asking, host):
        return Answer(holds=True, evidence=f"{host} is a member already")
    clean = CleanPosition(host, condition.datadir, condition.state_uuid, keep="at")
    position = clean_position(clean, asking, past)
    stopped_at = count(dict(position.kept).get("at", ""))
    if stopped_at is None:
        return Answer(holds=None, evidence=f"where {host} stopped is not known: {position.evidence}")
    found = asking.each(condition.donors, lambda name: _cached(asking, name))
    cached = {name: one for name, one in found.items() if isinstance(one, Cached)}
    firsts = [one.first for one in cached.values() if one.first is not None]
    able = [name for name, one in cached.items() if firsts and one.serves(stopped_at, min(firsts))]
    told = f"{host} stopped at {stopped_at}; " + ", ".join(
        f"{name} caches {one}" if isinstance(one, Cached) else silent(name, one) for name, one in found.items()
    )
    if not able and len(cached) < len(found):
        return Answer(holds=None, evidence=told)
    return Answer(bool(able), told)


def _is_member(asking: Asking, host: str) -> bool:
    try:
        return asking.status(host).get("wsrep_cluster_status") == "Primary"
    except UserError:
        return False
