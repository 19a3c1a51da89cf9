"""Packages that only a few tests need: fetched once beside the base images, installed on a host and purged again.

The base image stays as it is, so running estates do too.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.lab.estate.estate import Estate
from tests.lab.estate.host import rootfs
from tests.lab.estate.host.image import ensure_image, image_key
from tests.lab.estate.host.mirrors import debian_mirror
from tests.lab.estate.locks import lab_lock
from tests.lab.estate.paths import cache_dir
from tests.lab.estate.shell import run

_FOLDER = "/var/tmp/lab-packages"


def ensure_packages(release: str, names: tuple[str, ...]) -> Path:
    """Folder with these packages and all that the base image of `release` lacks for them.

    debootstrap(8) --download-only fetches them as it fetched the image's own, so any machine that can build the image
    can; what the image has already is thrown away again.
    """
    image = ensure_image(release)
    key = hashlib.sha256("\n".join([image_key(release), *sorted(names)]).encode()).hexdigest()[:12]
    final = cache_dir() / "packages" / f"{release}-{key}"
    with lab_lock(f"packages-{release}", limit_s=300.0):
        if final.is_dir():
            return final
        fetching, picked = (final.parent / f".{part}-{final.name}" for part in ("fetching", "picked"))
        for folder in (fetching, picked):
            shutil.rmtree(folder, ignore_errors=True)
        picked.mkdir(parents=True)
        mirror = debian_mirror()
        include = f"--include={','.join(names)}"
        argv = ["debootstrap", "--download-only", "--variant=minbase", include, release, str(fetching)]
        run([*argv, *([mirror] if mirror else [])], limit_s=300)
        for file in (fetching / "var/cache/apt/archives").glob("*.deb"):
            if not _has(image, file.name.partition("_")[0]):
                file.rename(picked / file.name)
        shutil.rmtree(fetching)
        picked.rename(final)
    return final


def _has(image: Path, package: str) -> bool:
    """Return whether the image has a package (dpkg(1): one list of files for each that is installed)."""
    lists = image / "var/lib/dpkg/info"
    return (lists / f"{package}.list").exists() or any(lists.glob(f"{package}:*.list"))


@contextmanager
def installed(estate: Estate, host: str, names: tuple[str, ...]) -> Iterator[None]:
    """These packages on one host; purged at the end, with what came with them."""
    folder = ensure_packages(estate.spec.host(host).release, names)
    files = sorted(folder.glob("*.deb"))
    target = rootfs.root(estate.spec, host) / _FOLDER.lstrip("/")
    target.mkdir(exist_ok=True)
    for file in files:
        shutil.copy(file, target)
    machine = estate.host(host)
    packages = " ".join(file.name.partition("_")[0] for file in files)
    try:
        machine.sh(f"DEBIAN_FRONTEND=noninteractive dpkg -i {_FOLDER}/*.deb", limit_s=180)
        yield
    finally:
        machine.sh(f"DEBIAN_FRONTEND=noninteractive dpkg --purge {packages}; rm -rf {_FOLDER}", limit_s=120)
