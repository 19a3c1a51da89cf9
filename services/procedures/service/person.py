"""Who sits here, as locks and journals name them."""

from __future__ import annotations

import socket

from services.workstation.home import local_user


def person_here() -> str:
    """Return 'person@machine'."""
    return f"{local_user() or 'unknown'}@{socket.gethostname()}"
