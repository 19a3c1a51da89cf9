"""The checks that only freeze-gcache has: can the donor freeze, is there disk for it, is it needed, is it frozen."""

from __future__ import annotations

import math
import posixpath
import shlex
from dataclasses import replace

from services.facts.galera.ist import Cache as Kept
from services.facts.galera.ist import Ist, ist_offers
from services.procedures.catalogue.checks.parts import unread
from services.procedures.catalogue.galera.freeze_gcache.guard import AFTER_S
from services.procedures.catalogue.galera.shared.cache_arithmetic import (
    OPTION,
    Cache,
    alternative,
    cache_folder,
    cache_of,
    disk_needed,
    is_frozen,
    reach_covers,
    seqno_proposed,
)
from services.procedures.plan.checks import Check, Remedy, Verdict
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.parts.galera.gcache import Gcache
from services.procedures.plan.parts.galera.write_rate import WriteRate
from services.procedures.plan.parts.server.root_login import RootLogin

RELEASE_MODE = "release"
"""The answer that only ends a freeze."""


def capability(facts: Facts, donor: str, node: str, away_s: float) -> Check:
    """The option itself is looked for: a version text proves nothing."""
    cache = cache_of(facts.host(donor))
    galera = facts.host(donor).node.galera if facts.host(donor).node is not None else None  # type: ignore[union-attr]
    vendor = f"{galera.provider_vendor} {galera.provider_version}".strip() if galera is not None else "not read"
    able = cache.frozen_at is not None
    return Check(
        code="FREEZE-CAPABILITY",
        title=f"The provider of {donor} can freeze its cache",
        verdict=Verdict.PASS if able else Verdict.BLOCK,
        evidence=f"{OPTION} = {cache.frozen_at} on {donor}" if able else f"{donor} has no {OPTION}; provider: {vendor}",
        why="Only Percona's provider has the option; any other answers the SET with an error.",
        try_=() if able else alternative(facts, node, away_s),
        host=donor,
        absolute=True,  # nothing to override: the statement would fail
    )


def frozen_already(facts: Facts, donor: str) -> Check:
    """Somebody else's freeze would be released by ours."""
    value = cache_of(facts.host(donor)).frozen_at
    free = value in {None, "-1"}
    return Check(
        code="FREEZE-SEEN",
        title=f"Nobody has frozen the cache of {donor}",
        verdict=Verdict.PASS if free else Verdict.BLOCK,
        evidence=f"{OPTION} = {value}" if value is not None else "no such option",
        why="Our release at the end would end somebody else's freeze too, and their node would need an SST.",
        try_=() if free else ("Ask who froze it.",),
        answers=() if free else (Remedy("This procedure itself can end it", "mode", (RELEASE_MODE,)),),
        host=donor,
    )


def left_frozen(facts: Facts, donor: str) -> Check:
    """A freeze that is to be ended may still be wanted by whoever began it."""
    on = is_frozen(facts, donor)
    return Check(
        code="FREEZE-SEEN",
        title=f"Nobody needs the freeze of {donor} any more",
        verdict=Verdict.WARN if on else Verdict.PASS,
        evidence=f"{OPTION} = {cache_of(facts.host(donor)).frozen_at} on {donor}",
        why="A node that is away for its sake would need an SST.",
        try_=("Ask who froze it, and whether a node is still away.",) if on else (),
        host=donor,
    )


def disk(facts: Facts, donor: str, away_s: float, floor: int, peak: int = 0, *, guard: bool = True) -> Check:
    """The frozen cache must fit above the floor. Told too: what the longest freeze that the guard allows would take.

    Args:
        peak: bytes/s that the person reckons with, where that is more than what was measured in two seconds.
        guard: a guard on the donor ends the freeze at the floor, or when its time is over.
    """
    host = facts.host(donor)
    measured, rates = cache_of(host), host[WriteRate].rates
    cache = replace(measured, bytes_s=max(measured.bytes_s or 0.0, float(peak)) if peak else measured.bytes_s)
    need = disk_needed(cache, away_s)
    source = (
        "by your word"
        if peak > (measured.bytes_s or 0.0)
        else f"over {rates.over_s:.0f} s"
        if rates is not None
        else "not measured"
    )
    if need is None or cache.free is None:
        verdict, evidence = Verdict.BLOCK, f"the write rate or the free disk of {donor} could not be read"
    else:
        verdict = Verdict.PASS if cache.free - need >= floor else Verdict.BLOCK
        evidence = (
            f"{_gb(cache.free)} free at {cache_folder(host)} - {_gb(need)} needed "
            f"({(cache.bytes_s or 0) / 1e3:.1f} kB/s {source} * {away_s:g} s * 1.5 + "
            f"2 pages of {_gb(cache.page)}) = {_gb(cache.free - need)}, floor {_gb(floor)}; "
            f"{_allowed(cache, away_s, floor, guard=guard)}"
        )
    return Check(
        code="FREEZE-DISK",
        title=f"{donor} has disk for the cache while it is frozen",
        verdict=verdict,
        evidence=evidence,
        why="A full data disk takes the donor down.",
        try_=() if verdict is Verdict.PASS else ("Take another donor, a shorter absence, or make room.",),
        host=donor,
    )


