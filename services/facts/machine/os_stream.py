"""The OS counters of one host as one line per second: the remote loop's command and the pure parser of its lines.

A line (see connections/programs/os_loops.py for the loop) is a list of `;`-separated segments. `t CLOCK` is the
host's own clock; `@NAME` starts a section, and what follows are lines of the kernel's file as they stand:
`@stat` /proc/stat, `@disk` /proc/diskstats, `@mem` /proc/meminfo, `@load` /proc/loadavg, `@vm` /proc/vmstat,
`@net` /proc/net/dev, `@psi cpu|io|memory` /proc/pressure/*, `@proc` "PID STATE GROUP OWN_GROUP HOW_MANY" of mysqld or
mariadbd ("- -" when there is none), `@nic` the names of the network cards (each minute), `@fs` "MAJOR:MINOR BLOCK_SIZE
BLOCKS AVAILABLE" of the data directory's file system (every third second).
Field meanings: man proc_stat(5), proc_diskstats(5), proc_meminfo(5), proc_pressure(5), stat(1) `-f`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from services.connections.reads.read import CommandRead
from services.facts.machine.block_devices import NO_DISKS, Busiest, Devices, devices_of, disk_of
from services.facts.machine.daemons import DAEMONS
from services.facts.machine.machine import LATEST
from services.facts.machine.net_devices import carrying
from services.facts.machine.process_owner import owner_of
from services.facts.reading import MOST, count
from services.inventory.kinds import MYSQL

CPU_STATES = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
DISK_FIELDS = (
    "reads", "reads_merged", "sectors_read", "ms_reading",
    "writes", "writes_merged", "sectors_written", "ms_writing",
    "in_flight", "ms_busy", "ms_weighted",
)  # fmt: skip
"""The first eleven fields after the device name in /proc/diskstats, in order; sectors are 512 bytes."""
NET_FIELDS = {"rx_bytes": 0, "tx_bytes": 8, "rx_drop": 3, "tx_drop": 11}
"""The fields of /proc/net/dev that are kept, and where they stand after the device's name."""
MEMORY_FIELDS = {
    b"MemTotal": "total", b"MemFree": "free", b"MemAvailable": "available", b"Buffers": "buffers", b"Cached": "cached",
    b"SwapTotal": "swap_total", b"SwapFree": "swap_free", b"Dirty": "dirty", b"Writeback": "writeback",
}  # fmt: skip
VM_FIELDS = frozenset({b"pgpgin", b"pgpgout", b"pswpin", b"pswpout", b"pgmajfault", b"oom_kill"})
STAT_FIELDS = {b"ctxt": "os.cpu.ctxt", b"processes": "os.cpu.forks", b"procs_running": "os.cpu.procs_running",
               b"procs_blocked": "os.cpu.procs_blocked", b"btime": "os.boot_time"}  # fmt: skip
_SKIPPED_DISKS = tuple(name.encode() for name in NO_DISKS)
_PLAIN = re.compile(r"[A-Za-z0-9_.:/@+-]{1,40}", re.ASCII)
MOST_DRAWN = 16
"""Devices of a kind whose names are kept for charts."""
_MOST_SEGMENTS = 20_000
_MOST_DEVICES = 4096
"""Names that one stream's parser remembers: a host that makes up new ones each second is forgotten and read anew."""


@dataclass(frozen=True, slots=True)
class OsReading:
    """One second of one host.

    Attributes:
        at_host: the host's own clock, UTC epoch seconds.
        values: metric key ("os.cpu.user") -> value as the kernel gave it: CPU in ticks, memory in bytes.
        process_state: R, S, D, T, Z ... of mysqld/mariadbd (man proc_pid_stat(5)), '' when no such process runs.
        data_disk_size, data_disk_free: bytes of the data directory's file system, None on seconds without `@fs`.
        process_owner: see process_owner.owner_of. process_alone: False: others are called so and are as near as it.
        data_device: whole disk under the data directory, '' when it can't be told.
        disk_devices, net_devices: names that have numbers of their own, those that the sums are made of first.
    """

    at_host: float
    values: Mapping[str, float]
    process_state: str = ""
    process_pid: int | None = None
    data_disk_size: int | None = None
    data_disk_free: int | None = None
    data_device: str = ""
    disk_devices: tuple[str, ...] = ()
    net_devices: tuple[str, ...] = ()
    process_owner: str = ""
    process_alone: bool = True


def os_command(datadir: str, shell: str = "bash", kind: str = MYSQL.code) -> CommandRead:
    """Return the streaming command for a host whose database lives in `datadir`; `shell` is "bash" or "sh"."""
    daemons = DAEMONS[kind]
    return (daemons.stream if shell == "bash" else daemons.stream_sh).read(datadir)


