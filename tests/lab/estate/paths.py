"""Where the lab keeps its things, and how everything it makes in the kernel is named.

Every name begins with `PREFIX`, so that `down` and `leftovers()` can find what belongs to the lab
from the kernel's own tables alone, even when the process that made it was killed half-way.
"""

from __future__ import annotations

import os
from pathlib import Path

PREFIX = "phlab"


def cache_dir() -> Path:
    """Base images and lock files: kept between runs, outside the work tree (`PILOTHOUSE_LAB_CACHE`)."""
    return Path(os.environ.get("PILOTHOUSE_LAB_CACHE", "/var/cache/pilothouse-lab"))


def state_root() -> Path:
    """What is known about running estates: secrets, client folders, logs (`PILOTHOUSE_LAB_STATE`)."""
    return Path(os.environ.get("PILOTHOUSE_LAB_STATE", "/run/pilothouse-lab"))


def data_root() -> Path:
    """Overlay upper layers and data disks: on a real file system (`PILOTHOUSE_LAB_DATA`)."""
    return Path(os.environ.get("PILOTHOUSE_LAB_DATA", "/var/lib/pilothouse-lab"))


def private_dir(path: Path) -> Path:
    """Make `path` (and its parents) if needed, readable by root only, and return it."""
    path.mkdir(parents=True, exist_ok=True)
    path.chmod(0o700)
    return path