def _allowed(cache: Cache, away_s: float, floor: int, *, guard: bool) -> str:
    """Return what the freeze may take at most if nobody comes back to end it."""
    if not guard:
        return "without a guard nothing ends it if this console does not: it may fill the disk"
    longest = disk_needed(cache, away_s + AFTER_S) or 0
    room = max(0, (cache.free or 0) - floor)
    told = f"the guard allows it for {(away_s + AFTER_S) / 60:.0f} min, up to {_gb(longest)}"
    return f"{told}, but ends it at the floor, {_gb(room)} from here" if longest > room else told


def guard_login(facts: Facts, donor: str, *, guard: bool) -> Check:
    """The guard runs as root of the host and has no password: root must get in at the server so."""
    login = facts.host(donor)[RootLogin]
    if not guard:
        verdict, evidence = Verdict.WARN, "you chose no guard: if this console ends, only a person ends the freeze"
    elif login.works is None:
        verdict, evidence = Verdict.WARN, f"not known: it could not be tried on {donor} before; the first step tries it"
    elif login.works:
        verdict, evidence = Verdict.PASS, f"tried: mysql -e 'SELECT 1' as root of {donor}"
    else:
        verdict, evidence = Verdict.BLOCK, f"tried on {donor}: {login.said or 'it was refused'}"
    advice = (
        f"Give root@localhost of {donor} a login by socket (unix_socket, auth_socket), or a password in /root/.my.cnf.",
    )
    return Check(
        code="GUARD-LOGIN",
        title=f"The guard on {donor} can log in at its server",
        verdict=verdict,
        evidence=evidence,
        why="A guard that can't log in never releases the cache: the donor's disk would fill.",
        try_=advice if verdict is Verdict.BLOCK else (),
        answers=(
            Remedy("Go without the guard: then nothing releases the cache if this console ends", "guard", ("no",)),
        )
        if verdict is Verdict.BLOCK
        else (),
        not_known=guard and login.works is None,
        host=donor,
        absolute=verdict is Verdict.BLOCK,  # nothing to override: the first step would fail
    )


def needed(facts: Facts, donor: str, node: str, away_s: float) -> Check:
    """Say so when the cache would last anyway."""
    cache = cache_of(facts.host(donor))
    covers = reach_covers(cache, away_s)
    reach = cache.reach_s
    shown = "not known" if reach is None else "no end (nothing is written)" if math.isinf(reach) else f"{reach:.0f} s"
    return Check(
        code="FREEZE-NEEDED",
        title="A freeze is needed",
        verdict=Verdict.WARN if covers or reach is None else Verdict.PASS,
        not_known=reach is None,
        evidence=(
            f"the cache of {donor} ({_ring(cache)}) reaches {shown} at today's rate; {node} will be away {away_s:.0f} s"
        ),
        why="Where the cache lasts more than twice the absence, the node returns by IST without a freeze.",
        try_=(f"You may leave the freeze out: stop {node}, do the work, and bring it back with add-node.",)
        if covers
        else (),
        host=donor,
    )


def _ring(cache: Cache) -> str:
    size = "gcache.size not known" if cache.size is None else f"gcache.size {_gb(cache.size)}"
    return f"{size}, seqnos {cache.downto} to {cache.last}"


