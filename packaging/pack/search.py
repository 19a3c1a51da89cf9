"""Look for words in every file of a bundle and in every module of its archives: `python -m pack.search FOLDER WORD...`.

Prints a line "WORD in FILE" for each find, then "modules NAME...", the top level of the archive.
"""

from __future__ import annotations

import marshal
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

from PyInstaller.archive.readers import CArchiveReader

from pack.made import NAME


def main() -> None:
    """Print what is found."""
    folder, words = Path(sys.argv[1]), sys.argv[2:]
    names: set[str] = set()
    for place, content in _contents(folder, names):
        for word in words:
            if word.encode() in content:
                print(f"{word!r} in {place}")
    print("modules", *sorted(names))


def _contents(folder: Path, names: set[str]) -> Iterator[tuple[str, bytes]]:
    """Yield every file and every archived module with its bytes; add the top-level modules to `names`."""
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        place = path.relative_to(folder).as_posix()
        if path.stem == NAME and path.suffix in {"", ".exe"}:
            yield from _archived(path, names)
        elif path.suffix == ".zip":
            with zipfile.ZipFile(path) as packed:
                yield from ((f"{place}/{name}", packed.read(name)) for name in packed.namelist())
        else:
            yield place, path.read_bytes()


def _archived(program: Path, names: set[str]) -> Iterator[tuple[str, bytes]]:
    archive = CArchiveReader(str(program)).open_embedded_archive("PYZ.pyz")
    for name in archive.toc:
        names.add(name.partition(".")[0])
        code = archive.extract(name)
        yield f"{program.name}: {name}", marshal.dumps(code) if code is not None else b""


if __name__ == "__main__":
    main()
