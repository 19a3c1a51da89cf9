"""The libraries of the builder's system that lie in the bundle: whose package each is of (dpkg; Linux only).

PyInstaller tells where it took each file from (the specification writes that down): a name alone would take the
library of the Python that builds, or of a wheel, for the system's of the same name.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from boot.places import BootError
from pack.made import Made


@dataclass(frozen=True, slots=True)
class SystemPackage:
    """A package of the system: its name, version, files of it in the bundle, and what its copyright file says."""

    name: str
    version: str
    files: tuple[str, ...]
    copyright: str


def origins(made: Made) -> dict[str, str]:
    """Return where each library of the bundle was taken from: its place in the bundle -> file of the builder."""
    told: dict[str, str] = json.loads(made.origins.read_text(encoding="utf-8"))
    folder = next((made.bundle / name for name in ("_internal", ".") if (made.bundle / name).is_dir()), made.bundle)
    return {place: source for place, source in sorted(told.items()) if (folder / place).is_file()}


@cache
def system_packages(made: Made) -> tuple[SystemPackage, ...]:
    """Return the packages, in the order of their names; () on another system. A file that is nobody's is an error.

    Once a build: what the bundle has of the system does not change any more.
    """
    if not sys.platform.startswith("linux"):
        return ()
    taken = {place: source for place, source in origins(made).items() if not is_of_python(source)}
    owners, owned = _owners(set(taken.values())), dict[str, list[str]]()
    for place, source in taken.items():
        owned.setdefault(owners[source], []).append(place)
    return tuple(_package(name, tuple(files)) for name, files in sorted(owned.items()))


def is_of_python(source: str) -> bool:
    """Return whether a file came with this environment, or with a Python that is no package of the system."""
    bases = [sys.prefix] + ([] if sys.base_prefix == "/usr" else [sys.base_prefix])
    return any(Path(source).is_relative_to(base) for base in bases)


def _owners(sources: set[str]) -> dict[str, str]:
    """Return the package of each file. One question for all: dpkg reads the lists of all packages for every one."""
    names = {source: _names(source) for source in sources}
    told = _dpkg("dpkg-query", "--search", *sorted({name for tried in names.values() for name in tried}))
    said = [line.partition(": ") for line in told.splitlines() if not line.startswith("diversion by ")]
    known = {path: owner.split(",")[0].partition(":")[0] for owner, _, path in said}
    found = {source: [known[name] for name in tried if name in known] for source, tried in names.items()}
    for source, owners in sorted(found.items()):
        if not owners:
            raise BootError(f"the bundle holds {source}, and no package owns it: its licence is not known")
    return {source: owners[0] for source, owners in found.items()}


def _names(source: str) -> tuple[str, ...]:
    """Return how a package may name a file: with /usr or without (Debian's merged /usr), most likely first."""
    real = os.path.realpath(source)
    return (source, real, f"/usr{source}", source.removeprefix("/usr"), real.removeprefix("/usr"))


def _package(name: str, files: tuple[str, ...]) -> SystemPackage:
    version = _dpkg("dpkg-query", "--show", "--showformat=${Version}\\n", name).splitlines()
    told = Path("/usr/share/doc") / name / "copyright"
    text = told.read_text(encoding="utf-8", errors="replace") if told.is_file() else ""
    return SystemPackage(name, version[0] if version else "", files, text)


def _dpkg(*words: str) -> str:
    try:
        return subprocess.run(words, capture_output=True, text=True, check=False).stdout
    except FileNotFoundError:
        return ""
