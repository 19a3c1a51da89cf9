"""Which names of /proc/diskstats are disks, and which are parts, layers or ways of others. Pure.

Sources: Linux, Documentation/admin-guide/devices.txt (names), drivers/nvme/host/multipath.c (nvmeXcYnZ is the way by
controller Y to the disk nvmeXnZ: kernels before the end of 2022 count on the ways alone, newer ones on the disk too).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

NO_DISKS = ("loop", "ram", "zram", "sr", "scd", "fd")
"""Files, memory and drives with a changeable medium: nothing of theirs is told."""
_LAYERS = re.compile(r"dm-|md|drbd|bcache|zd[0-9]|ploop|emcpower|sddlm|VxDMP|VxVM")
"""Device mapper, md RAID, DRBD, bcache, ZFS volumes, ploop, and the multipath drivers of EMC, Hitachi and Veritas: what
is done there is done on the disks below once more. rbd and nbd are none: what is below them is another host's."""
_MULTIPATH = re.compile(r"emcpower|sddlm|VxDMP")
"""Of these the layers that stand upon disks alone: where those are hidden, each is a disk of its own."""
_WAY = re.compile(r"nvme([0-9]+)c[0-9]+n([0-9]+)")


@dataclass(frozen=True, slots=True)
class Devices:
    """The names of one host, told apart.

    Attributes:
        whole: disks and layers, without partitions and without ways to a disk that is there.
        counted: those whose sum counts every request once: layers only where nothing else is seen, and then only one.
        ways: disk -> the names of the ways to it.
    """

    whole: tuple[str, ...] = ()
    counted: tuple[str, ...] = ()
    ways: Mapping[str, tuple[str, ...]] | None = None

    def ways_to(self, disk: str) -> tuple[str, ...]:
        """Return the ways to a disk, () for one that has none."""
        return self.ways.get(disk, ()) if self.ways else ()


def devices_of(names: Sequence[str]) -> Devices:
    """Return the names told apart."""
    known = frozenset(names)
    ways: dict[str, tuple[str, ...]] = {}
    for name in names:
        if (disk := _disk_of_way(name)) in known:
            ways[disk] = (*ways.get(disk, ()), name)
    hidden = {way for found in ways.values() for way in found}
    whole = tuple(name for name in names if name not in hidden and not is_partition(name, known))
    counted = tuple(name for name in whole if _LAYERS.match(name) is None)
    counted = counted or tuple(name for name in whole if _MULTIPATH.match(name) is not None)
    if not counted and len(whole) == 1:
        counted = whole
    return Devices(whole, counted, ways)


def is_partition(name: str, others: Iterable[str]) -> bool:
    """Return whether `name` is a partition of a device in `others` (sda1 of sda, nvme0n1p2 of nvme0n1)."""
    return disk_of(name, frozenset(others)) != ""


def disk_of(partition: str, others: frozenset[str]) -> str:
    """Return the disk among `others` that a name is a partition of, '' for none."""
    base = partition.rstrip("0123456789")
    if base == partition:
        return ""
    if base in others:
        return base
    numbered = base.endswith("p") and base[-2:-1].isascii() and base[-2:-1].isdigit()
    return base[:-1] if numbered and base[:-1] in others else ""


def _disk_of_way(name: str) -> str:
    found = _WAY.fullmatch(name)
    return f"nvme{found[1]}n{found[2]}" if found is not None else ""


class Busiest:
    """The milliseconds in which the busiest of several devices was not idle, added up since this began.

    Shares of time are no amounts: four disks that are busy for 30 % of a second make no 120 %.
    """

    def __init__(self) -> None:
        self._before: dict[str, float] = {}
        self._total = 0.0

    def after(self, counters: Mapping[str, float]) -> float:
        """Return the sum after one more sample; `counters`: device -> its own milliseconds since it is there."""
        before = self._before
        steps = (counters[name] - before[name] for name in counters if name in before)
        self._total += max((step for step in steps if step > 0), default=0.0)
        self._before = dict(counters)
        return self._total
