"""Archives that are the same each time: sorted, root's, of one time (reproducible-builds.org, "Archive metadata")."""

from __future__ import annotations

import gzip
import lzma
import tarfile
from collections.abc import Iterator
from pathlib import Path

from pack.made import epoch


def pack_folder(folder: Path, file: Path, top: str) -> None:
    """Write a .tar.xz of a folder, whose entries lie below `top`."""
    with (
        lzma.open(file, "wb", preset=6) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for path in _sorted(folder):
            name = f"{top}/{path.relative_to(folder).as_posix()}" if path != folder else top
            info = _plain(tar.gettarinfo(path, name))
            if info.isreg():
                with path.open("rb") as content:
                    tar.addfile(info, content)
            else:
                tar.addfile(info)


def pack_anew(file: Path) -> None:
    """Write a .tar.gz again: setuptools leaves the hour and the builder's account in it."""
    packed = file.with_suffix(".packed")
    with (
        tarfile.open(file) as old,
        packed.open("wb") as raw,
        gzip.GzipFile("", "wb", fileobj=raw, mtime=epoch()) as zipped,
        tarfile.open(fileobj=zipped, mode="w", format=tarfile.PAX_FORMAT) as new,
    ):
        for info in sorted(old.getmembers(), key=lambda one: one.name):
            new.addfile(_plain(info), old.extractfile(info) if info.isreg() else None)
    packed.replace(file)


def _plain(info: tarfile.TarInfo) -> tarfile.TarInfo:
    info.uid = info.gid = 0
    info.uname = info.gname = "root"
    info.mtime = epoch()
    info.pax_headers = {}
    info.mode = 0o755 if info.isdir() or info.mode & 0o100 else 0o644
    if info.issym():
        info.mode = 0o777
    if info.islnk():  # a second name of one file on the builder's disk
        info.type = tarfile.REGTYPE
    return info


def _sorted(folder: Path) -> Iterator[Path]:
    yield folder
    yield from sorted(folder.rglob("*"))
