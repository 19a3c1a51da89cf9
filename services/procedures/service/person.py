"""Who sits here, as locks and journals name them."""

from __future__ import annotations

import getpass
import socket


def person_here() -> str:
    """Return 'person@machine'."""
    return f"{_user()}@{socket.gethostname()}"


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"
