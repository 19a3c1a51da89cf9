"""Who runs this program: the login's name and the home, where the system has no entry for the account as well."""

from __future__ import annotations

import contextlib
import getpass
import os
from pathlib import Path


def own_login() -> str:
    """Return the name of this account on this machine; '' where neither passwd(5) nor the environment has one.

    As in ssh, passwd's comes first: LOGNAME may be whoever ran su (OpenSSH 9.2: %u, Match localuser, the User of none).
    """
    if name := login_of_passwd():
        return name
    with contextlib.suppress(KeyError, OSError, ImportError):
        return getpass.getuser()
    return ""


def below_home(text: str) -> Path:
    """Return the path with '~' replaced; as it is where nobody knows the home."""
    return Path(os.path.expanduser(text))  # noqa: PTH111 - Path.expanduser raises where there is no home


def home_of_passwd() -> Path | None:
    """Return the account's own home, from which ssh takes its files whatever HOME says; None: there is no entry."""
    if os.name != "posix":
        return None
    import pwd  # POSIX only

    with contextlib.suppress(KeyError):
        return Path(pwd.getpwuid(os.getuid()).pw_dir)
    return None


def login_of_passwd() -> str:
    """Return the name that ssh takes for this account; '' where there is no entry."""
    if os.name != "posix":
        return os.environ.get("USERNAME", "")
    import pwd  # POSIX only

    with contextlib.suppress(KeyError):
        return pwd.getpwuid(os.getuid()).pw_name
    return ""
