"""What cat(1), stat(1) and their like say of a file, in the C locale. Pure."""

from __future__ import annotations

import re

from services.connections.ports import Output

_OWNER_AND_MODE = re.compile(r"(\d{1,10}:\d{1,10}) ([0-7]{1,5})\s*", re.ASCII)


def absent(said: str) -> bool:
    """Return whether a program says that a file is not there (strerror(3) of ENOENT and ENOTDIR)."""
    return "No such file" in said or "Not a directory" in said


def is_absent(output: Output) -> bool:
    """Return whether a program failed because a file is not there."""
    return bool(output.exit_code) and absent(output.stderr.decode("utf-8", "replace"))


def owner_and_mode(text: str) -> tuple[str, str] | None:
    """Return ('0:0', '0644') of `stat -c '%u:%g %a'`, without setuid, setgid and sticky bits; None for anything else.

    The owner becomes an argument of root's chown: it is two numbers and nothing more.
    """
    found = _OWNER_AND_MODE.fullmatch(text)
    return (found[1], f"{int(found[2], 8) & 0o777:04o}") if found is not None else None
