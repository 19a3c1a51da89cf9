"""Base images: one debootstrap per release, built once, kept in the cache, keyed by what is in them.

A build happens in a temporary folder beside its final place and is renamed when complete: an interrupted build is
never mistaken for an image, and is removed by the next one.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
from pathlib import Path

from tests.lab.estate.errors import LabError, NotToBeHadError
from tests.lab.estate.host import mounts, proc
from tests.lab.estate.host.mirrors import debian_mirror
from tests.lab.estate.locks import lab_lock
from tests.lab.estate.paths import cache_dir
from tests.lab.estate.servers.engine import MYSQL_RELEASE, engine_of
from tests.lab.estate.shell import run
from tests.lab.estate.spec import ESTATES

RECIPE = 5
_EVERYWHERE: tuple[str, ...] = (
    "systemd",
    "systemd-sysv",
    "dbus",
    "openssh-server",
    "iproute2",
    "procps",
    "sudo",
    "iputils-ping",
    "libfaketime",
)
_MARIADB: tuple[str, ...] = ("mariadb-server", "mariadb-backup", "galera-4", "socat", "rsync", "pigz")
_MYSQL: tuple[str, ...] = ("mysql-server",)
_IDLE_UNITS: tuple[str, ...] = (
    "apt-daily.timer",
    "apt-daily-upgrade.timer",
    "dpkg-db-backup.timer",
    "e2scrub_all.timer",
    "e2scrub_reap.service",
    "fstrim.timer",
    "man-db.timer",
    "systemd-tmpfiles-clean.timer",
    "systemd-pstore.service",
    "systemd-timesyncd.service",
    "systemd-networkd.service",
    "systemd-networkd.socket",
    "systemd-resolved.service",
    "console-getty.service",
    "getty@tty1.service",
    "getty.target",
)
_UNIT_PLACES = ("etc/systemd/system", "usr/lib/systemd/system")
DATABASE_WORDS = ("maria", "mysql")
_DATABASE_UNITS: tuple[str, ...] = ("mariadb.service", "mariadb.socket", "mariadb-extra.socket", "mysql.service")

_SSHD = """\
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
UseDNS no
PrintMotd no
PrintLastLog no
AllowTcpForwarding yes
MaxStartups 60:30:120
MaxSessions 40
"""
_SUDOERS = "dba ALL=(ALL:ALL) NOPASSWD: ALL\ndbapw ALL=(ALL:ALL) ALL\nDefaults !fqdn\n"
# Commands under sudo get /etc/environment too, as sessions do: see skew.py.
_SUDO_PAM = "session required pam_env.so readenv=1 user_readenv=0\n"
# What is killed stays dead until the test says otherwise; Debian's long TimeoutStopSec stays as it is in real life.
_UNIT = "[Service]\nRestart=no\n"


def packages(release: str) -> tuple[str, ...]:
    """What is installed in the image of a release."""
    return _EVERYWHERE + (_MYSQL if release == MYSQL_RELEASE else _MARIADB)


def image_key(release: str) -> str:
    """Hash of release, package list and recipe version: another list is another image."""
    text = "\n".join([release, str(RECIPE), *sorted(packages(release)), _SSHD, _SUDOERS, _SUDO_PAM, _UNIT])
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def image_path(release: str) -> Path:
    """Where the finished image of `release` lies or will lie."""
    return cache_dir() / "images" / f"{release}-{image_key(release)}"


def ensure_image(release: str) -> Path:
    """Root file system of `release`, built first if the cache has none (about a minute, needs a package mirror).

    Raises NotToBeHadError where the one release that nobody promises (sid) can't be had today, with the reason.
    """
    final = image_path(release)
    if final.is_dir():
        return final
    with lab_lock(f"image-{release}", limit_s=1800.0):
        if final.is_dir():
            return final
        _remove_unfinished(final.parent, release)
        final.parent.mkdir(parents=True, exist_ok=True)
        building = final.parent / f".building-{final.name}"
        _debootstrap(release, building)
        _customise(building, engine_of(release).unit)
        building.rename(final)
        _remove_outdated(final, release)
    return final


def not_to_be_had(release: str) -> str:
    """Why the image of a release can't be had today; '' when it is there, built first where it was not."""
    try:
        ensure_image(release)
    except NotToBeHadError as error:
        return str(error)
    return ""


def make_those_missing() -> None:
    """Build the image of every release that an estate's hosts run, one after the other (about a minute each)."""
    for release in sorted({host.release for spec in ESTATES for host in spec.hosts}):
        not_to_be_had(release)


