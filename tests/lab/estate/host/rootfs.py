"""The file system of a host: an overlay over the base image, and a data disk of its own at /var/lib/mysql."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.lab.estate.host import mounts
from tests.lab.estate.host.image import ensure_image
from tests.lab.estate.paths import data_root, private_dir
from tests.lab.estate.servers.engine import MYSQL
from tests.lab.estate.shell import run
from tests.lab.estate.spec import EstateSpec


def host_dir(spec: EstateSpec, name: str) -> Path:
    """Folder of one host: upper, work, root (overlay), data.img and data (its mount)."""
    return data_root() / spec.name / spec.host(name).name


def root(spec: EstateSpec, name: str) -> Path:
    return host_dir(spec, name) / "root"


def data(spec: EstateSpec, name: str) -> Path:
    """The data disk as mounted on the machine; the container sees it at /var/lib/mysql."""
    return host_dir(spec, name) / "data"


def prepare(spec: EstateSpec, name: str, *, filled: bool) -> None:
    """Mount overlay and data disk of a host; a new data disk gets the image's data folder if `filled`, else nothing."""
    image = ensure_image(spec.host(name).release)
    private_dir(data_root())
    folder = host_dir(spec, name)
    for part in ("upper", "work", "root", "data"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    if not mounts.mounted(folder / "root"):
        options = f"lowerdir={image},upperdir={folder / 'upper'},workdir={folder / 'work'}"
        run(["mount", "-t", "overlay", spec.machine(name), "-o", options, str(folder / "root")])
    if not mounts.mounted(folder / "data"):
        # A write into a hole of its file fails on a full disk, and MySQL ends itself there: real servers have no holes.
        sparse = "never" if spec.host(name).engine is MYSQL else "always"
        _data_disk(folder, image if filled else None, sparse, size=spec.disk_gib * 1024**3)


def _data_disk(folder: Path, image: Path | None, sparse: str, *, size: int) -> None:
    disk = folder / "data.img"
    fresh = not disk.exists()
    if fresh:
        new = folder / "data.img.new"
        with new.open("wb") as handle:
            handle.truncate(size)
        # -m 0: no blocks kept for root, so that a full disk is full for the database and for df alike
        run(["mkfs.ext4", "-q", "-m", "0", "-E", "lazy_itable_init=1,lazy_journal_init=1", str(new)])
        new.rename(disk)
    run(["mount", "-o", "loop,noatime", str(disk), str(folder / "data")])
    if fresh:
        (folder / "data" / "lost+found").rmdir()
        if image is not None:
            run(["cp", "-a", f"--sparse={sparse}", f"{image}/var/lib/mysql/.", str(folder / "data")])


def mysql_ids(spec: EstateSpec, name: str) -> tuple[int, int]:
    """(uid, gid) of the account `mysql` inside the image."""
    for line in (root(spec, name) / "etc/passwd").read_text(encoding="utf-8").splitlines():
        fields = line.split(":")
        if fields[0] == "mysql":
            return int(fields[2]), int(fields[3])
    raise LookupError("no account mysql in the image")


def remove(spec: EstateSpec) -> None:
    """Unmount everything below the estate's folder and delete it; loop devices go with their mounts."""
    folder = data_root() / spec.name
    for point in reversed([p for p in mounts.mount_points() if p.startswith(f"{folder}/")]):
        if not run(["umount", point], check=False, limit_s=30).ok:
            run(["umount", "-l", point], check=False)
    for device in loop_devices(str(folder)):
        run(["losetup", "-d", device], check=False)
    if folder.exists():
        shutil.rmtree(folder)
    if data_root().is_dir() and not any(data_root().iterdir()):
        data_root().rmdir()


def loop_devices(below: str) -> list[str]:
    """Loop devices whose backing file lies below the folder `below` (sysfs: block/loopN/loop/backing_file)."""
    found = []
    for backing in Path("/sys/block").glob("loop*/loop/backing_file"):
        try:
            name = backing.read_text(encoding="utf-8").strip()
        except OSError:
            continue
        if name.startswith(f"{below}/"):
            found.append(f"/dev/{backing.parent.parent.name}")
    return sorted(found)
