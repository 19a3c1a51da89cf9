"""The licences of everything that the bundle holds: Python packages, Python itself, libraries of the system."""

from __future__ import annotations

import sys
import sysconfig
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
Their sources: https://code.qt.io, https://github.com/paramiko/paramiko.
"""


def write(made: Made) -> None:
    """Write the report, and a copy of it into the bundle."""
    names = needed()
    words = ["-m", "piplicenses", "--from=mixed", "--with-urls", "--with-license-file", "--no-license-path"]
    words += ["--with-notice-file", "--format=plain-vertical", "--packages", *names]
    told = call([sys.executable, *words], made.work)
    parts = [
        _HEAD.format(version=made.version),
        _part("Python packages", told),
        _part(f"Python {sys.version.split()[0]}", _pythons()),
        *(_part(_title(one), one.copyright or "(no copyright file is there)") for one in system_packages(made)),
        _part("Pilothouse", (made.tree / "LICENSE").read_text(encoding="utf-8")),
    ]
    made.licences.write_text("\n".join(parts), encoding="utf-8", newline="\n")
    folder = next((made.bundle / name for name in ("_internal", ".") if (made.bundle / name).is_dir()), made.bundle)
    (folder / "licences.txt").write_bytes(made.licences.read_bytes())
    say(f"licences of {len(names)} Python packages and of the system's libraries are written")


def _title(one: SystemPackage) -> str:
    return f"{one.name} {one.version} ({', '.join(one.files)})"


def _part(title: str, text: str) -> str:
    return f"\n{title}\n{'-' * len(title)}\n\n{text.strip()}\n"


def _pythons() -> str:
    places = (Path(sysconfig.get_path("stdlib")) / "LICENSE.txt", Path(sys.base_prefix) / "LICENSE.txt")
    for path in (*places, Path("/usr/share/doc") / f"python3.{sys.version_info.minor}" / "copyright"):
        if path.is_file():
            return path.read_text(encoding="utf-8", errors="replace")
    raise BootError(f"the licence of this Python lies at none of {', '.join(map(str, places))}")
