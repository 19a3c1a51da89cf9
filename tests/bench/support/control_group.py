"""A control group of the console's own: half a core for it, and for it alone (root; cgroup v2, or v1 beside it).

The quota is that of issue and budget: 50 ms of processor in each 100 ms, all threads together. The group weighs as much
as the kernel lets one, so that what else the machine runs takes as little from a measurement as can be had.
Kernel: admin-guide/cgroup-v2 (cpu.max, cpu.weight), scheduler/sched-bwc (cpu.cfs_quota_us, cpu.shares).
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.bench.support.unavailable import Unavailable

PERIOD_US = 100_000
HALF_US = PERIOD_US // 2
_MOUNTS = Path("/proc/self/mountinfo")
_HEAVIEST = {"cpu.weight": "10000", "cpu.shares": "262144"}


@dataclass(frozen=True, slots=True)
class ControlGroup:
    """A group that processes are put in."""

    folder: Path

    def take(self, pid: int) -> None:
        """Put a process with all its threads in; its children are born in it."""
        (self.folder / "cgroup.procs").write_text(str(pid), encoding="ascii")

    def held_back_s(self) -> float:
        """Return how long the quota has held the group's processes back so far, seconds (0 without a quota)."""
        for line in (self.folder / "cpu.stat").read_text(encoding="ascii").splitlines():
            name, _, value = line.partition(" ")
            if name == "throttled_usec":
                return int(value) / 1e6
            if name == "throttled_time":
                return int(value) / 1e9
        return 0.0


@contextlib.contextmanager
def control_group(name: str, *, half: bool) -> Iterator[ControlGroup]:
    """Make a group and remove it when its processes have ended; Unavailable, with the reason, where that can't be.

    Args:
        half: half a core for all of it; else as much as it wants, weighed alike, so that both can be compared.
    """
    folder = _hierarchy() / f"{name}-{os.getpid()}"
    try:
        folder.mkdir()
        _write(folder, half=half)
    except OSError as problem:
        with contextlib.suppress(OSError):
            folder.rmdir()
        raise Unavailable(f"a control group needs root and a hierarchy that it may write: {problem}") from problem
    try:
        yield ControlGroup(folder)
    finally:
        _remove(folder)


def _hierarchy() -> Path:
    """Return where the hierarchy that shares processors out is mounted."""
    if os.geteuid():
        raise Unavailable("half a core is a control group's quota, and only root may make one: run this as root")
    for line in _MOUNTS.read_text(encoding="utf-8").splitlines():
        left, _, right = line.partition(" - ")
        place, (kind, _, options) = Path(left.split()[4]), right.split()[:3]
        if kind == "cgroup" and "cpu" in options.split(","):
            return place
        if kind == "cgroup2" and "cpu" in (place / "cgroup.controllers").read_text(encoding="ascii").split():
            (place / "cgroup.subtree_control").write_text("+cpu", encoding="ascii")
            return place
    raise Unavailable("this machine mounts no control groups that share processors out (cgroup v2 cpu, or v1 cpu)")


def _write(folder: Path, *, half: bool) -> None:
    for knob, weight in _HEAVIEST.items():
        if (folder / knob).exists():
            (folder / knob).write_text(weight, encoding="ascii")
    if not half:
        return
    if (folder / "cpu.max").exists():
        (folder / "cpu.max").write_text(f"{HALF_US} {PERIOD_US}", encoding="ascii")
    else:
        (folder / "cpu.cfs_period_us").write_text(str(PERIOD_US), encoding="ascii")
        (folder / "cpu.cfs_quota_us").write_text(str(HALF_US), encoding="ascii")


def _remove(folder: Path) -> None:
    """A group goes once it is empty; a process that just ended takes a moment to leave it."""
    deadline = time.monotonic() + 5.0
    while folder.exists():
        try:
            folder.rmdir()
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)
