"""Files of this workstation: written whole or not at all and for their owner alone, read only where reading ends.

Every file that the program writes is made here (an architecture test looks for others), so that none is ever readable
by others of the machine: not the stores, not a recording, not a report or picture of an estate.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from services.i18n import tr
from services.visible import valid_utf8

MOST_TEXT = 2**20
"""Bytes of a file that a person writes by hand: settings, a list of hosts."""
_BESIDE = ("-wal", "-shm", "-journal")
_MOST_LINKS = 40
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_SAFELY = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
"""Neither through a link that was put there meanwhile, nor waiting for a pipe's other end."""


_MOST_NAME = 80


def write_whole(
    path: Path, text: str | bytes, *, new: bool = False, private: bool = True, durable: bool = False
) -> None:
    """Write a file beside its place and move it there: nobody sees half of it (man rename(2)).

    A link of one's own in a folder of one's own stays one. Any other is replaced itself: what it points to is not ours
    to choose.

    Args:
        text: UTF-8, its line ends as they are; a byte that was none is U+FFFD (`services.visible.whole`).
        new: a file that exists is left as it is (FileExistsError); the name is taken before anything is written.
        private: only its owner may read it, whatever the mode of what stood there.
        durable: it has reached the disk when this returns.

    Raises OSError; then what stood there stands there still, and nothing else is left.
    """
    if new:
        path.touch(exist_ok=False)
    import secrets  # behind it stands OpenSSL: who only reads (the window's first paint) does not wait for it

    target = _followed(path)
    part = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        _write(
            part, valid_utf8(text).encode("utf-8") if isinstance(text, str) else text, private=private, durable=durable
        )
        os.replace(part, target)  # noqa: PTH105 - replaces atomically on Windows too
    except BaseException:
        for mine in (part, target) if new else (part,):
            with contextlib.suppress(OSError):
                mine.unlink()
        raise
    if durable:
        _sync_folder(target.parent)


def plain_name(text: str, otherwise: str) -> str:
    """Return a file's name made of a text that a server told: no folder, no hidden file, nothing a shell reads."""
    shown = re.sub(r"[^\w.-]+", "_", text)[:_MOST_NAME].lstrip(".-_").rstrip("._")
    return shown or otherwise


def _write(part: Path, data: bytes, *, private: bool, durable: bool) -> None:
    mode = 0o600 if private else 0o666
    with open(part, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as stream:
        stream.write(data)
        if durable:
            stream.flush()
            os.fsync(stream.fileno())


def is_missing(path: Path) -> bool:
    """Return whether nothing has this name.

    What can't be told (a name that is too long, a folder that may not be searched, links in a circle) is not missing:
    whoever reads it says why it can't be read.
    """
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


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
        raise OSError(errno.EINVAL, tr("it is not a regular file"))


def private_folder(path: Path) -> None:
    """Make a folder, and those above it, that only its owner may look into; one that exists is left as it is."""
    for folder in (*reversed(path.parents), path):
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)
    if not path.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))


def private_file(path: Path) -> None:
    """Make an empty file that only its owner may read; one that exists keeps what it holds and becomes so.

    What SQLite puts beside a database (-wal, -shm, -journal) gets the mode of the database itself. A link or another
    person's file that waits there already would be written through, or taken for our own words: it is refused.

    Raises OSError, then nothing was changed; `strerror` is a sentence's end.
    """
    place = _followed(path)
    owner: int | None = None
    with contextlib.suppress(FileNotFoundError):
        owner = _own_regular(place, None)
    beside = [place.with_name(place.name + suffix) for suffix in _BESIDE]
    there = [name for name in beside if os.path.lexists(name)]
    for name in there:
        with contextlib.suppress(FileNotFoundError):  # SQLite's last user took it away just now
            _own_regular(name, owner)
    if owner is None:
        os.close(os.open(place, os.O_CREAT | os.O_EXCL | os.O_RDWR | _SAFELY, 0o600))
    for name in (place, *there):
        with contextlib.suppress(FileNotFoundError):
            _narrow(name, 0o600)


def _own_regular(place: Path, owner: int | None) -> int:
    """Return who owns a file; raise OSError unless it is one, no link, and (beside a database) not a stranger's."""
    about = place.lstat()
    if stat.S_ISLNK(about.st_mode):
        raise OSError(errno.ELOOP, tr("{file} is a link that another user may have created", file=place.name))
    _refuse_device(about.st_mode)
    beside = place.name.endswith(_BESIDE)
    if os.name == "posix" and beside and about.st_uid not in {0, os.geteuid(), owner}:
        raise OSError(errno.EPERM, tr("{file} belongs to another user", file=place.name))
    return about.st_uid


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
        return tr("other users may write to it")
    return ""


def _name_of(uid: int) -> str:
    import pwd  # POSIX only

    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def narrow(path: Path, mode: int) -> None:
    """Take from a file or folder of one's own what others were allowed, never more; another's stays as it is."""
    if os.name == "posix":  # Windows: the profile's own access list keeps others out
        _narrow(_followed(path), mode)


def _narrow(place: Path, mode: int) -> None:
    known = place.lstat()
    if os.name != "posix" or known.st_uid != os.geteuid() or not stat.S_IMODE(known.st_mode) & ~mode:
        return  # it is not opened for nothing: closing it would drop SQLite's locks of this process (man fcntl(2))
    if stat.S_ISREG(known.st_mode) or stat.S_ISDIR(known.st_mode):
        descriptor = os.open(place, os.O_RDONLY | _SAFELY)
        try:
            os.fchmod(descriptor, stat.S_IMODE(os.fstat(descriptor).st_mode) & mode)
        finally:
            os.close(descriptor)


def _followed(path: Path) -> Path:
    """Return where a name leads by links that a person laid; a link that somebody else may have put there ends it.

    That is one of another user, or one in a folder that others may write to (man proc(5), protected_symlinks). Raises
    OSError for a folder that is reached by another user's link.
    """
    if os.name != "posix":
        return path.resolve()  # Windows: making a link takes a right that neighbours lack
    for _ in range(_MOST_LINKS):
        _refuse_foreign_folders(path.parent)
        place = path.parent.resolve() / path.name
        try:
            about, folder = place.lstat(), place.parent.stat()
        except FileNotFoundError:
            return place
        if not stat.S_ISLNK(about.st_mode) or not _is_ours(about) or folder.st_mode & _OTHERS_WRITE:
            return place
        path = place.parent / place.readlink()
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))


def _refuse_foreign_folders(folder: Path, links: int = _MOST_LINKS) -> None:
    for step in (*reversed(folder.absolute().parents), folder.absolute()):
        if not step.is_symlink():
            continue
        if not links:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        if not _is_ours(step.lstat()):
            raise OSError(errno.ELOOP, tr("{file} is a link that another user may have created", file=step))
        _refuse_foreign_folders(step.parent / step.readlink(), links - 1)


def _is_ours(about: os.stat_result) -> bool:
    # Windows: making a link takes a right that only administrators give.
    return os.name != "posix" or about.st_uid in {0, os.geteuid()}


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
