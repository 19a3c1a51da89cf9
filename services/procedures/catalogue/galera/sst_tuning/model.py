"""How long an SST takes for each choice, which stage limits it, and what is chosen. Pure; an estimate, told as one.

Source: page sst-tuning, "Model" and "Choice rule". T = fixed + size/rate + prepare + catch-up; the rate is that of the
slowest stage: disk read, donor's processors, cipher, network, joiner's processor, disk write. What was not measured
limits nothing here, and is named beside the forecast. Two things differ from the page: zstd, lz4, pigz and gzip unpack
with one thread, so the joiner counts one core; and where no compressor keeps up with the whole network (the page's rule
then takes none), one that shortens the forecast by a tenth is taken all the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from services.procedures.catalogue.galera.shared.estimate import APPLY_PER_S, PREPARE_BYTES_S, SST_FIXED_S

NONE = "none"
PARALLEL = 4
"""Readers at once: 2 to 4 is enough on SSD (page sst-tuning, "Model")."""
PARALLEL_GAIN = 1.2
"""Four readers count where they read a fifth more than one."""
STARTS_S = 5.0
"""Beside the script's pause of 10 s: the first stream, moving the files, and the server's own start."""
GAIN = 0.1
INCOMPRESSIBLE = 1 - GAIN
"""A ratio of about 1: pages that are encrypted or compressed already. What packs worse can't gain a tenth."""
PIGZ_CORES = 8
SINGLE_THREADED = frozenset({"lz4", "gzip"})
NEVER = frozenset({"gzip"})
PREPARE_SHARE = 0.2
"""Preparing counts as a limit from a fifth of the whole time on."""

Limit = Literal["disk read", "donor CPU", "cipher", "network", "joiner CPU", "disk write", "not known"]


@dataclass(frozen=True, slots=True)
class Packer:
    """A compressor: bytes after by before, plain bytes/s that one core packs on the donor and unpacks on the joiner."""

    name: str
    ratio: float
    pack: float
    unpack: float


@dataclass(frozen=True, slots=True)
class Road:
    """What an SST runs through. Rates in bytes/s; None: not measured.

    Attributes:
        net: what the SST may take of the network (the share is taken off already); cipher: of one core, None: no TLS.
        donor_load, joiner_load: of the last minutes; joiner_cores: 0 is not known: then its load counts for nothing.
        cores: of the donor; cpu_share: of them that compressing may take; dedicated: the donor serves no application.
        parallel: readers that are set today (1 where nothing is set).
        redo: bytes/s that the cluster writes; writes, applies: write sets/s.
    """

    data_bytes: int
    read: float | None
    read_4: float | None
    net: float | None
    write: float | None
    cores: int
    cpu_share: float
    dedicated: bool = False
    cipher: float | None = None
    parallel: int = 1
    redo: float = 0.0
    writes: float = 0.0
    applies: float = APPLY_PER_S
    donor_load: float = 0.0
    joiner_load: float = 0.0
    joiner_cores: int = 0


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a choice gives.

    Attributes:
        packer: its name, 'none'; threads: of the compressor; parallel: readers.
        rate: plain bytes/s, None: nothing was measured; limit: the slowest stage.
        copy_s, prepare_s, catch_up_s, seconds: the parts and the whole; infinite: never Synced.
    """

    packer: str
    threads: int
    parallel: int
    rate: float | None
    limit: Limit
    copy_s: float = math.nan
    prepare_s: float = math.nan
    catch_up_s: float = math.nan
    seconds: float = math.nan

    @property
    def joined_s(self) -> float:
        """Return the seconds from the request to the joined state, before it catches up: what a log can show."""
        return SST_FIXED_S + STARTS_S + self.copy_s + self.prepare_s

    @property
    def prepare_limits(self) -> bool:
        """Return whether preparing takes a large part of it."""
        return self.prepare_s > PREPARE_SHARE * self.seconds


def threads_of(road: Road, packer: Packer | None) -> int:
    """Return how many threads a compressor may have: its share of the donor's cores, one for what knows no threads."""
    if packer is None:
        return 0
    return 1 if packer.name in SINGLE_THREADED else max(1, math.floor(road.cores * road.cpu_share))


def core_share(cores: int, load: float, threads: int) -> float:
    """Return which part of a core each thread gets beside what runs already: all of it while there are cores to spare.

    Seen on the lab: pigz packed 132 MB in a second of processor time and 20 MB/s beside a load of 18 on two cores.
    """
    return min(1.0, cores / (load + threads)) if cores and threads else 1.0