def stale_pages(facts: Facts, donor: str) -> Check:
    """Pages older than the server are left-overs of an earlier freeze."""
    host = facts.host(donor)
    known = host[Gcache].pages
    pages = known or ()
    server = host.node.server if host.node is not None else None
    started = server.started_at if server is not None else None
    stale = tuple(name for name, _, changed in pages if started is not None and changed < started)
    blind = [unread(host, "the page files", "gcache", "datadir", "ssh")] if known is None else []
    if started is None and pages:
        blind.append(f"when the server of {donor} was started is not known; it has pages")
    size = sum(size for name, size, _ in pages if name in stale)
    paths = " ".join(shlex.quote(posixpath.join(cache_folder(host), name)) for name in stale)
    there = f"{len(pages)} page files, {_gb(sum(s for _, s, _ in pages))}"
    told = f"{', '.join(stale)} ({_gb(size)})" if stale else f"{there}; none older than the server's start"
    return Check(
        code="STALE-PAGES",
        title=f"No dead gcache pages on {donor}",
        verdict=Verdict.WARN if stale or blind else Verdict.PASS,
        not_known=bool(blind),
        evidence="; ".join(blind) or told,
        why="Pages from before the server's start are never read again and only take disk.",
        try_=(f"When the cache is released again: sudo rm {paths}",) if stale else (),
        host=donor,
    )


def segments(facts: Facts, donor: str, node: str) -> Check:
    """A donor in the node's own segment is preferred by Galera."""
    pair = tuple(_segment(facts, name) for name in (donor, node))
    same = pair[0] == pair[1] and None not in pair
    return Check(
        code="SEGMENT",
        title=f"{donor} and {node} are in one segment",
        verdict=Verdict.PASS if same else Verdict.WARN,
        evidence=", ".join(
            f"{name}: {'not known' if segment is None else segment}"
            for name, segment in zip((donor, node), pair, strict=True)
        ),
        why="Galera prefers a donor of the joiner's own segment, whatever is frozen elsewhere.",
        try_=() if same else (f"Take a donor of {node}'s segment.",),
    )


def donor_stays(donor: str, away_s: float, *, promised: bool) -> Check:
    """A restart of the donor ends the freeze silently."""
    return Check(
        code="DONOR-STAYS",
        title=f"{donor} will not be restarted meanwhile",
        verdict=Verdict.PASS if promised else Verdict.BLOCK,
        evidence=f"you {'said so' if promised else 'did not say so'}, for {away_s / 60:.0f} min",
        why="A restart sets the option back to -1 and loses every page: the node would need an SST.",
        try_=() if promised else ("Say yes to 'The donor stays up'.",),
        host=donor,
    )


def seqno_in_cache(facts: Facts, donor: str, mode: str, seqno: int | None, away_s: float) -> Check:
    """Show the arithmetic and refuse a seqno that is not in the cache."""
    cache: Cache = cache_of(facts.host(donor))
    short = _short(cache, away_s)
    if mode == "now":
        verdict = Verdict.WARN if short else Verdict.PASS
        evidence = f"now: the oldest seqno present, {cache.downto}, everything is kept{short}"
    else:
        proposal = seqno_proposed(cache, cache.last or 0, away_s)
        inside = (
            seqno is not None and cache.downto is not None and cache.last is not None
            and cache.downto <= seqno <= cache.last
        )  # fmt: skip
        verdict = Verdict.PASS if inside else Verdict.BLOCK
        arithmetic = proposal[1] if proposal is not None else "the cached range is not known"
        evidence = f"{seqno} of c = {cache.downto} ... L = {cache.last}; proposed: {arithmetic}"
    return Check(
        code="FREEZE-SEQNO",
        title="The seqno to freeze at is in the cache",
        verdict=verdict,
        evidence=evidence,
        why=(
            "A seqno that is not in the cache is refused with a misleading message. A donor is chosen for IST only "
            "where the node stopped above the oldest 1/128 of what is cached."
        ),
        try_=()
        if verdict is Verdict.PASS
        else ("Take 'now', or the proposed seqno.",)
        if verdict is Verdict.BLOCK
        else ("Take a donor that caches more, or a shorter absence.",),
        host=donor,
        absolute=verdict is Verdict.BLOCK,
    )


def _short(cache: Cache, away_s: float) -> str:
    """Return why even a whole frozen cache would not serve the node at its return; '' where it would, or can't tell."""
    if not cache.downto or cache.last is None or cache.seqno_s is None:
        return ""
    end = cache.last + math.ceil(cache.seqno_s * away_s)
    then = ist_offers(cache.last, {cache.host: Kept(cache.downto, end)})[cache.host]
    if then.answer is not Ist.GAP:
        return ""
    told = f"IST asks for a stop at {then.gap} or later"
    return f"; too little: near seqno {end}, at the return, {told}; L is {cache.last}"


def _segment(facts: Facts, name: str) -> int | None:
    node = facts.host(name).node
    return node.galera.segment if node is not None and node.galera is not None else None


def _gb(number: int) -> str:
    return f"{number / 1e9:.2f} GB"