class OsParser:
    """Turns lines of one stream into readings. Keeps the last `@fs` device and the key names, nothing else."""

    def __init__(self) -> None:
        self._disk_keys: dict[bytes, tuple[str, ...]] = {}
        self._net_keys: dict[bytes, tuple[str, ...]] = {}
        self._nets: list[str] = []
        self._cards: frozenset[str] = frozenset()
        self._carrying: tuple[str, ...] = ()
        self._carrying_of: tuple[tuple[str, ...], frozenset[str]] = ((), frozenset())
        self._psi_keys: dict[bytes, str] = {}
        self._devices: Devices | None = None
        self._busiest = Busiest()
        self._busiest_ways: dict[str, Busiest] = {}
        self._device = ""
        self._disks: list[tuple[bytes, bytes]] = []
        self._disk_names: tuple[str, ...] = ()

    def feed(self, line: bytes) -> OsReading | None:
        """Return the reading of a line, or None for a line that is not one of the loop's (a banner, a torn line)."""
        if not line.startswith(b"t ") or b"@proc" not in line:
            return None
        values: dict[str, float] = {}
        self._disks = []
        section, argument = b"", b""
        kept: dict[bytes, list[bytes]] = {b"@proc": [], b"@fs": [], b"@nic": []}
        self._nets = []
        segments = line.split(b";", _MOST_SEGMENTS)[:_MOST_SEGMENTS]
        self._forget_made_up()
        try:
            at_host = _clock(segments[0][2:])
            for segment in segments[1:]:
                if segment.startswith(b"@"):
                    section, _, argument = segment.partition(b" ")
                elif section in kept:
                    kept[section].append(segment)
                elif segment:
                    self._segment(section, argument, segment, values)
        except (ValueError, IndexError):
            return None
        if not 0.0 <= at_host <= LATEST:
            return None
        self._sum_disks(values)
        self._sum_nets(frozenset(name.decode("utf-8", "replace") for name in kept[b"@nic"]), values)
        if not math.isfinite(sum(values.values())):
            values = {key: value for key, value in values.items() if math.isfinite(value)}
        size, free = self._file_system(_last(kept[b"@fs"]))
        process = [word.decode("ascii", "replace") for word in _last(kept[b"@proc"])]
        pid = count(process[0]) if len(process) in {2, 4, 5} and process[1] != "-" else None
        return OsReading(
            at_host,
            values,
            process[1] if pid is not None else "",
            pid,
            size,
            free,
            self._device or self._only_disk(),
            _counted_first(self._devices.whole, self._devices.counted) if self._devices is not None else (),
            _counted_first(self._nets, self._carrying),
            owner_of(f"0::{process[2]}", f"0::{process[3]}") if pid is not None and len(process) >= 4 else "",
            pid is None or len(process) < 5 or (count(process[4]) or 0) < 2,
        )

    def _forget_made_up(self) -> None:
        for names in (self._disk_keys, self._net_keys, self._psi_keys, self._busiest_ways):
            if len(names) > _MOST_DEVICES:
                names.clear()

    def _segment(self, section: bytes, argument: bytes, segment: bytes, values: dict[str, float]) -> None:
        if section == b"@disk":
            self._disk(segment, values)
        elif section == b"@net":
            self._net(segment, values)
        elif section == b"@stat":
            _stat(segment, values)
        elif section == b"@mem":
            name, _, rest = segment.partition(b":")
            if known := MEMORY_FIELDS.get(name):
                values[f"os.mem.{known}"] = float(rest.split()[0]) * 1024
        elif section == b"@load":
            words = segment.split()
            values["os.load.1"], values["os.load.5"], values["os.load.15"] = (float(w) for w in words[:3])
        elif section == b"@vm":
            name, _, rest = segment.partition(b" ")
            if name in VM_FIELDS:
                values[f"os.vm.{name.decode()}"] = float(rest)
        elif section == b"@psi":
            self._psi(argument, segment, values)

    def _disk(self, segment: bytes, values: dict[str, float]) -> None:
        words = segment.split()
        device = words[2]
        keys = self._disk_keys.get(device)
        if keys is None:
            name = device.decode("utf-8", "replace")
            keys = () if device.startswith(_SKIPPED_DISKS) else tuple(f"os.disk.{name}.{f}" for f in DISK_FIELDS)
            self._disk_keys[device] = keys
        if not keys:
            return
        self._disks.append((words[0] + b":" + words[1], device))
        for key, word in zip(keys, words[3:14], strict=False):
            values[key] = float(word)

    def _sum_disks(self, values: dict[str, float]) -> None:
        """Keep whole disks and layers, and add `os.disk_all.*`: the sum over disks that are no layer of others.

        `os.disk_all.ms_busy` is no sum but that of the busiest disk, second by second.
        """
        names = tuple(device.decode("utf-8", "replace") for _, device in self._disks)
        if names != self._disk_names or self._devices is None:
            self._disk_names, self._devices = names, devices_of(names)
        for disk, ways in (self._devices.ways or {}).items():
            self._count_on_the_disk(disk, ways, values)
        whole = frozenset(self._devices.whole)
        for name, (_, device) in zip(names, self._disks, strict=True):
            if name not in whole:
                for key in self._disk_keys[device]:
                    values.pop(key, None)
        counted = self._devices.counted
        for field in DISK_FIELDS if counted else ():
            values[f"os.disk_all.{field}"] = sum(values.get(f"os.disk.{name}.{field}", 0.0) for name in counted)
        if counted:
            busy = {name: values[key] for name in counted if (key := f"os.disk.{name}.ms_busy") in values}
            values["os.disk_all.ms_busy"] = self._busiest.after(busy)

    def _count_on_the_disk(self, disk: str, ways: tuple[str, ...], values: dict[str, float]) -> None:
        """Give a disk what its ways counted, where the kernel counts on the ways alone: the disk itself stands at 0."""
        given = {field: [values.get(f"os.disk.{way}.{field}", 0.0) for way in ways] for field in DISK_FIELDS}
        busy = self._busiest_ways.setdefault(disk, Busiest()).after(dict(zip(ways, given["ms_busy"], strict=True)))
        if any(values.get(f"os.disk.{disk}.{field}") for field in ("reads", "writes")):
            return
        for field in DISK_FIELDS:
            values[f"os.disk.{disk}.{field}"] = busy if field == "ms_busy" else sum(given[field])

    def _sum_nets(self, cards: frozenset[str], values: dict[str, float]) -> None:
        """Add `os.net_all.*`, the sum over the devices that carry the host's own traffic; none where none is known."""
        self._cards = cards or self._cards
        names = tuple(self._nets)
        if (names, self._cards) != self._carrying_of:
            self._carrying_of, self._carrying = (names, self._cards), carrying(names, self._cards)
        for field in NET_FIELDS if self._carrying else ():
            values[f"os.net_all.{field}"] = sum(values[f"os.net.{name}.{field}"] for name in self._carrying)

    def _net(self, segment: bytes, values: dict[str, float]) -> None:
        name, colon, rest = segment.partition(b":")
        device = name.strip()
        if not colon or device == b"lo":
            return
        keys = self._net_keys.get(device)
        if keys is None:
            base = f"os.net.{device.decode('utf-8', 'replace')}"
            keys = tuple(f"{base}.{field}" for field in NET_FIELDS)
            self._net_keys[device] = keys
        self._nets.append(device.decode("utf-8", "replace"))
        words = rest.split()
        for key, index in zip(keys, NET_FIELDS.values(), strict=True):
            values[key] = float(words[index])

    def _psi(self, resource: bytes, segment: bytes, values: dict[str, float]) -> None:
        share, *pairs = segment.split()
        for pair in pairs:
            name, _, number = pair.partition(b"=")
            if name in {b"avg10", b"total"}:
                handle = resource + share + name
                key = self._psi_keys.get(handle)
                if key is None:
                    key = f"os.psi.{resource.decode()}.{share.decode()}_{name.decode()}"
                    self._psi_keys[handle] = key
                values[key] = float(number)

    def _file_system(self, words: list[bytes]) -> tuple[int | None, int | None]:
        if words:
            found = next((device for number, device in self._disks if number == words[0]), None)
            if found is not None:
                self._device = self._whole_disk(found.decode("utf-8", "replace"))
        if len(words) != 4:
            return None, None
        block, blocks, available = (count(w.decode("ascii", "replace")) for w in words[1:])
        if block is None or blocks is None or available is None or block * max(blocks, available) > MOST:
            return None, None
        return block * blocks, block * available

    def _whole_disk(self, name: str) -> str:
        return disk_of(name, frozenset(self._disk_names)) or name

    def _only_disk(self) -> str:
        """Return the disk where the host has but one, and the file system names none (overlay, ZFS); '' for several."""
        counted = self._devices.counted if self._devices is not None else ()
        return counted[0] if len(counted) == 1 else ""


def _counted_first(names: Iterable[str], counted: Collection[str]) -> tuple[str, ...]:
    """Return the devices that charts may be drawn of; a name that no formula could hold is left out."""
    plain = (name for name in names if _PLAIN.fullmatch(name))
    return tuple(sorted(plain, key=lambda name: (name not in counted, name)))[:MOST_DRAWN]


def _last(segments: list[bytes]) -> list[bytes]:
    return segments[-1].split() if segments else []


def _clock(word: bytes) -> float:
    """Return epoch seconds from either microseconds (bash) or seconds with a fraction (sh)."""
    return float(word) if b"." in word else int(word) / 1e6


def _stat(segment: bytes, values: dict[str, float]) -> None:
    name, _, rest = segment.partition(b" ")
    if name == b"cpu":
        for state, word in zip(CPU_STATES, rest.split(), strict=False):
            values[f"os.cpu.{state}"] = float(word)
    elif name in STAT_FIELDS:
        values[STAT_FIELDS[name]] = float(rest)
