"""The licences of everything that the bundle holds: Python packages, Python itself, libraries of the system."""

from __future__ import annotations

import re
import sys
import sysconfig
from importlib.metadata import distribution
from pathlib import Path

from boot.places import BootError, say
from pack.made import Made, call
from pack.runtime import needed
from pack.system_libraries import SystemPackage, system_packages

_HEAD = """\
Pilothouse {version}: licences of what is bundled
=================================================

Pilothouse itself is under the Apache License 2.0 (the end of this file).

Qt and PySide6 are used under the LGPL 3.0, paramiko under the LGPL 2.1 or newer. Each lies as files of its own: Qt's
libraries in _internal/PySide6/Qt/lib (Linux), paramiko's sources in _internal/paramiko. Put your own build of the same
version there and start the program again; nothing checks, seals or signs them against that on Linux.
Their sources: https://code.qt.io, https://github.com/paramiko/paramiko. On macOS sign the program again after that, as
your own: codesign --force --deep --sign - Pilothouse.app.
"""
_IN_FULL = {
    "LGPL-3.txt": "GNU Lesser General Public License 3 (Qt, PySide6, shiboken6)",
    "GPL-3.txt": "GNU General Public License 3 (which the one above extends)",
    "inside-wheels.txt": "Inside wheels that do not tell it (Qt's newest: doc.qt.io/qt-6/licenses-used-in-qt.html)",
}
"""What the wheels leave out: files of packaging/licences, and their titles."""


def write(made: Made) -> None:
    """Write the report, and a copy of it into the bundle."""
    names = needed()
    words = ["-m", "piplicenses", "--from=mixed", "--with-urls", "--with-license-file", "--no-license-path"]
    words += ["--with-notice-file", "--format=plain-vertical", "--packages", *names]
    told = call([sys.executable, *words], made.work)
    own = made.tree / "packaging" / "licences"
    parts = [
        _HEAD.format(version=made.version),
        _part("Python packages", told),
        *(_part(title, (own / name).read_text(encoding="utf-8")) for name, title in _IN_FULL.items()),
        _part(f"Python {sys.version.split()[0]}", _pythons()),
        _part("The program's starter (PyInstaller's bootloader)", _starters()),
        *(_part(_title(one), one.copyright or "(no copyright file is there)") for one in system_packages(made)),
    ]
    parts += _named_by_debian("".join(parts))
    parts.append(_part("Pilothouse", (made.tree / "LICENSE").read_text(encoding="utf-8")))
    made.licences.write_text("\n".join(parts), encoding="utf-8", newline="\n")
    folder = next((made.bundle / name for name in ("_internal", ".") if (made.bundle / name).is_dir()), made.bundle)
    (folder / "licences.txt").write_bytes(made.licences.read_bytes())
    say(f"licences of {len(names)} Python packages and of the system's libraries are written")


def _title(one: SystemPackage) -> str:
    return f"{one.name} {one.version} ({', '.join(one.files)})"


def _part(title: str, text: str) -> str:
    return f"\n{title}\n{'-' * len(title)}\n\n{text.strip()}\n"


def _named_by_debian(told: str) -> list[str]:
    """Return the licences that Debian's copyright files name by a path: on another system it leads nowhere."""
    folder = Path("/usr/share/common-licenses")
    names = sorted(set(re.findall(rf"{folder}/([\w-]+(?:\.\d+)*)", told)))
    return [
        _part(f"{folder}/{name}", (folder / name).read_text("utf-8")) for name in names if (folder / name).is_file()
    ]


def _starters() -> str:
    found = [path for path in distribution("pyinstaller").files or () if path.name == "COPYING.txt"]
    if not found:
        raise BootError("the licence of PyInstaller's bootloader is not in its package")
    return found[0].read_text()


def _pythons() -> str:
    places = (Path(sysconfig.get_path("stdlib")) / "LICENSE.txt", Path(sys.base_prefix) / "LICENSE.txt")
    for path in (*places, Path("/usr/share/doc") / f"python3.{sys.version_info.minor}" / "copyright"):
        if path.is_file():
            return path.read_text(encoding="utf-8", errors="replace")
    raise BootError(f"the licence of this Python lies at none of {', '.join(map(str, places))}")
