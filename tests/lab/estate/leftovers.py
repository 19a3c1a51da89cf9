"""What of the lab is still on this machine, asked from the kernel and not from the lab's own notes."""

from __future__ import annotations

import re
from pathlib import Path

from tests.lab.estate.host import cgroups, mounts, proc, rootfs
from tests.lab.estate.paths import cache_dir, data_root, state_root
from tests.lab.estate.shell import run
from tests.lab.estate.spec import ESTATES, EstateSpec


def leftovers(specs: tuple[EstateSpec, ...] = ESTATES) -> list[str]:
    """Every mount, loop device, interface, namespace, nft table, process, group and folder of these estates.

    Each as a line "kind name". Empty when `down` has done its work. The image cache is meant to stay and is not listed.
    """
    found: list[str] = []
    for spec in specs:
        found += _of_estate(spec)
    if specs == ESTATES:
        found += [f"mount {m}" for m in mounts.mount_points() if m.startswith(f"{cache_dir()}/")]
    return found


def _of_estate(spec: EstateSpec) -> list[str]:
    folder = data_root() / spec.name
    found = [f"mount {m}" for m in mounts.mount_points() if m.startswith((f"{folder}/", f"/run/netns/{spec.bridge}-"))]
    found += [f"loop {d}" for d in rootfs.loop_devices(str(folder))]
    found += [f"link {p.name}" for p in _named(Path("/sys/class/net"), spec.bridge)]
    found += [f"netns {p.name}" for p in _named(Path("/run/netns"), spec.bridge)]
    found += [f"process {pid} {argv[0]}" for pid, argv in lab_processes(spec)]
    machines = [spec.machine(host.name) for host in spec.hosts]
    found += [f"cgroup {g}" for name in machines for g in cgroups.left(name)]
    found += [f"nspawn {p}" for name in machines for p in Path("/run/systemd/nspawn").glob(f"*/{name}")]
    found += [f"folder {p}" for p in (folder, state_root() / spec.name) if p.exists()]
    if run(["nft", "list", "table", "bridge", spec.table], check=False).ok:
        found.append(f"nft bridge {spec.table}")
    return found


def lab_processes(spec: EstateSpec) -> list[tuple[int, tuple[str, ...]]]:
    """Processes of the estate: its containers' supervisors, everything in their groups, and loads against it."""
    members: set[int] = set()
    for host in spec.hosts:
        members |= cgroups.members(spec.machine(host.name))
    names = "|".join(re.escape(spec.machine(host.name)) for host in spec.hosts)
    mark = re.compile(rf"(^|[^\w-])({names})([^\w-]|$)")  # another estate's name may begin with this one's
    return [
        (pid, argv)
        for pid, argv in proc.processes()
        if pid in members
        or (any(mark.search(part) or f"/{spec.name}/load" in part for part in argv[1:]) and _is_ours(argv))
    ]


def _is_ours(argv: tuple[str, ...]) -> bool:
    return Path(argv[0]).name in ("systemd-nspawn", "sysbench", "python3")


def _named(folder: Path, start: str) -> list[Path]:
    if not folder.is_dir():
        return []
    return sorted(p for p in folder.iterdir() if p.name == start or p.name.startswith(f"{start}-"))