def enabled_units(root: Path, words: tuple[str, ...]) -> list[str]:
    """Names of units that would start with a host of the file system `root` and contain one of `words`.

    What counts is a link of that name, wherever it leads: its target is looked up on the host, and dangles here on a
    machine without that package (Path.glob and Path.exists pass over such links). An init script counts where there
    is no unit of its name (systemd-sysv-generator(8)).
    """
    found: set[str] = set()
    for place in _UNIT_PLACES:
        folders = (root / place).iterdir() if (root / place).is_dir() else ()
        for folder in folders:
            if folder.suffix in (".wants", ".requires"):
                found.update(link.name for link in folder.iterdir())
    for level in (root / "etc").glob("rc?.d"):
        scripts = (link.name for link in level.iterdir() if re.fullmatch(r"S\d\d.+", link.name))
        found.update(name for name in scripts if not (root / _UNIT_PLACES[1] / f"{name[3:]}.service").is_file())
    return sorted(name for name in found if any(word in name for word in words))


def _remove_outdated(current: Path, release: str) -> None:
    """Remove images of the same release with another key, unless a running host stands on one."""
    in_use = Path("/proc/self/mountinfo").read_text(encoding="utf-8")
    for image in current.parent.glob(f"{release}-*"):
        if image != current and f"lowerdir={image}," not in in_use:
            shutil.rmtree(image)


def _remove_unfinished(folder: Path, release: str) -> None:
    """Remove what a killed build left: processes that still work in its folder, mounts below it, then the folder."""
    for left in folder.glob(f".building-{release}-*"):
        for pid, argv in proc.processes():
            if any(str(left) in part for part in argv):
                proc.end(pid, limit_s=3)
        for point in reversed(_mounts_below(left)):
            run(["umount", "-l", point], check=False)
        if _mounts_below(left):
            raise LabError(f"something is still mounted below {left}: {', '.join(_mounts_below(left))}")
        shutil.rmtree(left)


def _mounts_below(folder: Path) -> list[str]:
    return [point for point in mounts.mount_points() if point.startswith(f"{folder}/")]


def _debootstrap(release: str, target: Path) -> None:
    argv = ["debootstrap", "--variant=minbase", f"--include={','.join(packages(release))}", release, str(target)]
    mirror = debian_mirror()
    if mirror:
        argv.append(mirror)
    log = target.parent / f"{release}.log"
    with log.open("w", encoding="utf-8") as handle:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=handle, stderr=handle, timeout=1700, check=False)
    if done.returncode != 0:
        tail = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-5:]
        error = NotToBeHadError if release == MYSQL_RELEASE else LabError
        raise error(f"debootstrap of {release} failed ({log}): {' | '.join(tail)}")


def _customise(root: Path, database: str) -> None:
    """Users, sshd, quiet systemd, and nothing that would be the same on every host (keys, machine id)."""
    for user in ("dba", "dbapw"):
        run(["chroot", str(root), "useradd", "--create-home", "--shell", "/bin/bash", user])
    sudoers = root / "etc/sudoers.d/pilothouse-lab"
    sudoers.write_text(_SUDOERS, encoding="utf-8")
    sudoers.chmod(0o440)
    for service in ("sudo", "sudo-i"):
        with (root / "etc/pam.d" / service).open("a", encoding="utf-8") as handle:
            handle.write(_SUDO_PAM)
    (root / "etc/ssh/sshd_config.d/lab.conf").write_text(_SSHD, encoding="utf-8")
    for key in (root / "etc/ssh").glob("ssh_host_*"):
        key.unlink()
    (root / "etc/machine-id").write_bytes(b"")  # a lone newline would be refused
    system = root / "etc/systemd/system"
    for unit in _IDLE_UNITS:
        (system / unit).unlink(missing_ok=True)
        (system / unit).symlink_to("/dev/null")
    for unit in _DATABASE_UNITS:
        # Not f"*.wants/{unit}": glob leaves out a link whose target is not there, and these are targets of the image,
        # looked up on this machine: they dangle wherever mariadb-server isn't installed.
        for folder in system.glob("*.wants"):
            (folder / unit).unlink(missing_ok=True)
    if left := enabled_units(root, DATABASE_WORDS):
        raise LabError(f"a database would start with every host of the image: {', '.join(left)}")
    drop_in = system / f"{database}.service.d"
    drop_in.mkdir(exist_ok=True)
    (drop_in / "lab.conf").write_text(_UNIT, encoding="utf-8")
    shutil.rmtree(root / "var/cache/apt/archives", ignore_errors=True)
    (root / "var/cache/apt/archives/partial").mkdir(parents=True)
    for lists in (root / "var/lib/apt/lists").glob("*_*"):
        lists.unlink()
