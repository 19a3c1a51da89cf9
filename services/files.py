"""Files of this workstation: written whole or not at all and for their owner alone, read only where reading ends.

Every file that the program writes is made here (an architecture test looks for others), so that none is ever readable
by others of the machine: not the stores, not a recording, not a report or picture of an estate.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path

from services.words import tr

MOST_TEXT = 2**20
"""Bytes of a file that a person writes by hand: settings, a list of hosts."""


def write_whole(
    path: Path, text: str | bytes, *, new: bool = False, private: bool = True, durable: bool = False
) -> None:
    """Write a file beside its place and move it there: nobody sees half of it (man rename(2)). A link stays one.

    Args:
        text: UTF-8, its line ends as they are.
        new: a file that exists is left as it is (FileExistsError); the name is taken before anything is written.
        private: only its owner may read it, whatever the mode of what stood there.
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


def read_bounded(path: Path, most: int = MOST_TEXT) -> bytes:
    """Return what is in a file that somebody named, and that may be a device, a pipe or without end.

    Raises:
        OSError: it can't be read, is no regular file, or is larger than `most` bytes; `strerror` is a sentence's end.
    """
    if str(path) == os.devnull:
        return b""  # what ssh's users name where there is to be nothing
    _refuse_device(os.stat(path).st_mode)  # noqa: PTH116 - opening some devices does something already (man tape(4))
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_CLOEXEC", 0)
    with os.fdopen(os.open(path, flags | getattr(os, "O_BINARY", 0)), "rb") as stream:
        _refuse_device(os.fstat(stream.fileno()).st_mode)  # another file may have taken its place meanwhile
        data = stream.read(most + 1)
    if len(data) > most:
        size = f"{most // 2**20} MiB" if most >= 2**20 else f"{most // 1024} kB"
        raise OSError(errno.EFBIG, tr("it is larger than {size}", size=size))
    return data


def _refuse_device(mode: int) -> None:
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, tr("it is no regular file"))


def private_folder(path: Path) -> None:
    """Make a folder, and those above it, that only its owner may look into; one that exists is left as it is."""
    for folder in (*reversed(path.parents), path):
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)
    if not path.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))


def private_file(path: Path) -> None:
    """Make an empty file that only its owner may read; one that exists keeps what it holds and becomes so.

    What SQLite puts beside a database (-wal, -shm, -journal) gets the mode of the database itself.
    """
    os.close(os.open(path, os.O_CREAT | os.O_RDWR | getattr(os, "O_CLOEXEC", 0), 0o600))
    for name in (path, *(path.with_name(path.name + suffix) for suffix in ("-wal", "-shm", "-journal"))):
        with contextlib.suppress(FileNotFoundError):
            narrow(name, 0o600)


def not_ones_own(path: Path) -> str:
    """Return why others could have written what stands in a file or folder, a sentence's end; '' where only its owner.

    As OpenSSH judges its own files (readconf.c, "Bad owner or permissions"): this user's or root's, and nobody else
    may write. Raises OSError where it can't be looked at.
    """
    if os.name != "posix":
        return ""  # Windows: the profile's own access list keeps others out
    known = path.stat()
    if known.st_uid not in {0, os.geteuid()}:
        return tr("it belongs to another user, {owner}", owner=_name_of(known.st_uid))
    if known.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return tr("others may write to it")
    return ""


def _name_of(uid: int) -> str:
    import pwd  # POSIX only

    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def narrow(path: Path, mode: int) -> None:
    """Take from a file or folder of one's own what others were allowed, never more; another's stays as it is."""
    if os.name != "posix":
        return  # Windows: the profile's own access list keeps others out
    known = path.stat()
    if known.st_uid == os.geteuid() and stat.S_IMODE(known.st_mode) & ~mode:
        path.chmod(stat.S_IMODE(known.st_mode) & mode)


@contextlib.contextmanager
def private_by_default() -> Iterator[None]:
    """What the program makes without a mode of its own within a with block is its owner's alone (man umask(2))."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


def _sync_folder(folder: Path) -> None:
    if os.name != "posix":
        return  # Windows has no such call; the rename is journalled
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