def pack_rate(road: Road, packer: Packer) -> float:
    """Return plain bytes/s that the donor packs with its threads, beside its load."""
    threads = threads_of(road, packer)
    return threads * packer.pack * core_share(road.cores, road.donor_load, threads)


def read_rate(road: Road, parallel: int) -> float | None:
    """Return the donor's disk read rate with so many readers; four count as measured, two and three as between."""
    if road.read is None or parallel <= 1 or road.read_4 is None:
        return road.read
    more = max(road.read_4, road.read)
    return road.read + (more - road.read) * min(1.0, (parallel - 1) / (PARALLEL - 1))


def slowest(road: Road, packer: Packer | None, parallel: int) -> tuple[float | None, Limit]:
    """Return the rate of the slowest stage that was measured, in plain bytes/s, and its name."""
    ratio = packer.ratio if packer is not None else 1.0
    stages: list[tuple[Limit, float | None]] = [
        ("disk read", read_rate(road, parallel)),
        ("donor CPU", pack_rate(road, packer) if packer is not None else None),
        ("cipher", road.cipher / ratio if road.cipher is not None else None),
        ("network", road.net / ratio if road.net is not None else None),
        (
            "joiner CPU",
            packer.unpack * core_share(road.joiner_cores, road.joiner_load, 1) if packer is not None else None,
        ),
        ("disk write", road.write),
    ]
    measured = [(rate, name) for name, rate in stages if rate is not None and rate > 0]
    if not measured:
        return None, "not known"
    return min(measured, key=lambda one: one[0])


def forecast(road: Road, packer: Packer | None, parallel: int | None = None) -> Forecast:
    """Return what a compressor (None: none) gives with so many readers (None: as they are set)."""
    readers = parallel if parallel is not None else road.parallel
    name, threads = (packer.name if packer is not None else NONE), threads_of(road, packer)
    rate, limit = slowest(road, packer, readers)
    if rate is None:
        return Forecast(name, threads, readers, None, limit)
    copy = road.data_bytes / rate
    prepare = road.redo * copy / PREPARE_BYTES_S
    left = road.applies - road.writes
    catch_up = math.inf if left <= 0 else copy * road.writes / left
    whole = SST_FIXED_S + STARTS_S + copy + prepare + catch_up
    return Forecast(name, threads, readers, rate, limit, copy, prepare, catch_up, whole)


def better_readers(road: Road, packer: Packer | None) -> int:
    """Return how many readers to set: more of them only where reading limits, and four at once do read more."""
    limit = slowest(road, packer, road.parallel)[1]
    if limit != "disk read" or road.parallel >= PARALLEL or road.read is None or road.read_4 is None:
        return road.parallel
    return PARALLEL if road.read_4 >= PARALLEL_GAIN * road.read else road.parallel


def allowed(road: Road, packers: Iterable[Packer]) -> tuple[Packer, ...]:
    """Return the compressors that may be chosen: gzip never, pigz only on a dedicated donor of eight cores or more."""
    found = [p for p in packers if p.name not in NEVER and p.ratio < INCOMPRESSIBLE]
    return tuple(p for p in found if p.name != "pigz" or (road.dedicated and road.cores >= PIGZ_CORES))


def choose(road: Road, packers: Iterable[Packer]) -> Packer | None:
    """Return the compressor to take, None for none.

    No network figure, or a network as fast as the disk: none. Of those that keep up with the network the one that
    packs best; where none does, the one with the shortest forecast, if that is a tenth shorter than without.
    """
    may = allowed(road, packers)
    disk = read_rate(road, better_readers(road, None))
    if road.net is None or not may or (disk is not None and road.net >= disk):
        return None
    net = road.net
    keep_up = [p for p in may if pack_rate(road, p) >= net / p.ratio]
    chosen = min(keep_up, key=lambda p: p.ratio) if keep_up else min(may, key=lambda p: _best(road, p).seconds)
    return chosen if _best(road, chosen).copy_s < (1 - GAIN) * _best(road, None).copy_s else None


def _best(road: Road, packer: Packer | None) -> Forecast:
    return forecast(road, packer, better_readers(road, packer))


def table(road: Road, packers: Iterable[Packer]) -> tuple[Forecast, ...]:
    """Return a forecast for each choice, the shortest first: none and every compressor, each with its best readers."""
    every: tuple[Packer | None, ...] = (None, *packers)
    return tuple(sorted((_best(road, p) for p in every), key=lambda one: (one.seconds, one.packer != NONE)))
