"""Which data folder this process has, for what is read without the command's options. Light: every start imports it."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path

from services.workstation.home import base_folder

_APP = "pilothouse"
_named: list[Path] = []


@contextlib.contextmanager
def kept_in(folder: Path | None) -> Iterator[None]:
    """Have this data folder meanwhile (`--data`); None is the platform's. One at a time in a process."""
    _named[:] = [folder] if folder is not None else []
    try:
        yield
    finally:
        _named.clear()


def folder() -> Path:
    """Return the data folder; it may not exist yet."""
    return _named[0] if _named else usual_folder()


def usual_folder() -> Path:
    """Return the platform's user data folder; on Linux without platformdirs, for which the first paint would wait."""
    platform: str = sys.platform
    if platform.startswith("linux"):
        return base_folder("XDG_DATA_HOME", "~/.local/share") / _APP
    import platformdirs

    return Path(platformdirs.user_data_dir(_APP, appauthor=False))
