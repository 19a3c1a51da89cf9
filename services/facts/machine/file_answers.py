"""What cat(1), stat(1) and their like say of a file, in the C locale. Pure."""

from __future__ import annotations

from services.connections.ports import Output


def absent(said: str) -> bool:
    """Return whether a program says that a file is not there (strerror(3) of ENOENT and ENOTDIR)."""
    return "No such file" in said or "Not a directory" in said


def is_absent(output: Output) -> bool:
    """Return whether a program failed because a file is not there."""
    return bool(output.exit_code) and absent(output.stderr.decode("utf-8", "replace"))
