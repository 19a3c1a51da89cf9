"""What a machine can do: AES in its processor, free memory, what its server holds of it. Pure parsers of proc(5)."""

from __future__ import annotations

from services.facts.reading import amount, count
from services.lines import lines_of

_MOST_LINES = 20_000


def has_aes(cpuinfo: str) -> bool | None:
    """Return whether /proc/cpuinfo names AES instructions ('flags' on x86, 'Features' on ARM); None: it names none.

    IBM Z has them in its own instructions for ciphers, which it calls 'msa' (Linux, arch/s390/kernel/processor.c).
    """
    for line in lines_of(cpuinfo)[:_MOST_LINES]:
        name, _, value = line.partition(":")
        if name.strip().lower() in {"flags", "features"}:
            return not {"aes", "msa"}.isdisjoint(value.split())
    return None


def cores_of(cpuinfo: str) -> int | None:
    """Return how many processors /proc/cpuinfo lists, or counts ('# processors' on IBM Z); None where it tells none."""
    for line in lines_of(cpuinfo)[:_MOST_LINES]:
        if line.split(":")[0].strip() == "# processors":
            return count(line.partition(":")[2]) or None
    return sum(line.split(":")[0].strip() == "processor" for line in lines_of(cpuinfo)[:_MOST_LINES]) or None


def load_of(loadavg: str) -> float | None:
    """Return the load of the last five minutes out of /proc/loadavg: how many processes ran or waited for a disk."""
    parts = loadavg.split()
    return amount(parts[1]) if len(parts) >= 3 else None


def resident(status: str) -> int | None:
    """Return the bytes that a process holds in memory: VmRSS of /proc/PID/status."""
    for line in lines_of(status)[:_MOST_LINES]:
        parts = line.split()
        if len(parts) >= 2 and parts[0] == "VmRSS:":
            kilobytes = count(parts[1])
            return None if kilobytes is None else kilobytes * 1024
    return None
