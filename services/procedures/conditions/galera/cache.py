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
from services.facts.provider_options import option_number, provider_options
from services.facts.reading import count
from services.facts.state_files import parse_listing
from services.facts.write_rate import rates_of
from services.procedures.conditions.galera.clean_position import CleanPosition
from services.procedures.looking.asked import number_of
from services.procedures.looking.dead import told_dead
from services.procedures.looking.standing import silent
from services.procedures.plan.condition import Answer, Declared, Number, OfHost, condition
from services.procedures.plan.looks import SQL_LIMIT_S, Asking, Past
from services.sampling.ist_reach import MARGIN, safe_gap

SPAN_S = 2.0


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


@condition("galera.cache-lasts", "the gcache of {host} to last long enough")
class CacheLasts(OfHost):
    """The node's write-set cache keeps what is written for at least so many seconds, at the rate of the last two."""

    seconds: float

    def look(self, asking: Asking, past: Past) -> Answer:
        """Measure the rate over two seconds, and compare how long the ring lasts at it."""
        del past
        host, session = self.host, asking.session(self.host)
        options = provider_options(asking.variable(host, "wsrep_provider_options") or "")
        ring = option_number(options.get("gcache.size", ""))
        began, before = asking.clock.monotonic(), session.query(statements.WRITTEN, limit_s=SQL_LIMIT_S)
        asking.clock.sleep(SPAN_S)
        after, ended = session.query(statements.WRITTEN, limit_s=SQL_LIMIT_S), asking.clock.monotonic()
        rates = rates_of(before, after, ended - began)
        if ring is None or rates is None:
            return Answer(holds=None, evidence=f"how long the cache of {host} lasts could not be read")
        lasts = math.inf if rates.bytes_s <= 0 else MARGIN * ring / rates.bytes_s
        shown = "without end (nothing is written)" if math.isinf(lasts) else f"{lasts:.0f} s"
        return Answer(lasts >= self.seconds, f"the cache of {host} lasts {shown}; {self.seconds:g} s are wanted")


@condition("galera.cache-frozen", "the frozen gcache of {host}")
class CacheFrozen(OfHost):
    """The donor's frozen cache still serves a node that stopped at a seqno by IST.

    The option's value is 0 or more and at most `stopped_at` (a colleague may set another one), and the donor caches
    what follows, with the safety gap of the donor selection. The evidence tells the cache: frozen at, first cached,
    newest, page files of `directory`.
    """

    option: str
    stopped_at: Number
    directory: str

    def declared(self) -> Declared:
        """See Condition."""
        return Declared(frozenset({self.host}))

    @told_dead
    def look(self, asking: Asking, past: Past) -> Answer:
        """Look at the donor's option, at what it caches, and at its page files."""
        host, stopped_at = self.host, number_of(self.stopped_at, past)
        if stopped_at is None:
            return Answer(holds=None, evidence="the position to compare with was not kept by this run")
        value = provider_options(asking.variable(host, "wsrep_provider_options") or "").get(self.option)
        if value is None:
            return Answer(holds=False, evidence=f"the provider of {host} has no option {self.option}", final=True)
        frozen, cached = option_number(value), _cached(asking, host)
        told = f"cache of {host}: frozen at {value if frozen is None else frozen}, cached {cached}"
        told += f"; {_pages(asking, host, self.directory)}; the node that is away stopped at {stopped_at}"
        if frozen is None or cached.newest is None:
            return Answer(holds=None, evidence=told)
        serves = cached.first is not None and cached.serves(stopped_at, cached.first)
        return Answer(0 <= frozen <= stopped_at and serves, told)


@condition("galera.cache-reaches", "a donor that still caches what {host} missed")
class CacheReaches(OfHost):
    """One of `donors` still caches all that `host` missed since it stopped (grastate.dat), so IST can bring it back.

    It holds too where `host` is a member already. A position that is not known is not known, never yes.
    """

    datadir: str
    state_uuid: str
    donors: tuple[str, ...]

    def look(self, asking: Asking, past: Past) -> Answer:
        """Compare where the node stopped with what the members cache; one that is a member already needs nothing."""
        host = self.host
        if _is_member(asking, host):
            return Answer(holds=True, evidence=f"{host} is a member already")
        clean = CleanPosition(host, self.datadir, self.state_uuid, keep="at")
        position = clean.look(asking, past)
        stopped_at = count(dict(position.kept).get("at", ""))
        if stopped_at is None:
            return Answer(holds=None, evidence=f"where {host} stopped is not known: {position.evidence}")
        found = asking.each(self.donors, lambda name: _cached(asking, name))
        cached = {name: one for name, one in found.items() if isinstance(one, Cached)}
        firsts = [one.first for one in cached.values() if one.first is not None]
        able = [name for name, one in cached.items() if firsts and one.serves(stopped_at, min(firsts))]
        told = f"{host} stopped at {stopped_at}; " + ", ".join(
            f"{name} caches {one}" if isinstance(one, Cached) else silent(name, one) for name, one in found.items()
        )
        if not able and len(cached) < len(found):
            return Answer(holds=None, evidence=told)
        return Answer(bool(able), told)


def _cached(asking: Asking, host: str) -> Cached:
    status = asking.status(host)
    first = count(status.get("wsrep_local_cached_downto", ""))
    return Cached(first or None, count(status.get("wsrep_last_committed", "")))


def _pages(asking: Asking, host: str, directory: str) -> str:
    """Return the page files of the cache, in words."""
    listing = asking.run(host, commands.LISTED_AT.read(reads.clean(directory), sudo=True))
    if listing.exit_code:
        return f"its page files in {directory} could not be read"
    pages = parse_listing(listing.text).pages
    return f"{len(pages)} page files, {sum(size for _, size, _ in pages) / 1e9:.2f} GB, in {directory}"


def _is_member(asking: Asking, host: str) -> bool:
    try:
        return asking.status(host).get("wsrep_cluster_status") == "Primary"
    except UserError:
        return False
