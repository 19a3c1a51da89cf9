"""Where files live on this workstation, by the platform's custom."""

from __future__ import annotations

import os
import stat
import sys
from argparse import Namespace
from pathlib import Path

from services.boundary import why
from services.errors import BadInput
from services.i18n import tr
from services.workstation.data_place import usual_folder
from services.workstation.files import narrow, not_ones_own, private_folder
from services.workstation.home import base_folder, homes

_APP = "pilothouse"
_STATE, _HISTORY = "state.sqlite", "history.sqlite"


def data_folder(options: Namespace) -> Path:
    """Return (and make) the folder of the local stores: `--data`, else the platform's user data folder."""
    given: Path | None = getattr(options, "data", None)
    folder = given or usual_folder()
    try:
        private_folder(folder)
        if given is None:
            narrow(folder, 0o700)
        foreign = not_ones_own(folder)
        if any((folder / name).exists() for name in (_STATE, _HISTORY)):
            narrow(folder, 0o700)  # a folder that others share keeps its mode until there is something of ours in it
    except OSError as problem:
        raise BadInput(
            tr("The data folder {folder} cannot be created: {problem}.", folder=folder, problem=problem.strerror),
            try_=(tr("Name another one with --data DIR."),),
        ) from problem
    if foreign:
        raise BadInput(
            tr("The data folder {folder} is not used: {why}.", folder=folder, why=foreign),
            try_=(
                tr(
                    "Name another one with --data DIR, or make yourself its owner and only writer: chown and chmod "
                    "go-w."
                ),
            ),
        )
    return folder


def other_journals(options: Namespace) -> tuple[Path, ...]:
    """Return this person's other usual data folders that hold a journal: by XDG_DATA_HOME, below the home, and those of
    who called sudo. None of them is opened."""
    read = (getattr(options, "data", None) or usual_folder()).absolute()
    caller = os.environ.get("SUDO_USER", "").strip()
    known = homes("", *((caller,) if caller else ()))
    usual = (*_usual(), *(home / ".local" / "share" / _APP for home in known))
    return tuple(dict.fromkeys(one for one in usual if one.absolute() != read and _holds_journal(one)))


def _usual() -> tuple[Path, ...]:
    try:
        return (usual_folder(),)
    except BadInput:  # no home
        return ()


def _holds_journal(folder: Path) -> bool:
    try:
        return (folder / _STATE).is_file()
    except OSError:  # another person's
        return False


def state_file(options: Namespace) -> Path:
    """Return the state store of the data folder; it may not exist yet."""
    return data_folder(options) / _STATE


def history_file(options: Namespace) -> Path:
    """Return the history of the data folder; it may not exist yet."""
    return data_folder(options) / _HISTORY


def inventory_file(options: Namespace) -> Path:
    """Return the inventory's path: `--inventory`, else the platform's configuration folder. It may not exist yet."""
    given: Path | None = getattr(options, "inventory", None)
    return given or usual_inventory()


def windows_inventory(options: Namespace) -> Path:
    """Return the file that a window adds hosts to: a demo has one as well, though this login has no home folder."""
    try:
        return inventory_file(options)
    except BadInput:
        return Path("inventory.toml")  # where this was started; what is watched says by itself that no place is known


def usual_inventory() -> Path:
    """Return where the inventory is that nobody named; raise BadInput where this login has no home folder."""
    platform: str = sys.platform
    if platform.startswith("linux"):
        return base_folder("XDG_CONFIG_HOME", "~/.config") / _APP / "inventory.toml"
    import platformdirs

    return Path(platformdirs.user_config_dir(_APP, appauthor=False)) / "inventory.toml"


DEMOS = ("incident", "conversion")
"""What comes with the program: a Galera cluster's bad minutes, and config servers of MongoDB that become a set."""


def need_recording(path: Path) -> None:
    """Raise BadInput where a recording that a person named can't be one: nothing is there, or no regular file."""
    try:
        regular = stat.S_ISREG(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError) as problem:
        raise BadInput(
            tr("There is no recording at {path}.", path=path), try_=(tr("Create one with: pilothouse record FILE"),)
        ) from problem
    except OSError as problem:
        raise BadInput(tr("The recording {path} cannot be read: {why}.", path=path, why=why(problem))) from problem
    if not regular:
        raise BadInput(tr("The recording {path} cannot be read: it is not a regular file.", path=path))


def demo_recording(name: str = DEMOS[0]) -> Path:
    """Return the recording that `demo` opens, by its name in DEMOS."""
    path = Path(__file__).resolve().parent.parent / "resources" / "demo" / f"{name}.pilothouse"
    if not path.is_file():
        raise BadInput(
            tr("The demo recording {path} is missing.", path=path),
            try_=(tr("Reinstall Pilothouse, or record your own with: pilothouse record FILE"),),
        )
    return path
