"""Where files live on this workstation, by the platform's custom."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from pathlib import Path

from services.errors import BadInput
from services.files import narrow, not_ones_own, private_folder
from services.words import tr

_APP = "pilothouse"
_STORES = ("state.sqlite", "history.sqlite")


def data_folder(options: Namespace) -> Path:
    """Return (and make) the folder of the local stores: `--data`, else the platform's user data folder."""
    given: Path | None = getattr(options, "data", None)
    folder = given or _usual_data()
    try:
        private_folder(folder)
        if given is None:
            narrow(folder, 0o700)
        foreign = not_ones_own(folder)
        if any((folder / name).exists() for name in _STORES):
            narrow(folder, 0o700)  # a folder that others share keeps its mode until there is something of ours in it
    except OSError as problem:
        raise BadInput(
            tr("The data folder {folder} can't be made: {problem}.", folder=folder, problem=problem.strerror),
            try_=(tr("Name another one with --data DIR."),),
        ) from problem
    if foreign:
        raise BadInput(
            tr("The data folder {folder} is not used: {why}.", folder=folder, why=foreign),
            try_=(tr("Name another one with --data DIR, or make it yours alone: chown and chmod go-w."),),
        )
    return folder


def _usual_data() -> Path:
    """Return the platform's user data folder; on Linux without platformdirs, for which the first paint would wait."""
    platform: str = sys.platform
    if platform.startswith("linux"):
        home = os.environ.get("XDG_DATA_HOME", "").strip() or os.path.expanduser("~/.local/share")  # noqa: PTH111
        return Path(home) / _APP
    import platformdirs

    return Path(platformdirs.user_data_dir(_APP, appauthor=False))


def inventory_file(options: Namespace) -> Path:
    """Return the inventory's path: `--inventory`, else the platform's configuration folder. It may not exist yet."""
    given: Path | None = getattr(options, "inventory", None)
    return given or usual_inventory()


def usual_inventory() -> Path:
    """Return where the inventory is that nobody named."""
    import platformdirs

    return Path(platformdirs.user_config_dir(_APP, appauthor=False)) / "inventory.toml"


def demo_recording() -> Path:
    """Return the recording that `demo` opens."""
    path = Path(__file__).resolve().parent.parent / "resources" / "demo" / "incident.pilothouse"
    if not path.is_file():
        raise BadInput(
            tr("The demo recording {path} is missing.", path=path),
            try_=(tr("Reinstall Pilothouse, or record your own with: pilothouse record FILE"),),
        )
    return path
