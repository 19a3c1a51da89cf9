"""Conditions about the write-set cache: for how long it keeps what is written, and whom it still serves by IST.

Both by the one rule, services.facts.galera.ist.
"""

from __future__ import annotations

import math
from dataclasses import replace

from services.connections.reads import commands, statements
from services.errors import UserError
from services.facts import reads
from services.facts.galera.ist import Cache, Ist, cache_in, ist_offers, lasts_s
from services.facts.galera.provider_options import option_number, provider_options
from services.facts.galera.state_files import parse_listing
from services.facts.reading import count
from services.facts.replication.write_rate import rates_of
from services.procedures.conditions.galera.data.clean_position import CleanPosition
from services.procedures.looking.asked import number_of
from services.procedures.looking.dead import told_dead
from services.procedures.looking.standing import silent
from services.procedures.plan.condition import Answer, Declared, Number, OfHost, condition
from services.procedures.plan.looks import SQL_LIMIT_S, Asking

SPAN_S = 2.0


@condition("galera.cache-lasts", "the gcache of {host} to last long enough")
class CacheLasts(OfHost):
    """The node's write-set cache keeps what is written for at least so many seconds, at the rate of the last two."""

    seconds: float

    def look(self, asking: Asking) -> Answer:
        """Measure the rate over two seconds, and compare how long the ring lasts at it."""
        host, session = self.host, asking.session(self.host)
        options = provider_options(asking.variable(host, "wsrep_provider_options") or "")
        ring = option_number(options.get("gcache.size", ""))
        began, before = asking.clock.monotonic(), session.query(statements.WRITTEN, limit_s=SQL_LIMIT_S)
        asking.clock.sleep(SPAN_S)
        after, ended = session.query(statements.WRITTEN, limit_s=SQL_LIMIT_S), asking.clock.monotonic()
        rates = rates_of(before, after, ended - began)
        lasts = lasts_s(ring, None if rates is None else rates.bytes_s)
        if lasts is None:
            return Answer(holds=None, evidence=f"how long the cache of {host} lasts could not be read")
        shown = "indefinitely (no writes)" if math.isinf(lasts) else f"{lasts:.0f} s"
        return Answer(lasts >= self.seconds, f"the cache of {host} lasts {shown}; {self.seconds:g} s are required")


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
    def look(self, asking: Asking) -> Answer:
        """Look at the donor's option, at what it caches, and at its page files."""
        host, stopped_at = self.host, number_of(self.stopped_at, asking.past)
        if stopped_at is None:
            return Answer(holds=None, evidence="this run did not store the position to compare with")
        value = provider_options(asking.variable(host, "wsrep_provider_options") or "").get(self.option)
        if value is None:
            return Answer(holds=False, evidence=f"the provider of {host} has no option {self.option}", final=True)
        frozen, cached = option_number(value), cache_in(asking.status(host))
        evidence = f"cache of {host}: frozen at {value if frozen is None else frozen}, cached {_words(cached)}"
        evidence += f"; {_pages(asking, host, self.directory)}; the absent node stopped at {stopped_at}"
        answer = ist_offers(stopped_at, {host: replace(cached, synced=True)})[host].answer
        if frozen is None or (0 <= frozen <= stopped_at and answer is Ist.NOT_KNOWN):
            return Answer(holds=None, evidence=evidence)
        return Answer(0 <= frozen <= stopped_at and answer is Ist.SERVES, evidence)


@condition("galera.cache-reaches", "a donor that still caches the write sets that {host} missed")
class CacheReaches(OfHost):
    """One of `donors` still caches all that `host` missed since it stopped (grastate.dat), so IST can bring it back.

    One that is not Synced is never chosen. For how long the cache still does is no matter of this condition.
    It holds too where `host` is a member already. A position that is not known is not known, never yes.
    """

    datadir: str
    state_uuid: str
    donors: tuple[str, ...]

    def look(self, asking: Asking) -> Answer:
        """Compare where the node stopped with what the members cache; one that is a member already needs nothing."""
        host = self.host
        if _is_member(asking, host):
            return Answer(holds=True, evidence=f"{host} is a member already")
        clean = CleanPosition(host, self.datadir, self.state_uuid, keep="at")
        position = clean.look(asking)
        stopped_at = count(dict(position.kept).get("at", ""))
        if stopped_at is None:
            return Answer(holds=None, evidence=f"the position where {host} stopped is not known: {position.evidence}")
        found = asking.each(self.donors, lambda name: cache_in(asking.status(name)))
        cached = {name: one for name, one in found.items() if isinstance(one, Cache)}
        answers = {one.answer for one in ist_offers(stopped_at, cached).values()}
        evidence = f"{host} stopped at {stopped_at}; " + ", ".join(
            f"{name} {_state(one)}caches {_words(one)}" if isinstance(one, Cache) else silent(name, one)
            for name, one in found.items()
        )
        if Ist.SERVES not in answers and (len(cached) < len(found) or Ist.NOT_KNOWN in answers):
            return Answer(holds=None, evidence=evidence)
        return Answer(Ist.SERVES in answers, evidence)


def _words(cache: Cache) -> str:
    if cache.first is None:
        return "an unknown range"
    return f"from {cache.first} (newest {cache.newest})" if cache.first else "nothing"


def _state(cache: Cache) -> str:
    return "is not Synced, " if cache.synced is False else ""


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
