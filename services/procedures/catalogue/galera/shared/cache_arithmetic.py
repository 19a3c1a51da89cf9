"""The numbers of freeze-gcache: which seqno to freeze at, how much disk the frozen cache may take, is it needed at all.

Sources: Percona XtraDB Cluster manual, "gcache.freeze_purge_at_seqno" (values -1, now, a seqno in the cache); Galera
source gcs_group.cpp (the donor selection's safety gap of 1/128 of the cached range, at most 2**20 write sets).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from services.facts.galera.ist import GAP_MOST, GAP_SHARE, MARGIN, lasts_s
from services.facts.reading import sized
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.parts.galera.data_folder import DataFolder
from services.procedures.plan.parts.galera.gcache import Gcache
from services.procedures.plan.parts.galera.provider import Provider
from services.procedures.plan.parts.galera.write_rate import WriteRate
from services.sampling.ist_reach import Rate, gcache_needed

OPTION = "gcache.freeze_purge_at_seqno"
LEAST_GAP = 1_000
PAGE_DEFAULT = 128 * 2**20
DISK_SHARE = 1.5
FLOOR_SHARE, FLOOR_LEAST = 0.2, 10 * 2**30
ENOUGH = 2.0


@dataclass(frozen=True, slots=True)
class Cache:
    """One node's write-set cache: oldest cached and newest seqno, ring and page sizes in bytes, rates, free disk."""

    host: str
    downto: int | None
    last: int | None
    size: int | None
    page: int
    bytes_s: float | None
    seqno_s: float | None
    free: int | None
    disk: int | None
    frozen_at: str | None  # the option's number, "-1" for none, None where the provider has no such option

    @property
    def reach_s(self) -> float | None:
        """Return for how long the ring keeps what is written from now on, at today's rate; infinity without writes.

        The range cached now says less: in a ring that is not full yet it is short, however large the ring.
        """
        return lasts_s(self.size, self.bytes_s) if self.downto else None


def cache_of(host: HostFacts) -> Cache:
    """Read a node's cache out of its facts."""
    galera = host.node.galera if host.node is not None else None
    gcache, rates = host[Gcache], host[WriteRate].rates
    return Cache(
        host=host.host,
        downto=galera.cached_downto if galera is not None else None,
        last=galera.last_committed if galera is not None else None,
        size=galera.gcache_size if galera is not None else None,
        page=gcache.page_size or PAGE_DEFAULT,
        bytes_s=rates.bytes_s if rates is not None else None,
        seqno_s=rates.seqno_s if rates is not None else None,
        free=gcache.disk.free,
        disk=gcache.disk.size,
        frozen_at=_plain(host[Provider].option(OPTION)),
    )


def cache_folder(host: HostFacts) -> str:
    """Return the folder whose volume a frozen cache fills: gcache.dir."""
    return host[Gcache].folder or host[DataFolder].path or "/var/lib/mysql"


def _plain(value: str | None) -> str | None:
    """Return the option as one number: the provider prints 71680 as 70K."""
    number = sized(value)
    return value if number is None else str(number)


def is_frozen(facts: Facts, name: str) -> bool:
    """Return whether somebody has frozen the node's cache: the option holds a seqno, not -1."""
    return cache_of(facts.host(name)).frozen_at not in {None, "", "-1"}


def disk_needed(cache: Cache, away_s: float) -> int | None:
    """Return the bytes that the frozen cache may add in `away_s`: R * D * 1.5 + two pages; None without a rate."""
    if cache.bytes_s is None:
        return None
    return math.ceil(cache.bytes_s * away_s * DISK_SHARE) + 2 * cache.page


def floor_default(cache: Cache) -> int:
    """Return the free disk below which the freeze is given up: 20 % of the volume or 10 GiB, whichever is larger.

    On a volume where that would forbid every freeze, a fifth of what is free now.
    """
    wanted = max(int((cache.disk or 0) * FLOOR_SHARE), FLOOR_LEAST)
    if cache.free is not None and cache.free <= wanted:
        return cache.free // 5
    return wanted


def seqno_proposed(cache: Cache, stop_at: int, away_s: float) -> tuple[int, str] | None:
    """Return (x, the arithmetic as one line) for 'freeze at a seqno'; None while the cache's range isn't known.

    x = max(c, S - max(1000, 2 * (L_end - S) / 128)): at the return the donor selection wants S >= c + (L - c) / 128.
    """
    if cache.downto is None or cache.last is None:
        return None
    ahead = math.ceil((cache.seqno_s or 0.0) * away_s)
    gap = max(LEAST_GAP, min(2 * math.ceil(ahead / GAP_SHARE), 2 * GAP_MOST))
    value = max(cache.downto, stop_at - gap)
    shown = (
        f"x = max(c, S - max({LEAST_GAP}, 2 * (L_end - S) / {GAP_SHARE})) "
        f"= max({cache.downto}, {stop_at} - max({LEAST_GAP}, 2 * {ahead} / {GAP_SHARE})) = {value}"
    )
    return value, shown


def reach_covers(cache: Cache, away_s: float) -> bool:
    """Return whether the cache lasts twice the absence anyway, so that no freeze is needed."""
    return cache.reach_s is not None and cache.reach_s > ENOUGH * away_s


def alternative(facts: Facts, node: str, away_s: float) -> tuple[str, ...]:
    """Return what to do where the provider can't freeze: how large gcache must be, per possible donor."""
    advice = []
    for name in facts.members:
        cache = cache_of(facts.host(name))
        if name == node or cache.bytes_s is None:
            continue
        rate = Rate(cache.bytes_s, cache.seqno_s or 0.0, "just now")
        needed = max(gcache_needed(away_s, rate, MARGIN), PAGE_DEFAULT)
        written = f"{cache.bytes_s / 1e3:.1f} kB/s are written at present"
        if cache.size is not None and cache.size >= needed:
            advice.append(
                f"gcache.size of {name}, {_size(cache.size)}, is sufficient for this absence ({written}): stop "
                f"{node}, do the work, and bring it back with add-node and {name} as its donor."
            )
            continue
        now = f"it has {_size(cache.size)}" if cache.size else "its size is not known"
        advice.append(
            f"Set gcache.size of {name} to at least {_size(needed)} ({now}; {written}): this requires a restart of "
            f"{name}."
        )
    advice.append(f"Or keep the absence short and accept an SST of {node}.")
    return tuple(advice)


def _size(number: int) -> str:
    return f"{number / 2**30:.1f} GiB" if number >= 2**30 else f"{math.ceil(number / 2**20)} MiB"
