"""The bundle: one folder with a Python of its own, made by PyInstaller of the unpacked wheel."""

from __future__ import annotations

import os
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
        "PYINSTALLER_CONFIG_DIR": str(made.work / "pyinstaller"),
    }
    words = ["-m", "PyInstaller", "--noconfirm", "--clean", "--log-level", "WARN"]
    places = ["--distpath", made.bundle.parent, "--workpath", made.work / "pyinstaller" / "work"]
    call([sys.executable, *words, *places, here / "pilothouse.spec"], made.work, settings)
    if sys.platform.startswith("linux"):
        _strip(made.bundle)
    size = sum(path.stat().st_size for path in made.bundle.rglob("*") if path.is_file() and not path.is_symlink())
    say(f"the bundle has {size / 1e6:.0f} MB, {_qt(made.bundle) / 1e6:.0f} MB of it Qt")


def _strip(folder: Path) -> None:
    """Take debug information out of the libraries that have some: a third of two of them.

    Qt's and numpy's wheels have none, and libraries that auditwheel has patched do not always stand it.
    """
    for path in sorted(folder.rglob("*.so*")):
        patched = any(part == "PySide6" or part.endswith(".libs") for part in path.parts)
        if path.is_file() and not path.is_symlink() and not patched:
            call(["strip", "--strip-unneeded", path], folder)


def _qt(folder: Path) -> int:
    found = (path for path in folder.rglob("*") if "PySide6" in path.parts and not path.is_symlink())
    return sum(path.stat().st_size for path in found if path.is_file())
