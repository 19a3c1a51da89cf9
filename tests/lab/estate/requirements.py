"""What the lab needs from the machine, and the one sentence that says why it cannot run here."""

from __future__ import annotations

import os
import platform
import shutil
from pathlib import Path

_PROGRAMS: tuple[tuple[str, str], ...] = (
    ("systemd-nspawn", "systemd-container"),
    ("debootstrap", "debootstrap"),
    ("ip", "iproute2"),
    ("tc", "iproute2"),
    ("nft", "nftables"),
    ("ssh-keygen", "openssh-client"),
    ("openssl", "openssl"),
    ("sysbench", "sysbench"),
    ("mkfs.ext4", "e2fsprogs"),
    ("mount", "mount"),
    ("nsenter", "util-linux"),
    ("setsid", "util-linux"),
    ("losetup", "mount"),
    ("ps", "procps"),
)


def debian_packages() -> tuple[str, ...]:
    """Debian packages the lab uses on the machine it runs on (bootstrap installs them)."""
    return tuple(sorted({package for _, package in _PROGRAMS}))


def _is_debian_family() -> bool:
    try:
        text = Path("/etc/os-release").read_text(encoding="utf-8")
    except OSError:
        return False
    values = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
    words = f"{values.get('ID', '')} {values.get('ID_LIKE', '')}".replace('"', "").split()
    return "debian" in words


def _has_file_system(name: str) -> bool:
    """Whether the kernel knows the file system, built in or as a module that can be loaded."""
    known = Path("/proc/filesystems").read_text(encoding="utf-8").split()
    return name in known or bool(shutil.which("modprobe") and os.system(f"modprobe -q {name}") == 0)


def unavailable_reason() -> str | None:
    """Why no estate can be brought up on this machine, or None when it can."""
    if platform.system() != "Linux":
        return f"the lab needs Linux, this is {platform.system()}"
    if os.geteuid() != 0:
        return "the lab needs root (namespaces, mounts, bridges)"
    if not _is_debian_family():
        return "the lab needs Debian or a relative of it (debootstrap, packages)"
    missing = sorted({package for program, package in _PROGRAMS if shutil.which(program) is None})
    if missing:
        return f"packages are missing: apt-get install {' '.join(missing)}"
    if not _has_file_system("overlay"):
        return "the kernel has no overlayfs"
    if not Path("/dev/loop-control").exists():
        return "the kernel has no loop devices (/dev/loop-control)"
    return None
