"""Files a person asked for: whole or not at all."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path


def write_whole(path: Path, text: str, *, new: bool = False) -> None:
    """Write a text file (UTF-8, line ends as they are) beside its place and move it there: nobody sees half of it.

    Args:
        new: an existing file is left as it is (FileExistsError).

    Raises OSError; then what stood there stands there still, and nothing else is left.
    """
    if new and path.exists():
        raise FileExistsError(path)
    part = path.with_name(f"{path.name}.part")
    try:
        part.write_text(text, encoding="utf-8", newline="")
        part.replace(path)
    except OSError:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise
