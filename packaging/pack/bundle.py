"""The bundle: one folder with a Python of its own, made by PyInstaller of the unpacked wheel."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

from boot.places import say
from pack.made import Made, call
from pack.runtime import foreign_modules


def build(made: Made) -> None:
    """Make made.bundle."""
    say("bundling the program with its Python and its libraries (two minutes)")
    shutil.rmtree(made.bundle.parent, ignore_errors=True)
    here = made.tree / "packaging" / "pack"
    settings = {
        "PYTHONPATH": f"{made.site}{os.pathsep}{made.tree / 'packaging'}",
        "PILOTHOUSE_PACK": str(here),
        "PILOTHOUSE_SITE": str(made.site),
        "PILOTHOUSE_SHARE": str(made.share),
        "PILOTHOUSE_FOREIGN": ",".join(foreign_modules()),
        "PILOTHOUSE_VERSION": made.version,
        "PILOTHOUSE_ORIGINS": str(made.origins),
        "PYINSTALLER_CONFIG_DIR": str(made.work / "pyinstaller"),
    }
    words = ["-m", "PyInstaller", "--noconfirm", "--clean", "--log-level", "WARN"]
    places = ["--distpath", made.bundle.parent, "--workpath", made.work / "pyinstaller" / "work"]
    call([sys.executable, *words, *places, here / "pilothouse.spec"], made.work, settings)
    if sys.platform.startswith("linux"):
        _drop_what_nobody_loads(made.bundle)
        _search_inside_alone(made.bundle)
        _strip(made.bundle)
        for path in elves(made.bundle / "_internal"):
            path.chmod(0o644)  # a library is no program (Debian Policy, 10.2)
    size = sum(path.stat().st_size for path in made.bundle.rglob("*") if path.is_file() and not path.is_symlink())
    say(f"the bundle has {size / 1e6:.0f} MB, {_qt(made.bundle) / 1e6:.0f} MB of it Qt")


def _drop_what_nobody_loads(folder: Path) -> None:
    """Remove libraries that came for a part of Qt which was left out: no file that is left needs them.

    PyInstaller finds what a library needs (ELF, DT_NEEDED) before the specification takes parts away.
    """
    while True:
        needed: set[str] = set()
        for path in elves(folder):
            needed.update(re.findall(r"\(NEEDED\).*\[(.+)\]", call(["readelf", "--dynamic", path], folder)))
        found = [path for path in (folder / "_internal").rglob("lib*.so*") if not path.name.startswith("libpython")]
        left = [path for path in found if path.name not in needed and not _is_loaded_by_name(path)]
        if not left:
            break
        for path in left:
            path.unlink()
    for path in folder.rglob("*"):
        if path.is_symlink() and not path.exists():
            path.unlink()


def _is_loaded_by_name(path: Path) -> bool:
    """Return whether it is a plugin of Qt."""
    return "plugins" in path.parts


def elves(folder: Path) -> list[Path]:
    """Return every program and library of a folder."""
    return [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink() and _is_elf(path)]


def _is_elf(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def _search_inside_alone(folder: Path) -> None:
    """Point libraries that name a folder of the builder's machine (ELF, DT_RUNPATH) to the bundle instead.

    Where that path is somebody's on the user's machine, what lies there would be loaded. The new path is shorter than
    the old one, so that patchelf moves nothing.
    """
    for path in elves(folder):
        old = call(["patchelf", "--print-rpath", path], folder).strip()
        if any(not place.startswith("$ORIGIN") for place in old.split(":") if place):
            inside = os.path.relpath(folder / "_internal", path.parent)
            call(["patchelf", "--set-rpath", f"$ORIGIN/{inside}", path], folder)


def _strip(folder: Path) -> None:
    """Take debug information out of the libraries that have some: a third of two of them.

    Qt's and numpy's wheels have none, and libraries that auditwheel has patched do not always stand it.
    """
    for path in elves(folder):
        patched = any(part == "PySide6" or part.endswith(".libs") for part in path.parts)
        if ".so" in path.name and not patched:  # the starter carries its archive behind its end
            call(["strip", "--strip-unneeded", path], folder)


def _qt(folder: Path) -> int:
    found = (path for path in folder.rglob("*") if "PySide6" in path.parts and not path.is_symlink())
    return sum(path.stat().st_size for path in found if path.is_file())
