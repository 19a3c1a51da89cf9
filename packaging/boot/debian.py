"""System packages: installed on Debian as root, otherwise the exact line to run is printed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence

from boot.places import BootError, is_debian, is_root, say

# What Qt's xcb, Wayland and offscreen platforms load (ldd on the wheel's libraries), the two typefaces of the design,
# and a display for tests that need a real window system. "a|b": the first name that this release knows.
QT_PACKAGES = (
    "libegl1",
    "libgl1",
    "libdbus-1-3",
    "libfontconfig1",
    "libglib2.0-0t64|libglib2.0-0",
    "libwayland-client0",
    "libwayland-cursor0",
    "libx11-xcb1",
    "libxcb-cursor0",
    "libxcb-icccm4",
    "libxcb-image0",
    "libxcb-keysyms1",
    "libxcb-randr0",
    "libxcb-render-util0",
    "libxcb-shape0",
    "libxcb-sync1",
    "libxcb-xfixes0",
    "libxcb-xkb1",
    "libxkbcommon0",
    "libxkbcommon-x11-0",
    "fonts-inter",
    "fonts-jetbrains-mono",
    "xvfb",
)
# What tests compare with: without OpenSSH's own programs and other logins' shells they are skipped, and nobody would
# see what they show. The last three read what a desktop reads.
TEST_PACKAGES = ("openssh-client", "fish", "tcsh", "zsh", "appstream", "desktop-file-utils", "libglib2.0-bin")


def venv_packages() -> tuple[str, ...]:
    """Return what Debian's own Python lacks for making environments (its ensurepip is a package of its own)."""
    return (f"python{sys.version_info.major}.{sys.version_info.minor}-venv",)


def missing(packages: Sequence[str]) -> tuple[str, ...]:
    """Return those of `packages` that dpkg does not have installed, alternatives still unresolved."""
    return tuple(spec for spec in packages if not any(_installed(name) for name in spec.split("|")))


def ensure(packages: Sequence[str], purpose: str) -> str | None:
    """Install what is missing of `packages`; return None when all is there, else the reason with the line to run.

    A machine that is not Debian is trusted to have them: its package names are not ours to guess.
    """
    if not is_debian():
        return None
    wanted = missing(packages)
    if not wanted:
        return None
    names = tuple(_first_known(spec) for spec in wanted)
    if not is_root():
        line = f"sudo apt-get install -y --no-install-recommends {' '.join(names)}"
        return f"{purpose}: missing packages, and no root to install them. Run: {line}"
    say(f"installing {len(names)} Debian package(s) for {purpose}: {' '.join(names)}")
    try:
        _apt("update")
        # Names are resolved again: a machine that was never updated knows none of them before.
        _apt("install", "-y", "--no-install-recommends", *(_first_known(spec) for spec in wanted))
    except BootError as error:
        return f"{purpose}: {error}"
    return None


def _installed(name: str) -> bool:
    query = subprocess.run(
        ["dpkg-query", "-W", "-f=${db:Status-Status}", name], capture_output=True, text=True, check=False
    )
    return query.returncode == 0 and query.stdout.strip() == "installed"


def _first_known(spec: str) -> str:
    names = spec.split("|")
    for name in names:
        policy = subprocess.run(["apt-cache", "policy", name], capture_output=True, text=True, check=False)
        if "Candidate:" in policy.stdout and "Candidate: (none)" not in policy.stdout:
            return name
    return names[-1]


def _apt(*arguments: str) -> None:
    if shutil.which("apt-get") is None:
        raise BootError("apt-get is not there, though this looks like Debian")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8"}
    command = ["apt-get", "-q", "-o", "Acquire::Retries=3", "-o", "DPkg::Lock::Timeout=300", *arguments]
    done = subprocess.run(
        command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        tail = " / ".join((done.stderr or done.stdout).strip().splitlines()[-4:])
        raise BootError(f"'{' '.join(command)}' ended with {done.returncode}: {tail}")
