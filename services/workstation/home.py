"""The home folder of whoever started this, and the places of the XDG base directories in it.

A login may have none: HOME is not set and the user database has no entry for it (a container with any user id, a
directory service that is down). Python's own readers then raise, or leave a '~' that becomes a folder of that name.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from services.errors import BadInput
from services.i18n import tr


def expanded(path: str | Path) -> Path:
    """Return a path with its `~` as the home folder that it means; raise BadInput where nobody knows that."""
    given = Path(path)
    if not str(given).startswith("~"):
        return given
    try:
        found = given.expanduser()
    except (RuntimeError, KeyError, OSError) as problem:
        raise _homeless(given) from problem
    if (
        not found.is_absolute() or not os.environ.get("HOME", "/").strip()
    ):  # or relative: it would be a place below wherever this was started
        raise _homeless(given)
    return found


def homes(*logins: str) -> tuple[Path, ...]:
    """Return the home folders of whoever started this ('') and of others by their names, as far as they are known."""
    found: list[Path] = []
    for login in logins:
        with contextlib.suppress(BadInput):
            found.append(expanded(f"~{login}"))
    return tuple(found)


def base_folder(variable: str, usual: str) -> Path:
    """Return a base directory: what the variable says, else `usual` ('~/.config').

    A relative one counts as none (XDG Base Directory Specification, "Basics").
    """
    given = os.environ.get(variable, "").strip()
    return Path(given) if given and Path(given).is_absolute() else expanded(usual)


def local_user() -> str:
    """Return the name of whoever started this, '' where this machine knows none."""
    import getpass  # late: behind it stand terminals, and the window's first paint would wait for them

    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):  # no such entry: KeyError, from Python 3.13 on OSError
        return ""


def _homeless(path: Path) -> BadInput:
    given = os.environ.get("HOME", "").strip()
    return BadInput(
        tr("{path} cannot be found: HOME is {home}, which is not an absolute path.", path=path, home=given)
        if given
        else tr(
            "{path} cannot be found: this login has no home folder (HOME is not set, and the user is unknown).",
            path=path,
        ),
        try_=(
            tr("Set HOME to a folder of this login, and start again."),
            tr("Name the files: --inventory FILE and --data DIR."),
        ),
    )  # fmt: skip
