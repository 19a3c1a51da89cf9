"""One control group per host in every hierarchy.

Without a group of its own, every container's systemd would take the lab command's group for its root: the hosts would
share `system.slice/mariadb.service`, and each would see the others' processes in it. Works on cgroup v1, hybrid and v2.
"""

from __future__ import annotations

import shlex
import time
from pathlib import Path

_MOUNTS = Path("/proc/self/mountinfo")
_PERIOD_US = 100_000


def hierarchies() -> list[Path]:
    """Mount points of every cgroup hierarchy (v1 controllers, name=systemd, v2) that can be written."""
    found = []
    for line in _MOUNTS.read_text(encoding="utf-8").splitlines():
        left, _, right = line.partition(" - ")
        if right.split()[0] in ("cgroup", "cgroup2"):
            found.append(Path(left.split()[4]))
    return found


def entering(machine: str, argv: list[str]) -> list[str]:
    """`argv` wrapped so that it runs in the (new) groups of `machine`, and again when the container reboots.

    The wrapping shell joins the groups first: systemd-nspawn looks at its own group once, right at its start.
    """
    script = []
    for top in hierarchies():
        group = top / machine
        group.mkdir(exist_ok=True)
        _inherit_cpuset(top, group)
        script.append(f"echo $$ > {shlex.quote(str(group / 'cgroup.procs'))}")
    # systemd-nspawn with --keep-unit ends with 133 when its container wants a reboot (man systemd-nspawn(1))
    rounds = '"$@"; while [ $? -eq 133 ]; do "$@"; done'
    return ["/bin/sh", "-c", "; ".join([" && ".join(script) or "true", rounds]), "sh", *argv]


def _inherit_cpuset(top: Path, group: Path) -> None:
    """A new v1 cpuset group is empty and takes nobody in before it has processors and memory nodes."""
    for name in ("cpuset.cpus", "cpuset.mems"):
        knob = group / name
        if knob.exists() and not knob.read_text(encoding="ascii").strip() and (top / name).exists():
            knob.write_text((top / name).read_text(encoding="ascii"), encoding="ascii")


def members(machine: str) -> set[int]:
    """Pids, seen from here, of everything in the groups of `machine`."""
    pids: set[int] = set()
    for top in hierarchies():
        for listing in [top / machine / "cgroup.procs", *(top / machine).rglob("cgroup.procs")]:
            try:
                pids |= {int(p) for p in listing.read_text(encoding="ascii").split() if p != "0"}
            except OSError:
                continue
    return pids


def freeze(machine: str, *, frozen: bool) -> None:
    """Stop or let run everything of the host at once (cgroup v2: cgroup.freeze); nothing if it has no group."""
    for knob in _freezers(machine):
        knob.write_text("1" if frozen else "0", encoding="ascii")


def is_frozen(machine: str) -> bool:
    return any(knob.read_text(encoding="ascii").strip() == "1" for knob in _freezers(machine))


def _freezers(machine: str) -> list[Path]:
    return [p for p in (top / machine / "cgroup.freeze" for top in hierarchies()) if p.exists()]


def throttle(machine: str, percent: float | None) -> None:
    """Give the host at most `percent` of one processor (None: as much as it wants), all of its processes together.

    cgroup v2 `cpu.max` (kernel: admin-guide/cgroup-v2), v1 `cpu.cfs_quota_us` (scheduler/sched-bwc); period 100 ms.
    """
    for top in hierarchies():
        group = top / machine
        quota = -1 if percent is None else max(1000, round(_PERIOD_US * percent / 100.0))
        if (group / "cpu.max").exists():
            (group / "cpu.max").write_text(f"{'max' if quota < 0 else quota} {_PERIOD_US}", encoding="ascii")
        if (group / "cpu.cfs_quota_us").exists():
            (group / "cpu.cfs_period_us").write_text(str(_PERIOD_US), encoding="ascii")
            (group / "cpu.cfs_quota_us").write_text(str(quota), encoding="ascii")


def throttled(machine: str) -> float | None:
    """Return the percent of one processor the host is held to, None when it is not."""
    for top in hierarchies():
        v2, v1 = top / machine / "cpu.max", top / machine / "cpu.cfs_quota_us"
        if v2.exists() and not (text := v2.read_text(encoding="ascii")).startswith("max"):
            quota, period = text.split()
            return 100.0 * int(quota) / int(period)
        if v1.exists() and (held := int(v1.read_text(encoding="ascii"))) > 0:
            return 100.0 * held / int((v1.parent / "cpu.cfs_period_us").read_text(encoding="ascii"))
    return None


def remove(machine: str, *, limit_s: float = 5.0) -> None:
    """Remove the groups of `machine`, innermost first; processes that are just ending get a moment."""
    deadline = time.monotonic() + limit_s
    for top in hierarchies():
        group = top / machine
        while group.is_dir():
            for folder in sorted((p for p in group.rglob("*") if p.is_dir()), reverse=True):
                _try_rmdir(folder)
            _try_rmdir(group)
            if time.monotonic() > deadline:
                break
            time.sleep(0.02)


def _try_rmdir(folder: Path) -> None:
    try:
        folder.rmdir()
    except OSError:
        return


def left(machine: str) -> list[str]:
    """Control groups of a machine."""
    return sorted(str(top / machine) for top in hierarchies() if (top / machine).exists())
