"""How long it takes, what room it needs on each volume, and how long IST will still be possible. Pure estimates.

Rates are half of what a plain server's disk did in trials; they are called 'about' wherever they are shown. Whom a
cache serves, and for how long: services.facts.galera.ist.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from services.facts.galera.ist import Ist, Served, cache_told, ist_offers
from services.facts.galera.whole import SYNCED
from services.procedures.catalogue.checks.parts import galera_of
from services.procedures.catalogue.galera.rejoin_from_incrementals.chain import Chain
from services.procedures.catalogue.galera.shared.estimate import (
    APPLY_PER_S,
    COPY_BYTES_S,
    PREPARE_BYTES_S,
    SST_FIXED_S,
)
from services.procedures.catalogue.steps.choices import member_hosts
from services.procedures.catalogue.steps.restored.restoring import folder_of
from services.procedures.plan.forms.inputs import bytes_of
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.parts.galera.data_size import DataSize
from services.procedures.plan.parts.galera.write_rate import WriteRate
from services.procedures.plan.parts.machine.volumes import Volumes
from services.procedures.plan.parts.server.options import Options

FIXED_S = 30.0
GROWTH = 1.1
REDO_DEFAULT, GCACHE_DEFAULT = 96 * 2**20, 128 * 2**20


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds: the copies, each prepare, the copy back, the rest; `ist` what is written meanwhile and before."""

    copies: float
    prepares: tuple[float, ...]
    back: float
    ist: float

    @property
    def until_start(self) -> float:
        """Return the seconds from now to the node's start: so long its donor's cache must last."""
        return self.copies + sum(self.prepares) + self.back + FIXED_S


def times(facts: Facts, joiner: str, chain: Chain) -> Times:
    """Return how long each part takes, by the sizes of the backups and the rate of today's writes."""
    sizes = [one.size or 0 for one in chain.backups]
    whole = sum(sizes)
    prepares = tuple(1.0 + size / PREPARE_BYTES_S for size in sizes)
    until = whole / COPY_BYTES_S * 2 + sum(prepares) + FIXED_S
    missed = _newest(facts, joiner) - ((chain.last.seqno if chain.last is not None else None) or 0)
    written = _written(facts, joiner) * until
    return Times(whole / COPY_BYTES_S, prepares, whole / COPY_BYTES_S, 10.0 + max(0.0, missed + written) / APPLY_PER_S)


def sst_seconds(facts: Facts, donor: str) -> float | None:
    """Return how long an SST from this donor takes; None where the size of its data is not known."""
    size = facts.host(donor)[DataSize].in_bytes
    return None if size is None else SST_FIXED_S + size / COPY_BYTES_S + size / 20 / PREPARE_BYTES_S


@dataclass(frozen=True, slots=True)
class DonorReach:
    """One member as a donor of an IST from a seqno on.

    Attributes:
        against: why it can't send it now, '' when it can; left_s: for how long it still can; None = not known.
    """

    host: str
    against: str
    left_s: float | None
    first: int | None

    @property
    def words(self) -> str:
        """Return what is known of it."""
        if self.against:
            return self.against
        lasts = "for an unknown time"
        if self.left_s is not None:
            lasts = f"for about {self.left_s:.0f} s more at the current rate"
            lasts = "nothing is written" if math.isinf(self.left_s) else lasts
        return f"{self.host} caches from {self.first}, {lasts}"


def reaches(facts: Facts, joiner: str, seqno: int | None) -> tuple[DonorReach, ...]:
    """Return every member as a donor, those that can send it first, the longest reach before others."""
    members = tuple(name for name in member_hosts(facts) if name != joiner)
    answers = ist_offers(
        seqno, {n: cache_told(galera_of(facts.host(n)), facts.host(n)[WriteRate].rates) for n in members}
    )
    found = [_reach(facts.host(name), seqno, one) for name, one in answers.items()]
    return tuple(sorted(found, key=lambda one: (one.against != "", -(one.left_s if one.left_s is not None else -1.0),
                                                one.host)))  # fmt: skip


def _reach(host: HostFacts, seqno: int | None, one: Served) -> DonorReach:
    galera, name = galera_of(host), host.host
    first = galera.cached_downto if galera is not None else None
    if galera is None or not first or galera.last_committed is None:
        return DonorReach(name, f"{name} reports no cached range", None, None)
    if galera.local_state != SYNCED:
        return DonorReach(
            name, f"{name} is {galera.local_state_comment or 'of unknown state'}, not Synced", None, first
        )
    if seqno is None:
        return DonorReach(name, "the backup contains no position", None, first)
    against = {
        Ist.AHEAD: f"the cluster is at {one.newest}, before the backup's {seqno}",
        Ist.PURGED: f"{name} caches from {first}, but {seqno + 1} is needed",
        Ist.GAP: f"{seqno} is below the safety gap {one.gap}: Galera would choose the first Synced node",
    }.get(one.answer, "")
    return DonorReach(name, against, one.left_s, first)


def _newest(facts: Facts, joiner: str) -> int:
    found = (galera_of(facts.host(name)) for name in member_hosts(facts) if name != joiner)
    return max((g.last_committed for g in found if g is not None and g.last_committed is not None), default=0)


def _written(facts: Facts, joiner: str) -> float:
    rates = (facts.host(name)[WriteRate].rates for name in member_hosts(facts) if name != joiner)
    return max((rate.seqno_s for rate in rates if rate is not None), default=0.0)


@dataclass(frozen=True, slots=True)
class Need:
    """What a volume must have: '' mount is a path whose volume is not known; what it is for, in words."""

    mount: str
    needed: int
    free: int | None
    what: tuple[str, ...]


def needs(facts: Facts, joiner: str, chain: Chain, scratch: str) -> tuple[Need, ...]:
    """Return what is needed on each volume: the copies on one, the new data on one, perhaps the same; /tmp besides."""
    host = facts.host(joiner)
    size = chain.size or 0
    logs = (bytes_of(host[Options].option("mysqld", "innodb_log_file_size") or "") or REDO_DEFAULT) + GCACHE_DEFAULT
    wanted = (
        (scratch, int(size * GROWTH), f"{size / 1e9:.2f} GB of copies in {scratch}"),
        (folder_of(host), int(size * GROWTH) + logs, f"{size / 1e9:.2f} GB of data and {logs / 1e9:.2f} GB of logs"),
    )
    found: dict[str, Need] = {}
    for path, needed, what in wanted:
        disk = host[Volumes].of(path)
        mount = disk.mount if disk is not None else f"? {path}"
        before = found.get(mount, Need(mount, 0, disk.free if disk is not None else None, ()))
        found[mount] = Need(mount, before.needed + needed, before.free, (*before.what, what))
    return tuple(found.values())
