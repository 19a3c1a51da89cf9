"""What the benchmarks measure against: drivers and stores in an environment of their own, servers that they start.

dolphie, the peer with the most dependencies, gets an environment to itself from its own benchmark (tests/bench).
"""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path

from boot import debian, environment
from boot.environment import Environment
from boot.places import PEERS_LOCK, ROOT, is_debian, is_root, say

PEERS = Environment(ROOT / ".venv-bench", peers=PEERS_LOCK)
# mysqlclient has no wheel for Linux: a C compiler, the C driver's headers. The -core packages are the
# programs alone (mariadb-install-db asks one of the client's): `mariadb-server` would start one at each boot.
PACKAGES = (
    "bash",
    "gcc",
    "libc6-dev",
    "libmariadb-dev",
    "mariadb-client-core",
    "mariadb-server-core",
    "openssh-client",
    "openssh-server",
    "pkgconf|pkg-config",
    "tmux",
)
SSHD = "openssh-server"
UNITS = ("ssh.service", "ssh.socket")
SYSTEMD = Path("/etc/systemd/system")


def packages() -> tuple[str, ...]:
    """Return the Debian packages; Python's own headers are one where this Python came without them."""
    headers = Path(sysconfig.get_path("include")) / "Python.h"
    python = f"python{sys.version_info.major}.{sys.version_info.minor}-dev"
    return PACKAGES if headers.exists() else (*PACKAGES, python)


def ensure() -> None:
    """Bring all peers, or say in one line what is missing and why: its rows of the table then say so too."""
    wanted = packages()
    if is_debian() and is_root() and SSHD in debian.missing(wanted):
        keep_from_starting(SYSTEMD)
    problem = debian.ensure(wanted, "the benchmarks' other sides")
    if problem:
        say(problem)
    environment.ensure(PEERS)


def keep_from_starting(folder: Path) -> None:
    """Mask the units of a package that is about to come (systemctl(1), mask: a link to /dev/null).

    The benchmarks start an sshd of their own on 127.0.0.1; this machine's doors stay as they were.
    """
    folder.mkdir(parents=True, exist_ok=True)
    made = [unit for unit in UNITS if not (folder / unit).is_symlink() and not (folder / unit).exists()]
    for unit in made:
        (folder / unit).symlink_to("/dev/null")
    if made:
        say(f"{' and '.join(made)} are masked so that they do not start; to undo: systemctl unmask {' '.join(made)}")
