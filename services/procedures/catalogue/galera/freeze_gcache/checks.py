"""The checks that only freeze-gcache has: can the donor freeze, is there disk for it, is it needed, is it frozen."""

from __future__ import annotations

import math
import posixpath
import shlex
from dataclasses import replace

from services.facts.galera.ist import Cache as Kept
from services.facts.galera.ist import Ist, ist_offers
from services.procedures.catalogue.checks.parts import checked, unread
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
    return checked(
        "FREEZE-CAPABILITY",
        f"The provider of {donor} can freeze its cache",
        block=[] if able else [f"{donor} has no {OPTION}; provider: {vendor}"],
        good=f"{OPTION} = {cache.frozen_at} on {donor}",
        why="Only Percona's provider has the option; other providers reject the SET statement.",
        try_=alternative(facts, node, away_s),
        host=donor,
        absolute=True,  # nothing to override: the statement would fail
    )


def frozen_already(facts: Facts, donor: str) -> Check:
    """Somebody else's freeze would be released by ours."""
    value = cache_of(facts.host(donor)).frozen_at
    free = value in {None, "-1"}
    return checked(
        "FREEZE-SEEN",
        f"The cache of {donor} is not frozen",
        block=not free,
        evidence=f"{OPTION} = {value}" if value is not None else "no such option",
        why="The release at the end of this run would also end another person's freeze, and their node would need an "
        "SST.",
        try_=("Find out who froze it.",),
        answers=(Remedy("Let this procedure end the freeze", "mode", (RELEASE_MODE,)),),
        host=donor,
    )


def left_frozen(facts: Facts, donor: str) -> Check:
    """A freeze that is to be ended may still be wanted by whoever began it."""
    on = is_frozen(facts, donor)
    return checked(
        "FREEZE-SEEN",
        f"The freeze of {donor} is no longer needed",
        warn=on,
        evidence=f"{OPTION} = {cache_of(facts.host(donor)).frozen_at} on {donor}",
        why="A node that relies on it would need an SST.",
        try_=("Find out who froze it, and whether a node is still down.",),
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
        "as you entered"
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
        title=f"{donor} has disk space for the frozen cache",
        verdict=verdict,
        evidence=evidence,
        why="A full data disk makes the donor fail.",
        try_=() if verdict is Verdict.PASS else ("Choose another donor or a shorter absence, or free disk space.",),
        host=donor,
    )


def _allowed(cache: Cache, away_s: float, floor: int, *, guard: bool) -> str:
    """Return what the freeze may take at most if nobody comes back to end it."""
    if not guard:
        return "without a guard only this console ends the freeze: it may fill the disk"
    longest = disk_needed(cache, away_s + AFTER_S) or 0
    room = max(0, (cache.free or 0) - floor)
    allowed = f"the guard allows the freeze for {(away_s + AFTER_S) / 60:.0f} min, up to {_gb(longest)}"
    return f"{allowed}, but ends it at the floor, after {_gb(room)}" if longest > room else allowed


def guard_login(facts: Facts, donor: str, *, guard: bool) -> Check:
    """The guard runs as root of the host and has no password: root must get in at the server so."""
    login = facts.host(donor)[RootLogin]
    if not guard:
        verdict, evidence = Verdict.WARN, "you chose no guard: if this console fails, you must end the freeze yourself"
    elif login.works is None:
        verdict, evidence = Verdict.WARN, f"not known: it could not be tested on {donor}; the first step tests it"
    elif login.works:
        verdict, evidence = Verdict.PASS, f"tested: mysql -e 'SELECT 1' as root of {donor}"
    else:
        verdict, evidence = Verdict.BLOCK, f"tested on {donor}: {login.said or 'it was refused'}"
    advice = (
        f"Let root@localhost of {donor} log in by unix_socket or auth_socket, or put its password in /root/.my.cnf.",
    )
    return Check(
        code="GUARD-LOGIN",
        title=f"The guard on {donor} can log in to its server",
        verdict=verdict,
        evidence=evidence,
        why="A guard that cannot log in never releases the cache, and the donor's disk fills.",
        try_=advice if verdict is Verdict.BLOCK else (),
        answers=(
            Remedy("Do without the guard: then nothing releases the cache if this console fails", "guard", ("no",)),
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
    shown = (
        "not known" if reach is None else "indefinitely (nothing is written)" if math.isinf(reach) else f"{reach:.0f} s"
    )
    return Check(
        code="FREEZE-NEEDED",
        title="A freeze is needed",
        verdict=Verdict.WARN if covers or reach is None else Verdict.PASS,
        not_known=reach is None,
        evidence=(
            f"the cache of {donor} ({_ring(cache)}) lasts {shown} at the current rate; {node} will be away "
            f"{away_s:.0f} s"
        ),
        why="If the cache lasts more than twice the absence, the node returns by IST without a freeze.",
        try_=(f"You can omit the freeze: stop {node}, do the work, and bring it back with add-node.",)
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
        blind.append(f"the start time of the server on {donor} is not known, and it has page files")
    size = sum(size for name, size, _ in pages if name in stale)
    paths = " ".join(shlex.quote(posixpath.join(cache_folder(host), name)) for name in stale)
    there = f"{len(pages)} page files, {_gb(sum(s for _, s, _ in pages))}"
    evidence = f"{', '.join(stale)} ({_gb(size)})" if stale else f"{there}; none older than the server's start"
    return Check(
        code="STALE-PAGES",
        title=f"No unused gcache pages on {donor}",
        verdict=Verdict.WARN if stale or blind else Verdict.PASS,
        not_known=bool(blind),
        evidence="; ".join(blind) or evidence,
        why="Pages older than the server's start are never read again and only occupy disk space.",
        try_=(f"After the cache is released: sudo rm {paths}",) if stale else (),
        host=donor,
    )


def segments(facts: Facts, donor: str, node: str) -> Check:
    """A donor in the node's own segment is preferred by Galera."""
    pair = tuple(_segment(facts, name) for name in (donor, node))
    same = pair[0] == pair[1] and None not in pair
    return checked(
        "SEGMENT",
        f"{donor} and {node} are in one segment",
        warn=not same,
        evidence=", ".join(
            f"{name}: {'not known' if segment is None else segment}"
            for name, segment in zip((donor, node), pair, strict=True)
        ),
        why="Galera prefers a donor in the joiner's segment, regardless of a freeze elsewhere.",
        try_=(f"Choose a donor in the segment of {node}.",),
    )


def donor_stays(donor: str, away_s: float, *, promised: bool) -> Check:
    """A restart of the donor ends the freeze silently."""
    return checked(
        "DONOR-STAYS",
        f"{donor} will not be restarted during the freeze",
        block=not promised,
        evidence=f"you {'confirmed' if promised else 'did not confirm'} this for {away_s / 60:.0f} min",
        why="A restart sets the option back to -1 and loses every page: the node would need an SST.",
        try_=("Answer yes to 'The donor stays up'.",),
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
            "if the node stopped above the oldest 1/128 of the cached write sets."
        ),
        try_=()
        if verdict is Verdict.PASS
        else ("Choose 'now' or the proposed seqno.",)
        if verdict is Verdict.BLOCK
        else ("Choose a donor that caches more, or a shorter absence.",),
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
    required = f"IST requires a stop at {then.gap} or later"
    return f"; not enough: at the return, near seqno {end}, {required}; L is {cache.last}"


def _segment(facts: Facts, name: str) -> int | None:
    node = facts.host(name).node
    return node.galera.segment if node is not None and node.galera is not None else None


def _gb(number: int) -> str:
    return f"{number / 1e9:.2f} GB"
