"""A Debian root with nothing of ours, and this machine's package sources; what runs in it ends with its own mounts."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.lab.estate.host.mirrors import debian_mirror
from tests.lab.estate.locks import lab_lock
from tests.lab.estate.paths import cache_dir
from tests.lab.estate.shell import Result, run

# What every desktop has beside the program: an X server, who starts a menu entry, who sees a window, the typefaces.
DESKTOP = (
    "ca-certificates", "dbus-x11", "fonts-dejavu-core", "libegl1", "libfontconfig1", "libgl1", "libglib2.0-bin",
    "libxkbcommon-x11-0", "openssh-client", "procps", "python3-venv", "x11-utils", "xauth", "xvfb",
    "libwayland-client0", "libwayland-cursor0", "libwayland-egl1", "libx11-xcb1", "libdbus-1-3", "fonts-inter",
    "fonts-jetbrains-mono", "xz-utils", "pipx",
)  # fmt: skip
_CLIENTS = re.compile(r"^(pip_|https?_proxy$|no_proxy$|ssl_cert|requests_ca|curl_ca|git_ssl)", re.IGNORECASE)
_CHANGING = "-path /proc -o -path /sys -o -path /dev -o -path /tmp -o -path /run -o -path /var/cache -o -path /var/log"
HOME = "/home/dba"
_WANTED = " ".join(DESKTOP)


@dataclass(frozen=True, slots=True)
class BareRoot:
    """A root file system of its own."""

    folder: Path

    def sh(self, script: str, *, login: str = "root", limit_s: float = 300.0, check: bool = True) -> Result:
        """Run a script in it, by a shell that ends at the first error, with mounts and processes that end with it."""
        settings = {
            "HOME": "/root" if login == "root" else HOME,
            "LANG": "C.UTF-8",
            "DEBIAN_FRONTEND": "noninteractive",
        }
        settings |= {name: value for name, value in os.environ.items() if _CLIENTS.match(name)}
        settings["PATH"] = "/usr/sbin:/usr/bin:/sbin:/bin"
        who = [] if login == "root" else [f"--userspec={login}"]
        shell = ["bash", "-euo", "pipefail", "-c", script]
        words = ["env", "-i", *(f"{name}={value}" for name, value in settings.items()), "chroot", *who]
        words += [str(self.folder), *shell]
        root = shlex.quote(str(self.folder))
        mounted = f"mount -t proc proc {root}/proc; mount --rbind /dev {root}/dev; mount -t tmpfs tmpfs {root}/dev/shm"
        inner = f"{mounted}; exec {shlex.join(words)}"
        return run(
            ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-ec", inner], limit_s=limit_s, check=check
        )

    def files(self) -> set[str]:
        """Return every path but what a running system changes by itself, as dpkg its own lists."""
        listed = self.sh(
            f"find / -xdev \\( {_CHANGING} -o -path /var/lib/dpkg -o -path /var/lib/apt \\) -prune -o -print"
        )
        return set(listed.out.split("\n"))

    def brings(self, file: Path, place: str) -> None:
        """Copy a file into it."""
        target = self.folder / place.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, target)


def base(release: str) -> Path:
    """Return the root of a release with a desktop's packages, made once (some minutes, needs a package mirror)."""
    final = cache_dir() / "bare" / f"{release}-{hashlib.sha256(_WANTED.encode()).hexdigest()[:12]}"
    with lab_lock(f"bare-{release}", limit_s=1800.0):
        if final.is_dir():
            return final
        building = final.with_name(f".building-{final.name}")
        shutil.rmtree(building, ignore_errors=True)
        building.parent.mkdir(parents=True, exist_ok=True)
        mirror = debian_mirror()
        run(["debootstrap", "--variant=minbase", release, str(building), *([mirror] if mirror else [])], limit_s=1700.0)
        _machines_settings(building)
        root = BareRoot(building)
        root.sh("apt-get update -qq && apt-get install -y -qq --no-install-recommends " + _WANTED, limit_s=1200.0)
        _machines_settings(building)  # once more: the certificates' package has written its own over them
        root.sh("useradd --create-home --uid 1500 --shell /bin/bash dba")
        building.rename(final)
    return final


def _machines_settings(root: Path) -> None:
    """Give it this machine's way to its packages, as any machine on this network has it."""
    for name in ("resolv.conf", "hosts", "pip.conf"):
        if (Path("/etc") / name).is_file():
            shutil.copy(Path("/etc") / name, root / "etc" / name)
    for variable in (name for name in os.environ if _CLIENTS.match(name)):
        path = Path(os.environ[variable])
        if path.is_absolute() and path.exists():
            target = root / str(path).lstrip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            copy = shutil.copytree if path.is_dir() else shutil.copy
            if path.is_file() or not target.exists():
                copy(path.resolve(), target)
    for file in Path("/etc/apt/apt.conf.d").glob("*"):
        if not (root / "etc/apt/apt.conf.d" / file.name).exists():
            shutil.copy(file, root / "etc/apt/apt.conf.d")


@contextmanager
def bare_root(release: str, folder: Path) -> Iterator[BareRoot]:
    """Lend a copy of the release's root."""
    copy = folder / release
    run(["cp", "-a", "--reflink=auto", str(base(release)), str(copy)], limit_s=300.0)
    try:
        yield BareRoot(copy)
    finally:
        shutil.rmtree(copy)
