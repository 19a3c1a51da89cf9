"""Packages that only a few tests need: fetched once beside the base images, installed on a host and purged again.

The base image stays as it is, so running estates do too.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.lab.estate import rootfs
from tests.lab.estate.errors import LabError
from tests.lab.estate.estate import Estate
from tests.lab.estate.image import ensure_image, image_key
from tests.lab.estate.locks import lab_lock
from tests.lab.estate.mirrors import codename
from tests.lab.estate.paths import cache_dir
from tests.lab.estate.shell import run

_FOLDER = "/var/tmp/lab-packages"


def ensure_packages(release: str, names: tuple[str, ...]) -> Path:
    """Folder with these packages and all that the base image of `release` lacks for them.

    apt of this machine fetches them against the image's own list of installed packages (man apt-get(8),
    --download-only), so this machine must be of that release.
    """
    if codename() != release:
        raise LabError(f"packages for {release} are fetched by apt of a machine of {release}, this one is {codename()}")
    image = ensure_image(release)
    key = hashlib.sha256("\n".join([image_key(release), *sorted(names)]).encode()).hexdigest()[:12]
    final = cache_dir() / "packages" / f"{release}-{key}"
    with lab_lock(f"packages-{release}", limit_s=300.0):
        if final.is_dir():
            return final
        fetching = final.parent / f".fetching-{final.name}"
        shutil.rmtree(fetching, ignore_errors=True)
        (fetching / "partial").mkdir(parents=True)
        options = [f"Dir::State::status={image}/var/lib/dpkg/status", f"Dir::Cache::archives={fetching}",
                   "Debug::NoLocking=1"]  # fmt: skip
        words = [word for option in options for word in ("-o", option)]
        run(["apt-get", "install", "--download-only", "--no-install-recommends", "-y", *words, *names], limit_s=300)
        fetching.rename(final)
    return final


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
