"""Files a person relies on: whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path


def write_whole(
    path: Path, text: str | bytes, *, new: bool = False, private: bool = False, durable: bool = False
) -> None:
    """Write a file beside its place and move it there: nobody sees half of it (man rename(2)). A link stays one.

    Args:
        text: UTF-8, its line ends as they are.
        new: a file that exists is left as it is (FileExistsError); the name is taken before anything is written.
        private: only its owner may read it.
        durable: it has reached the disk when this returns.

    Raises OSError; then what stood there stands there still, and nothing else is left.
    """
    if new:
        path.touch(exist_ok=False)
    target = path.resolve()
    part = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        _write(part, text.encode("utf-8") if isinstance(text, str) else text, private=private, durable=durable)
        os.replace(part, target)  # noqa: PTH105 - replaces atomically on Windows too
    except BaseException:
        for mine in (part, target) if new else (part,):
            with contextlib.suppress(OSError):
                mine.unlink()
        raise
    if durable:
        _sync_folder(target.parent)


def _write(part: Path, data: bytes, *, private: bool, durable: bool) -> None:
    mode = 0o600 if private else 0o666
    with open(part, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as stream:
        stream.write(data)
        if durable:
            stream.flush()
            os.fsync(stream.fileno())


def _sync_folder(folder: Path) -> None:
    if os.name != "posix":
        return  # Windows has no such call; the rename is journalled
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
