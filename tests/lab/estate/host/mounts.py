"""The mounts of this machine, as the kernel tells them."""

from __future__ import annotations

from pathlib import Path


def mounted(path: Path) -> bool:
    return str(path) in mount_points()


def mount_points() -> list[str]:
    """Mount points of this machine in the order they were made (man proc_pid_mountinfo(5))."""
    lines = Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines()
    return [line.split()[4].replace("\\040", " ") for line in lines]
